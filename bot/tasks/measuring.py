"""How what GitHub shows of a landing becomes facts, by the rules of its repository."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.github.client import Client
from bot.github.reads import Landed, read_file, read_landing
from bot.landing.attributes import Attributes
from bot.landing.conventions import recognise
from bot.landing.repo_config import RepoConfig
from bot.metrics.measure import Measure, measure
from bot.model import CommitId, Fact, Landing, PullRequest, Repository, RepositoryId
from bot.store import pulls
from bot.tasks.pull_request_json import known
from bot.tasks.workplace import Workplace


async def rules_of(client: Client, repository: Repository, config: RepoConfig) -> Measure:
    """The rules at the head of the default branch, as a clone's are."""
    attributes = await read_file(client, repository, ".gitattributes")
    return Measure.of(config, Attributes.parse(attributes or ""))


@dataclass(frozen=True, slots=True)
class Brought:
    """A pull request that was just read, and the landed commits that are its own."""

    pull_request: PullRequest
    commits: frozenset[CommitId]


async def facts_of(
    place: Workplace,
    where: tuple[Client, Repository],
    landed: Sequence[Landed],
    config: RepoConfig,
    *,
    brought: Brought | None = None,
) -> tuple[Fact, ...]:
    """Read and measure landed commits, each with the pull request that is known to have brought it."""
    if not landed:
        return ()
    client, repository = where
    rules = await rules_of(client, repository, config)
    facts = []
    for one in landed:
        landing = await read_landing(client, repository, one)
        if brought is not None and one.commit.id in brought.commits:
            pull_request: PullRequest | None = brought.pull_request
        else:
            async with place.store.read() as conn:
                pull_request = await pull_request_of(conn, landing, rules)
        if pull_request is not None:
            landing = Landing(landing.repository, landing.commit, landing.carrier, landing.landed_at, pull_request)
        # A large patch keeps the processor busy for a while: the lease must be renewed meanwhile.
        facts.append(await asyncio.to_thread(measure, landing, rules))
    return tuple(facts)


async def pull_request_of(conn: AsyncConnection, landing: Landing, rules: Measure) -> PullRequest | None:
    """The pull request that brought a landing: as its message proves, else as GitHub says; None where none is kept."""
    repository = RepositoryId(landing.repository.id or 0)
    number = recognise(landing, rules.landing).pull_request
    row = await pulls.read(conn, repository, number) if number is not None else None
    row = row or await pulls.merged_as(conn, repository, landing.carrier.id)
    return known(row.number, row.head_id, row.payload, merged=row.merge_commit) if row else None
