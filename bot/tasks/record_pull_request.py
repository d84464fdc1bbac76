"""A pull request was closed or edited: keep what is told of it, and let the commits it landed know.

What landed is told by pushes. A pull request only describes it, so nothing is asked of GitHub here unless a delivery
contradicts itself or what is kept, or the push that belongs to it does not come.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.payloads.answers import PullRequestAnswer
from bot.github.payloads.told import NOTHING, Told
from bot.github.pushes import Pushed, read_files_of
from bot.github.reads import (
    Landed,
    read_landed_from,
    read_pull_request,
    read_pull_request_commits,
)
from bot.model import Commit, CommitId, Fact, Repository, RepositoryId
from bot.queue.interface import Job, RetryLater
from bot.store import jobs, ledger, pulls, readings
from bot.tasks.known_installation import know_installation
from bot.tasks.known_repository import know_repository
from bot.tasks.landed_before import landed_before
from bot.tasks.measuring import Brought, KeptReadings, as_known
from bot.tasks.pull_request_json import kept
from bot.tasks.record_landing import Arrived, record_arrived, without_erased
from bot.tasks.told_delivery import told_by
from bot.tasks.workplace import Workplace, arguments, asking_github

GRACE = timedelta(seconds=6)
"""that the push of a merge may come behind its pull request; after it the delivery is taken to be lost"""
WAIT = 2.0
LOOKS = 4
"""of which the last one waits no more, whatever the clock says: it may stand still, or be behind the job's"""


class _Scene(Struct, frozen=True):
    """One pull request as it is known now, and the row kept of it before."""

    repository: Repository
    answer: PullRequestAnswer
    row: pulls.PullRequestRow
    before: pulls.PullRequestRow | None

    @property
    def repository_id(self) -> RepositoryId:
        return self.row.repository_id

    @property
    def is_news(self) -> bool:
        """It says something that what it landed was not measured with."""
        row, before = self.row, self.before
        return before is None or before.payload != row.payload or before.merge_commit != row.merge_commit

    @property
    def merge(self) -> CommitId | None:
        """The commit that landed it on the default branch, as GitHub says."""
        known = self.answer.pull_request
        return known.merge_commit if known.base_ref == self.repository.default_branch else None


async def record_pull_request(job: Job, place: Workplace) -> None:
    """Closed unmerged is a candidate too: a merge bot may have pushed its commits, or will; `again` measures anew."""
    given = arguments(job.ref_id)
    await know_installation(place, given["installation"])
    client = place.reader(given["installation"], given["repository"])
    again = bool(given.get("again"))
    told = NOTHING if again else await told_by(place, given)
    with asking_github():
        scene = await _scene(place, client, given, told)
    carried, named, waits = await place.store.read(partial(_recorded, scene=scene))
    if scene.merge is not None and not carried and not waits:
        if given.get("delivery") and job.attempt < LOOKS and place.clock() - job.claim.created_at < GRACE:
            raise RetryLater(WAIT, "its push may still arrive")
        with asking_github():
            arrived = await _unpushed(place, client, scene)
    elif scene.is_news or again:
        with asking_github():
            arrived = await _described(place, client, scene, (carried, named))
    else:
        arrived = Arrived(scene.repository, Pushed(()))
    await record_arrived(job, place, client, arrived)


def _recorded(connection: Connection, scene: _Scene) -> tuple[list[Fact], list[Fact], bool]:
    """What its merge carried, what names it, and whether the push of the merge is still to be worked off."""
    carried = ledger.facts_carried(connection, scene.repository_id, scene.merge) if scene.merge else []
    named = ledger.facts_named(connection, scene.repository_id, scene.row.number)
    waits = not carried and scene.merge is not None and _push_waits(connection, scene)
    return carried, named, waits


async def _scene(place: Workplace, client: Client, given: dict[str, Any], told: Told) -> _Scene:
    """The delivery is believed where it is the first to tell and agrees with itself; else GitHub is asked."""
    where = (given["installation"], given["repository"])
    repository = await know_repository(place, client, where, told.repository)
    answer = told.pull_request
    if answer is not None and (answer.pull_request.number, answer.base_repository) == (given["number"], where[1]):
        scene = await _known(place, repository, answer)
        if scene.before is None or not scene.is_news:
            return scene
    return await _known(place, repository, await read_pull_request(client, repository, given["number"]))


