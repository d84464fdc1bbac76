"""How what GitHub shows of a landing becomes facts, by the rules of its repository."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.reads import LandedCommit
from bot.landing.conventions.recognition import recognise
from bot.metrics.measure import Measure, measure
from bot.model.commit import Commit, Landing, PullRequest, Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, RepositoryId
from bot.services.context import Context
from bot.services.pull_requests import pull_request_from_json
from bot.store import ledger, pulls, readings


class PullRequestCommits(Struct, frozen=True):
    """A pull request that was just told of, and the landed commits that are its own."""

    pull_request: PullRequest
    commits: frozenset[CommitId]


class StoredCommits(Struct, frozen=True):
    """What need not be asked of GitHub about one repository; with `again`, also facts are measured anew."""

    context: Context
    repository: RepositoryId
    again: bool = False

    async def commit(self, name: CommitId) -> Commit | None:
        found = await self.context.store.read(readings.known_commits, self.repository, [name])
        return found.get(name)

    async def recorded(self, names: Sequence[CommitId]) -> set[CommitId]:
        if self.again:
            return set()
        return await self.context.store.read(ledger.recorded_commits, self.repository, names)


async def measure_facts(
    context: Context,
    repository: Repository,
    landed: Sequence[LandedCommit],
    rules: Measure,
    *,
    brought: PullRequestCommits | None = None,
) -> tuple[Fact, ...]:
    """Measure landed commits that were read, each with the pull request that is known to have brought it."""
    facts = []
    for one in landed:
        landing = Landing(
            repository, one.commit, one.merge_commit, one.merge_commit.committed_at, brought_by=one.brought_by
        )
        bringing = partial(pull_request_of, landing=landing, rules=rules, brought=brought)
        pull_request = await context.store.read(bringing)
        if pull_request is not None:
            landing = replace(landing, pull_request=pull_request)
        # A large patch keeps the processor busy for a while: the lease must be renewed meanwhile.
        facts.append(await asyncio.to_thread(measure, landing, rules))
    return tuple(facts)


def pull_request_of(
    connection: Connection, landing: Landing, rules: Measure, *, brought: PullRequestCommits | None = None
) -> PullRequest | None:
    """The pull request that brought a landing, looked for as `witnesses` says; None where none is kept."""
    repository = RepositoryId(landing.repository.id or 0)
    number = recognise(landing, rules.landing).pull_request
    if brought is not None and number == brought.pull_request.number:
        return brought.pull_request
    row = None
    for witness in witnesses(landing, number):
        if witness == "commit" and brought is not None and landing.commit.id in brought.commits:
            return brought.pull_request
        if witness == "merge_commit":
            row = row or pulls.row_merged_as(connection, repository, landing.merge_commit.id)
        if witness == "message" and number is not None:
            row = row or pulls.read(connection, repository, number)
    return stored_pull_request(row) if row else None


Witness = Literal["commit", "merge_commit", "message"]
"""GitHub's word on the commit itself, its word on what carried it, the number that message and shape tell"""


def witnesses(landing: Landing, number: int | None) -> tuple[Witness, ...]:
    """Who is asked in turn which pull request brought a landing; `number` is what its message and shape tell.

    Of a commit that landed by itself GitHub's word counts first, then its message. A merge may hold what other pull
    requests brought to its branch: there what message and shape tell is all that counts, where they tell anything.
    """
    merged = landing.commit.id != landing.merge_commit.id
    return ("message",) if merged and number is not None else ("commit", "merge_commit", "message")


def stored_pull_request(row: pulls.PullRequestRow) -> PullRequest:
    """A pull request as it is kept: cut, and without those who were erased."""
    return pull_request_from_json(row.number, row.head_id, row.payload, merged=row.merge_commit)
