"""How are facts measured from a landing that was read from GitHub, or recorded before, by its repository's rules?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.graphql import read_parts
from bot.github.reads import LandedCommit, read_commit
from bot.landing.conventions.batches import is_batch, is_rolled_up
from bot.landing.conventions.catalogue import NESTED
from bot.landing.conventions.recognition import proved_pull_request
from bot.landing.identity.credit import co_authors
from bot.landing.identity.servers import on_own_server
from bot.landing.landing_times import EARLIEST, is_believable
from bot.metrics.measure import Measure, measure
from bot.model.commit import Commit, Landing, PullRequest, Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, RepositoryId, UserId
from bot.services.context import Context, translate_github_errors
from bot.services.pull_requests import pull_request_from_json
from bot.store import ledger, pulls, readings


class PullRequestCommits(Struct, frozen=True):
    """A pull request that was just read, and its own landed commits."""

    pull_request: PullRequest
    commits: frozenset[CommitId]


class StoredCommits(Struct, frozen=True):
    """What is stored of one repository and is not read again; with `again`, recorded commits are measured again."""

    context: Context
    repository: RepositoryId
    again: bool = False

    async def commit(self, name: CommitId) -> Commit | None:
        found = await self.context.store.read(readings.known_commits, self.repository, [name])
        return found.get(name)

    async def recorded_commits(self, names: Sequence[CommitId]) -> set[CommitId]:
        if self.again:
            return set()
        return await self.context.store.read(ledger.recorded_commits, self.repository, names)


class LandingSource(Struct, frozen=True):
    """What is known of landings beside the commits: the pull request that brought them, who pushed, whom to ask."""

    brought: PullRequestCommits | None = None
    pusher: UserId | None = None
    client: Client | None = None
    """asked whose commits a squash has; without one, what was recorded before stays"""
    pulls_known: bool = False
    """every delivery about the pull requests of that time has been processed"""
    parts_again: bool = False
    """whether the parts of a squash are asked for although some are recorded"""
    unfinished: set[CommitId] = field(default_factory=set)
    """filled while measuring: the squashes of which GitHub did not show all parts"""


async def measure_facts(
    context: Context,
    repository: Repository,
    landed: Sequence[LandedCommit],
    rules: Measure,
    *,
    source: LandingSource | None = None,
) -> tuple[Fact, ...]:
    """Measure landed commits, each with the pull request that brought it, if known."""
    source = source or LandingSource()
    facts = []
    now = context.clock()
    for one in landed:
        landed_at = one.merge_commit.committed_at
        clamped = not is_believable(int(landed_at.timestamp()), oldest=EARLIEST, now=int(now.timestamp()))
        landing = Landing(
            *(repository, one.commit, one.merge_commit, now if clamped else landed_at),
            brought_by=one.brought_by,
            clamped=clamped,
            on_github=True,
            pusher=source.pusher,
            pulls_known=source.pulls_known,
        )
        landing = on_own_server(landing)
        bringing = partial(pull_request_of, landing=landing, rules=rules, brought=source.brought)
        pull_request = await context.store.read(bringing)
        if pull_request is not None:
            landing = await _with_parts(context, replace(landing, pull_request=pull_request), source)
        # A large patch takes a while; the lease must be renewed meanwhile, so use a thread.
        facts.append(await asyncio.to_thread(measure, landing, rules))
    return tuple(facts)


async def _with_parts(context: Context, landing: Landing, source: LandingSource) -> Landing:
    """The landing with the parts of a squash by several people: one request, made once for each squash.

    A trailer says that there may be several, or an author other than who opened the pull request.
    """
    pull, commit = landing.pull_request, landing.commit
    is_squash = pull is not None and commit.id == pull.merge_commit and commit.id == landing.merge_commit.id
    if pull is None or not is_squash or not is_one_landing(source.brought):
        return landing if pull is None else replace(landing, pull_request=replace(pull, shares=()))
    opener = pull.author.user_id if pull.author else None
    if (
        pull.shares
        or source.client is None
        or (opener == commit.author.user_id and not co_authors(commit.message, commit.author))
    ):
        return landing
    number = RepositoryId(landing.repository.id or 0)
    recorded = await context.store.read(ledger.facts_at, number, [commit.id])
    if not source.parts_again and any(fact.evidence and fact.evidence.shares for fact in recorded):
        return landing
    with translate_github_errors():
        parts = await read_parts(source.client, landing.repository, pull.number)
    if not parts.complete:
        source.unfinished.add(commit.id)
    return replace(landing, pull_request=replace(pull, shares=parts.shares, collaborators=parts.collaborators))


def is_one_landing(brought: PullRequestCommits | None) -> bool:
    """Whether a pull request landed as one commit; a rebase lands its own commits, each with its own author."""
    return brought is None or len(brought.commits) < 2


def pull_request_of(
    connection: Connection, landing: Landing, rules: Measure, *, brought: PullRequestCommits | None = None
) -> PullRequest | None:
    """The pull request that brought a landing, found in the order of `witnesses`; None if none is stored."""
    repository = RepositoryId(landing.repository.id or 0)
    number = proved_pull_request(landing, rules.landing)
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
"""GitHub's data on the commit, on its merge commit, or the number in the message and shape"""


def witnesses(landing: Landing, number: int | None) -> tuple[Witness, ...]:
    """Which sources name the pull request of a landing, in order; `number` is the one in its message and shape.

    For a commit that landed by itself, GitHub's data counts before its message. A merge may contain other pull requests
    that were merged into its branch: there only message and shape count, if they name one.
    """
    merged = landing.commit.id != landing.merge_commit.id
    return ("message",) if merged and number is not None else ("commit", "merge_commit", "message")


def stored_pull_request(row: pulls.PullRequestRow) -> PullRequest:
    """The stored pull request: shortened, and without erased people."""
    return pull_request_from_json(row.number, row.head_id, row.payload, merged=row.merge_commit)


async def read_recorded_landings(
    context: Context, client: Client, repository: Repository, facts: Sequence[Fact]
) -> tuple[LandedCommit, ...]:
    """The facts' commits with their merge commits, as stored when they landed, else read from GitHub once each."""
    names = list(dict.fromkeys(name for fact in facts for name in (fact.commit, fact.merge_commit)))
    number = RepositoryId(repository.id or 0)
    read: dict[CommitId, Commit] = await context.store.read(readings.known_commits, number, names)
    for name in names:
        if name not in read:
            read[name] = await read_commit(client, repository, name)
    return tuple(_landed_commit(fact, read[fact.commit], read[fact.merge_commit]) for fact in facts)


def _landed_commit(fact: Fact, commit: Commit, merge_commit: Commit) -> LandedCommit:
    """Commits in between are not read again: if the shape gave the pull request, the fact names it."""
    by_shape = commit.id != merge_commit.id and (
        fact.how == NESTED or is_batch(merge_commit) or is_rolled_up(merge_commit)
    )
    return LandedCommit(commit, merge_commit, fact.pull_request if by_shape else None)
