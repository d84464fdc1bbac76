"""Does the record hold what GitHub shows? Every installation is looked through once a day; what differs is read.

A glance at fifty repositories is one request; only one that moved is listed: its closed pull requests down to the last
look, and what its default branch got since. What is found missing is asked for by the jobs that deliveries ask for.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Connection

from bot.github import operations as op
from bot.github.client import Client
from bot.github.graphql import MOST_GLANCES, read_glances
from bot.github.listings import read_closed_since, read_installations
from bot.github.payloads.answers import Installation
from bot.github.payloads.nodes import Glance
from bot.github.reads import read_installation_repositories
from bot.model import CommitId, InstallationId, PullRequest, Repository, RepositoryId
from bot.queue.interface import Job
from bot.store import backfills, installations, jobs, ledger, pulls
from bot.store.backfills import Watermark
from bot.store.installations import Stored
from bot.store.jobs import LATER
from bot.tasks.backfill import open_backfills
from bot.tasks.backfill_pages import row_of
from bot.tasks.catch_up import EVERYTHING
from bot.tasks.known_installation import know_account, know_installation
from bot.tasks.known_repository import see_repositories
from bot.tasks.workplace import Workplace, arguments, asking_github, reference

OVERLAP = timedelta(hours=1)


class _Look(Struct, frozen=True):
    """One repository: as it is stored, as it is now, and up to where nothing was missing."""

    stored: Stored
    glance: Glance
    mark: Watermark

    @property
    def id(self) -> RepositoryId:
        return RepositoryId(self.stored.repository.id or 0)


async def reconcile(job: Job, place: Workplace) -> None:
    """Look at each installation in a job of its own; those that came, went, slept or woke unheard are read anew."""
    started = place.clock()
    with asking_github():
        listed = {one.id: one async for one in read_installations(place.github.app)}

    def save(connection: Connection) -> None:
        known = installations.active(connection)
        for number in sorted({*listed, *known}):
            if _differs(listed.get(number), number in known):
                _ask(connection, place, "update_installation", f"installation:{number}", installation=number)
            if number in listed and not listed[number].suspended:
                _ask(connection, place, "reconcile_installation", f"installation:{number}", installation=number)
        backfills.mark(connection, Watermark(EVERYTHING, started))
        job.finish(connection)

    await place.store.write(save)


def _differs(now: Installation | None, active: bool) -> bool:
    """Whether an installation works at GitHub and not here, or the other way round."""
    return (now is not None and not now.suspended) != active


async def reconcile_installation(job: Job, place: Workplace) -> None:
    """Compare its repositories' names, visibility, heads and pull requests with the record."""
    number, started = InstallationId(arguments(job.ref_id)["installation"]), place.clock()
    await know_installation(place, number)
    with asking_github():
        client = place.github.installation(number, permissions=op.needed(op.CONTENT, op.CLOSED_PULL_REQUESTS))
        reached = {RepositoryId(one.id or 0): one for one in await read_installation_repositories(client)}
    for one in list(reached.values())[:1]:
        await know_account(place, number, one)
    await _compare_repositories(place, number, reached, started)
    with asking_github():
        looks = await _looks(place, client, number, started)
        missing = {look.id: await _missing_pulls(place, client, look) for look in looks}

    def save(connection: Connection) -> None:
        for look in looks:
            for pull in missing[look.id]:
                _ask_about(connection, place, look, "record_pull_request", number=pull)
            _ask_for_landings(connection, place, look)
            name = f"repository:{look.id}"
            backfills.mark(connection, Watermark(name, started, look.glance.head))
        job.finish(connection)

    await place.store.write(save)


async def _compare_repositories(
    place: Workplace, number: InstallationId, reached: dict[RepositoryId, Repository], asked: datetime
) -> None:
    """Whatever is hidden, renamed, gone or back is read by the job that its delivery would have asked for."""

    def save(connection: Connection) -> None:
        stored = {
            RepositoryId(row.repository.id or 0): row for row in installations.repositories_of(connection, number)
        }
        for one in sorted({*stored, *reached}):
            if one not in stored:
                see_repositories(connection, place, number, [reached[one]], asked)
            elif one not in reached or _changed(stored[one].repository, reached[one]):
                _ask(
                    connection,
                    place,
                    "update_repository",
                    f"repository:{one}",
                    installation=number,
                    repository=one,
                    action="",
                )
        if place.clones is not None:
            open_backfills(connection, place, number, sorted(reached))

    await place.store.write(save)


