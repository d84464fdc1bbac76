"""How does a closed or edited pull request describe the commits it landed?

Pushes report what landed; a pull request only describes it. So GitHub is asked only if a delivery contradicts itself
or what is stored, or if the push does not arrive.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.payloads.answers import PullRequestAnswer
from bot.github.payloads.hints import DeliveryHints
from bot.github.pushes import Pushed, read_files_of
from bot.github.reads import LandedCommit, read_landed_from, read_pull_request, read_pull_request_commits
from bot.model.commit import Commit, Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, RepositoryId
from bot.services.context import Context
from bot.services.landings.arrivals import Arrivals
from bot.services.measuring.facts import PullRequestCommits, StoredCommits, read_recorded_landings, stored_pull_request
from bot.services.pull_requests import pull_request_to_json, row_without_erased
from bot.services.repositories.repository import current_repository
from bot.store import jobs, ledger, pulls, readings


class _PullRequestState(Struct, frozen=True):
    """One pull request as known now, and its row stored before."""

    repository: Repository
    answer: PullRequestAnswer
    row: pulls.PullRequestRow
    before: pulls.PullRequestRow | None

    @property
    def repository_id(self) -> RepositoryId:
        return self.row.repository_id

    @property
    def is_news(self) -> bool:
        """Whether it contains anything that its landed commits were not measured with."""
        row, before = self.row, self.before
        return before is None or before.payload != row.payload or before.merge_commit != row.merge_commit

    @property
    def merge(self) -> CommitId | None:
        """Its merge commit on the default branch, as GitHub reports it."""
        known = self.answer.pull_request
        return known.merge_commit if known.base_ref == self.repository.default_branch else None


def recorded_facts(connection: Connection, scene: _PullRequestState) -> tuple[list[Fact], list[Fact], bool]:
    """Facts of its merge commit, facts that name it, and whether the job of its push still waits."""
    carried = ledger.facts_of_merge_commit(connection, scene.repository_id, scene.merge) if scene.merge else []
    named = ledger.facts_of_pull_request(connection, scene.repository_id, scene.row.number)
    waits = not carried and scene.merge is not None and _push_waits(connection, scene)
    return carried, named, waits


async def read_state(
    context: Context, client: Client, given: dict[str, Any], hints: DeliveryHints
) -> _PullRequestState:
    """The state from the delivery if it is the first one and consistent, else from GitHub."""
    where = (given["installation"], given["repository"])
    repository = await current_repository(context, client, where, hints.repository)
    answer = hints.pull_request
    if answer is not None and (answer.pull_request.number, answer.base_repository) == (given["number"], where[1]):
        scene = await _state_of(context, repository, answer)
        if scene.before is None or not scene.is_news:
            return scene
    return await _state_of(context, repository, await read_pull_request(client, repository, given["number"]))


async def _state_of(context: Context, repository: Repository, answer: PullRequestAnswer) -> _PullRequestState:
    known = answer.pull_request
    row = pulls.PullRequestRow(
        repository_id=RepositoryId(repository.id or 0),
        number=known.number,
        head_id=known.head_id,
        read_at=context.clock(),
        merge_commit=known.merge_commit if known.merged_at else None,
        merged_at=known.merged_at,
        closed_at=known.closed_at,
        payload=pull_request_to_json(known),
        size=answer.commits or None,
    )

    def read_state(connection: Connection) -> _PullRequestState:
        kept = row_without_erased(connection, row)
        return _PullRequestState(repository, answer, kept, pulls.read(connection, kept.repository_id, kept.number))

    return await context.store.read(read_state)


def _push_waits(connection: Connection, scene: _PullRequestState) -> bool:
    """Whether the job of the push that ends with the merge commit waits; it will find the stored pull request."""
    return jobs.is_waiting(
        connection, f"repository:{scene.repository_id}", "record_landing", f'"after":"{scene.merge}"'
    )


async def remeasure(
    context: Context, client: Client, scene: _PullRequestState, recorded: tuple[list[Fact], list[Fact]]
) -> Arrivals:
    """Measure its recorded commits again, now that the pull request is known."""
    carried, named = recorded
    own = await _own_recorded_commits(context, client, scene, carried)
    own_facts = await context.store.read(ledger.facts_at, scene.repository_id, sorted(own))
    facts = list({fact.commit: fact for fact in (*own_facts, *named)}.values())
    landed = await read_recorded_landings(context, client, scene.repository, facts)
    brought = PullRequestCommits(stored_pull_request(scene.row), frozenset(own))
    return Arrivals(scene.repository, Pushed(landed), again=True, brought=brought, pull=scene.row)


async def _own_recorded_commits(
    context: Context, client: Client, scene: _PullRequestState, carried: list[Fact]
) -> set[CommitId]:
    """The recorded commits that this pull request brought.

    A merge commit brings its own commits; a squash is one commit. A rebase pushes as many new commits as the pull
    request has, and only the last of them is the merge commit.
    """
    merge, size = scene.merge, scene.answer.commits
    found = {fact.commit for fact in carried}
    if merge is None or merge not in found:
        return found
    pushed = await context.store.read(readings.commits_of_push, scene.repository_id, merge)
    if pushed:
        before = scene.before
        # Once it is merged its commits stay the same, so that either of two counts that differ may be the false one.
        known = before.size if before is not None and before.merge_commit == merge else None
        return set(pushed) if len(pushed) in (size, known) else found
    if size < 2 or next(fact for fact in carried if fact.commit == merge).pull_request == scene.row.number:
        return found
    landed = await _read_own_landings(client, scene)
    return {one.commit.id for one in landed}


async def read_unpushed(context: Context, client: Client, scene: _PullRequestState) -> Arrivals:
    """Read its landed commits from its base, because no push arrived; the pull request is read again first."""
    answer = await read_pull_request(client, scene.repository, scene.row.number)
    scene = await _state_of(context, scene.repository, answer)
    landed = await _read_own_landings(client, scene) if scene.merge is not None else []
    known = StoredCommits(context, scene.repository_id)
    pushed = await read_files_of(client, scene.repository, landed, known=known)
    brought = PullRequestCommits(stored_pull_request(scene.row), frozenset(one.commit.id for one in landed))
    return Arrivals(scene.repository, pushed, brought=brought, pull=scene.row)


async def _read_own_landings(client: Client, scene: _PullRequestState) -> list[LandedCommit]:
    """Its landed commits, without files, from what reached the branch since its base."""
    landed = await read_landed_from(client, scene.repository, scene.answer)
    commits = await read_pull_request_commits(client, scene.repository, scene.answer)
    return list(_own_landings(landed, scene.merge, commits))


def _own_landings(
    landed: tuple[LandedCommit, ...], merge: CommitId | None, commits: tuple[Commit, ...]
) -> tuple[LandedCommit, ...]:
    """Of the commits that reached the branch since the base, those of this pull request; pushes report the others.

    A merge commit brings its own commits. A rebase creates new commits with the same author and message, and only the
    last of them is the merge commit.
    """
    carried = [one for one in landed if one.merge_commit.id == merge]
    written = Counter(_rebase_key(commit) for commit in commits)
    if len(carried) == 1 and carried[0].commit.id == merge and written[_rebase_key(carried[0].commit)]:
        return tuple(one for one in landed if one.merge_commit.id == one.commit.id and written[_rebase_key(one.commit)])
    return tuple(carried)


def _rebase_key(commit: Commit) -> tuple[str, str, int]:
    """The parts of a commit that a rebase preserves."""
    return commit.author.email.lower(), commit.message.strip(), int(commit.authored_at.timestamp())