async def _known(place: Workplace, repository: Repository, answer: PullRequestAnswer) -> _Scene:
    known = answer.pull_request
    row = pulls.PullRequestRow(
        repository_id=RepositoryId(repository.id or 0),
        number=known.number,
        head_id=known.head_id,
        read_at=place.clock(),
        merge_commit=known.merge_commit if known.merged_at else None,
        merged_at=known.merged_at,
        closed_at=known.closed_at,
        payload=kept(known),
        size=answer.commits or None,
    )

    def looked_up(connection: Connection) -> _Scene:
        kept = without_erased(connection, row)
        return _Scene(repository, answer, kept, pulls.read(connection, kept.repository_id, kept.number))

    return await place.store.read(looked_up)


def _push_waits(connection: Connection, scene: _Scene) -> bool:
    """The job of the push that ends in the merge waits, and will find the pull request kept."""
    return jobs.is_coming(connection, f"repository:{scene.repository_id}", "record_landing", f'"after":"{scene.merge}"')


async def _described(
    place: Workplace, client: Client, scene: _Scene, recorded: tuple[list[Fact], list[Fact]]
) -> Arrived:
    """What it landed is recorded: measure it anew, now that the pull request is known."""
    carried, named = recorded
    own = await _own_recorded(place, client, scene, carried)
    own_facts = await place.store.read(ledger.facts_at, scene.repository_id, sorted(own))
    facts = list({fact.commit: fact for fact in (*own_facts, *named)}.values())
    landed = await landed_before(place, client, scene.repository, facts)
    brought = Brought(as_known(scene.row), frozenset(own))
    return Arrived(scene.repository, Pushed(landed), again=True, brought=brought, pull=scene.row)


async def _own_recorded(place: Workplace, client: Client, scene: _Scene, carried: list[Fact]) -> set[CommitId]:
    """Of what is recorded, what this pull request brought.

    A merge commit carries its own, a squash is one commit. The rebase button pushes as many new commits as the pull
    request has, and only the last of them is the merge commit.
    """
    merge, size = scene.merge, scene.answer.commits
    found = {fact.commit for fact in carried}
    if merge is None or merge not in found or size < 2:
        return found
    pushed = await place.store.read(readings.arrived_with, scene.repository_id, merge)
    if pushed:
        return set(pushed) if len(pushed) == size else found
    if next(fact for fact in carried if fact.commit == merge).pull_request == scene.row.number:
        return found
    landed = await _brought(client, scene)
    return {one.commit.id for one in landed}


async def _unpushed(place: Workplace, client: Client, scene: _Scene) -> Arrived:
    """Its push never came: read from the base as the pull request knew it, asking again what it is."""
    answer = await read_pull_request(client, scene.repository, scene.row.number)
    scene = await _known(place, scene.repository, answer)
    landed = await _brought(client, scene) if scene.merge is not None else []
    known = KeptReadings(place, scene.repository_id)
    pushed = await read_files_of(client, scene.repository, landed, known=known)
    brought = Brought(as_known(scene.row), frozenset(one.commit.id for one in landed))
    return Arrived(scene.repository, pushed, brought=brought, pull=scene.row)


async def _brought(client: Client, scene: _Scene) -> list[Landed]:
    """What it landed, by what reached the branch since its base, without the files."""
    landed = await read_landed_from(client, scene.repository, scene.answer)
    commits = await read_pull_request_commits(client, scene.repository, scene.answer)
    return list(_own(landed, scene.merge, commits))


def _own(landed: tuple[Landed, ...], merge: CommitId | None, commits: tuple[Commit, ...]) -> tuple[Landed, ...]:
    """Of what reached the branch since the base, what this pull request brought; pushes tell of what landed beside it.

    The merge commit carries its own. The rebase button makes new commits of the pull request's, which keep author and
    message, and only the last of them is the merge commit.
    """
    carried = [one for one in landed if one.carrier.id == merge]
    written = Counter(_writing(commit) for commit in commits)
    if len(carried) == 1 and carried[0].commit.id == merge and written[_writing(carried[0].commit)]:
        return tuple(one for one in landed if one.carrier.id == one.commit.id and written[_writing(one.commit)])
    return tuple(carried)


def _writing(commit: Commit) -> tuple[str, str, int]:
    """What a rebase keeps of a commit."""
    return commit.author.email.lower(), commit.message.strip(), int(commit.authored_at.timestamp())