def _changed(stored: Repository, now: Repository) -> bool:
    names = ("full_name", "private", "fork", "default_branch")
    return any(getattr(stored, name) != getattr(now, name) for name in names)


async def _looks(place: Workplace, client: Client, number: InstallationId, now: datetime) -> list[_Look]:
    """A glance at every repository whose history is not being read just now."""

    def read(connection: Connection) -> tuple[list[Stored], list[Watermark]]:
        rows = installations.repositories_of(connection, number)
        ids = [RepositoryId(row.repository.id or 0) for row in rows]
        reading = {one.repository_id for one in backfills.of(connection, ids) if one.state != "done"}
        rows = [row for row in rows if row.repository.id not in reading]
        marks = [_mark(connection, row, now) for row in rows]
        return rows, marks

    rows, marks = await place.store.read(read)
    looks: list[_Look] = []
    for at in range(0, len(rows), MOST_GLANCES):
        part = rows[at : at + MOST_GLANCES]
        seen = await read_glances(client, [row.repository for row in part])
        pairs = zip(part, seen.found, marks[at : at + MOST_GLANCES], strict=True)
        looks += [_Look(row, glance, mark) for row, glance, mark in pairs if glance is not None]
    return looks


def _mark(connection: Connection, row: Stored, now: datetime) -> Watermark:
    """Up to where nothing was missing: at first, when the installation came, and the newest landing that is known."""
    name = f"repository:{row.repository.id}"
    found = backfills.watermark(connection, name)
    if found is not None:
        return found
    created = installations.created_at(connection, row.installation_id)
    head = ledger.newest_carrier(connection, RepositoryId(row.repository.id or 0))
    return Watermark(name, created or now, head)


async def _missing_pulls(place: Workplace, client: Client, look: _Look) -> list[int]:
    """The closed pull requests that changed since the last look and are not kept as they are now."""
    since = look.mark.at - OVERLAP
    if look.glance.updated_at is None or look.glance.updated_at < since:
        return []
    listed = await read_closed_since(client, look.stored.repository, since)
    found = {pull.number: pull for pull in listed}
    kept = await place.store.read(pulls.numbered, look.id, sorted(found))
    return [number for number, pull in sorted(found.items()) if _is_news(look.id, pull, kept.get(number))]


def _is_news(repository: RepositoryId, pull: PullRequest, kept: pulls.PullRequestRow | None) -> bool:
    if kept is None:
        return True
    now = row_of(repository, pull, kept.read_at)
    names = ("title", "body", "labels", "base_ref", "head_ref")
    same = all(kept.payload.get(name) == now.payload[name] for name in names)
    return not same or (kept.head_id, kept.merge_commit, kept.merged_at) != (
        now.head_id,
        now.merge_commit,
        now.merged_at,
    )


def _ask_for_landings(connection: Connection, place: Workplace, look: _Look) -> None:
    """Where the default branch stands at a commit that the record does not hold, what came since is asked for."""
    head, before = look.glance.head, look.mark.head
    if head is None or before is None or head == before or _is_recorded(connection, look.id, head):
        return
    _ask_about(connection, place, look, "record_landing", before=before, after=head)


def _is_recorded(connection: Connection, repository: RepositoryId, head: CommitId) -> bool:
    if ledger.known(connection, repository, [head]):
        return True
    return bool(ledger.facts_carried(connection, repository, head))


def _ask_about(connection: Connection, place: Workplace, look: _Look, task: str, **more: int | str) -> None:
    """Ask about a repository, unless a delivery has asked for the same meanwhile and its job still waits."""
    serial = f"repository:{look.id}"
    told = "after" if "after" in more else "number"
    if jobs.is_coming(connection, serial, task, reference({told: more[told]})[1:-1] + ","):
        return
    installation = look.stored.installation_id or 0
    _ask(connection, place, task, serial, installation=installation, repository=look.id, **more)


def _ask(connection: Connection, place: Workplace, task: str, serial: str, **given: int | str) -> None:
    """Defer a job as a delivery would, behind whatever deliveries ask for now."""
    ref = reference(given)
    installation = int(given["installation"])
    place.queue.defer(
        connection,
        task,
        ref,
        serial_key=serial,
        dedupe_key=f"{task}:{ref}",
        installation_id=installation,
        priority=LATER,
    )
