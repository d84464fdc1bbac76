"""How what GitHub shows of a landing becomes facts, by the rules of its repository."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.reads import Landed
from bot.landing.recognition import recognise
from bot.metrics.measure import Measure, measure
from bot.model import Commit, CommitId, Fact, Landing, PullRequest, Repository, RepositoryId
from bot.store import ledger, pulls, readings
from bot.tasks.pull_request_json import known
from bot.tasks.workplace import Workplace


class Brought(Struct, frozen=True):
    """A pull request that was just told of, and the landed commits that are its own."""

    pull_request: PullRequest
    commits: frozenset[CommitId]


class KeptReadings(Struct, frozen=True):
    """What need not be asked of GitHub about one repository; with `again`, also facts are measured anew."""

    place: Workplace
    repository: RepositoryId
    again: bool = False

    async def commit(self, name: CommitId) -> Commit | None:
        found = await self.place.store.read(readings.known, self.repository, [name])
        return found.get(name)

    async def recorded(self, names: Sequence[CommitId]) -> set[CommitId]:
        if self.again:
            return set()
        return await self.place.store.read(ledger.known, self.repository, names)


async def facts_of(
    place: Workplace,
    repository: Repository,
    landed: Sequence[Landed],
    rules: Measure,
    *,
    brought: Brought | None = None,
) -> tuple[Fact, ...]:
    """Measure landed commits that were read, each with the pull request that is known to have brought it."""
    facts = []
    for one in landed:
        landing = Landing(repository, one.commit, one.carrier, one.carrier.committed_at, brought_by=one.brought_by)
        bringing = partial(pull_request_of, landing=landing, rules=rules, brought=brought)
        pull_request = await place.store.read(bringing)
        if pull_request is not None:
            landing = replace(landing, pull_request=pull_request)
        # A large patch keeps the processor busy for a while: the lease must be renewed meanwhile.
        facts.append(await asyncio.to_thread(measure, landing, rules))
    return tuple(facts)


def pull_request_of(
    connection: Connection, landing: Landing, rules: Measure, *, brought: Brought | None = None
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
        if witness == "carrier":
            row = row or pulls.merged_as(connection, repository, landing.carrier.id)
        if witness == "message" and number is not None:
            row = row or pulls.read(connection, repository, number)
    return as_known(row) if row else None


Witness = Literal["commit", "carrier", "message"]
"""GitHub's word on the commit itself, its word on what carried it, the number that message and shape tell"""


def witnesses(landing: Landing, number: int | None) -> tuple[Witness, ...]:
    """Who is asked in turn which pull request brought a landing; `number` is what its message and shape tell.

    Of a commit that landed by itself GitHub's word counts first, then its message. A merge may hold what other pull
    requests brought to its branch: there what message and shape tell is all that counts, where they tell anything.
    """
    merged = landing.commit.id != landing.carrier.id
    return ("message",) if merged and number is not None else ("commit", "carrier", "message")


def as_known(row: pulls.PullRequestRow) -> PullRequest:
    """A pull request as it is kept: cut, and without those who were erased."""
    return known(row.number, row.head_id, row.payload, merged=row.merge_commit)
