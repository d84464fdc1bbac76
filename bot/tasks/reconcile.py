"""Does the record hold what GitHub shows? Every installation is looked through once a day; what differs is read.

A glance at fifty repositories is one request; only one that moved is listed: its closed pull requests down to the last
look, and what its default branch got since. What is found missing is asked for by the jobs that deliveries ask for.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
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


@frozen
class _Look:
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
    async with place.store.begin() as conn:
        known = await installations.active(conn)
        for number in sorted({*listed, *known}):
            if _differs(listed.get(number), number in known):
                await _ask(conn, place, "update_installation", f"installation:{number}", installation=number)
            if number in listed and not listed[number].suspended:
                await _ask(conn, place, "reconcile_installation", f"installation:{number}", installation=number)
        await backfills.mark(conn, Watermark(EVERYTHING, started))
        await job.finish(conn)


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
    async with place.store.begin() as conn:
        for look in looks:
            for pull in missing[look.id]:
                await _ask_about(conn, place, look, "record_pull_request", number=pull)
            await _ask_for_landings(conn, place, look)
            name = f"repository:{look.id}"
            await backfills.mark(conn, Watermark(name, started, look.glance.head))
        await job.finish(conn)


async def _compare_repositories(
    place: Workplace, number: InstallationId, reached: dict[RepositoryId, Repository], asked: datetime
) -> None:
    """Whatever is hidden, renamed, gone or back is read by the job that its delivery would have asked for."""
    async with place.store.begin() as conn:
        stored = {
            RepositoryId(row.repository.id or 0): row for row in await installations.repositories_of(conn, number)
        }
        for one in sorted({*stored, *reached}):
            if one not in stored:
                await see_repositories(conn, place, number, [reached[one]], asked)
            elif one not in reached or _changed(stored[one].repository, reached[one]):
                await _ask(
                    conn,
                    place,
                    "update_repository",
                    f"repository:{one}",
                    installation=number,
                    repository=one,
                    action="",
                )
        if place.clones is not None:
            await open_backfills(conn, place, number, sorted(reached))


def _changed(stored: Repository, now: Repository) -> bool:
    names = ("full_name", "private", "fork", "default_branch")
    return any(getattr(stored, name) != getattr(now, name) for name in names)


async def _looks(place: Workplace, client: Client, number: InstallationId, now: datetime) -> list[_Look]:
    """A glance at every repository whose history is not being read just now."""
    async with place.store.read() as conn:
        rows = await installations.repositories_of(conn, number)
        ids = [RepositoryId(row.repository.id or 0) for row in rows]
        reading = {one.repository_id for one in await backfills.of(conn, ids) if one.state != "done"}
        rows = [row for row in rows if row.repository.id not in reading]
        marks = [await _mark(conn, row, now) for row in rows]
    looks: list[_Look] = []
    for at in range(0, len(rows), MOST_GLANCES):
        part = rows[at : at + MOST_GLANCES]
        seen = await read_glances(client, [row.repository for row in part])
        pairs = zip(part, seen.found, marks[at : at + MOST_GLANCES], strict=True)
        looks += [_Look(row, glance, mark) for row, glance, mark in pairs if glance is not None]
    return looks


async def _mark(conn: AsyncConnection, row: Stored, now: datetime) -> Watermark:
    """Up to where nothing was missing: at first, when the installation came, and the newest landing that is known."""
    name = f"repository:{row.repository.id}"
    found = await backfills.watermark(conn, name)
    if found is not None:
        return found
    created = await installations.created_at(conn, row.installation_id)
    head = await ledger.newest_carrier(conn, RepositoryId(row.repository.id or 0))
    return Watermark(name, created or now, head)


async def _missing_pulls(place: Workplace, client: Client, look: _Look) -> list[int]:
    """The closed pull requests that changed since the last look and are not kept as they are now."""
    since = look.mark.at - OVERLAP
    if look.glance.updated_at is None or look.glance.updated_at < since:
        return []
    listed = await read_closed_since(client, look.stored.repository, since)
    found = {pull.number: pull for pull in listed}
    async with place.store.read() as conn:
        kept = await pulls.numbered(conn, look.id, sorted(found))
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


async def _ask_for_landings(conn: AsyncConnection, place: Workplace, look: _Look) -> None:
    """Where the default branch stands at a commit that the record does not hold, what came since is asked for."""
    head, before = look.glance.head, look.mark.head
    if head is None or before is None or head == before or await _is_recorded(conn, look.id, head):
        return
    await _ask_about(conn, place, look, "record_landing", before=before, after=head)


async def _is_recorded(conn: AsyncConnection, repository: RepositoryId, head: CommitId) -> bool:
    if await ledger.known(conn, repository, [head]):
        return True
    return bool(await ledger.facts_carried(conn, repository, head))


async def _ask_about(conn: AsyncConnection, place: Workplace, look: _Look, task: str, **more: int | str) -> None:
    """Ask about a repository, unless a delivery has asked for the same meanwhile and its job still waits."""
    serial = f"repository:{look.id}"
    told = "after" if "after" in more else "number"
    if await jobs.is_coming(conn, serial, task, reference({told: more[told]})[1:-1] + ","):
        return
    installation = look.stored.installation_id or 0
    await _ask(conn, place, task, serial, installation=installation, repository=look.id, **more)


async def _ask(conn: AsyncConnection, place: Workplace, task: str, serial: str, **given: int | str) -> None:
    """Defer a job as a delivery would, behind whatever deliveries ask for now."""
    ref = reference(given)
    installation = int(given["installation"])
    await place.queue.defer(
        conn, task, ref, serial_key=serial, dedupe_key=f"{task}:{ref}", installation_id=installation, priority=LATER
    )
