"""An installation came, went, slept or woke: read what GitHub says, and show or hide at once."""

from __future__ import annotations

from bot.github.operations import INSTALLATION_REPOSITORIES, needed
from bot.github.payloads.answers import Installation
from bot.github.reads import read_installation, read_installation_repositories
from bot.model import InstallationId, Repository
from bot.queue.interface import Job
from bot.store import installations, jobs
from bot.tasks.close_month import retell_elsewhere
from bot.tasks.known_installation import see_installation
from bot.tasks.known_repository import see_repositories
from bot.tasks.workplace import Workplace, arguments, asking_github


async def update_installation(job: Job, place: Workplace) -> None:
    """Repositories no longer reached are hidden in the transaction that learns of it."""
    number = InstallationId(arguments(job.ref_id)["installation"])
    with asking_github():
        found = await read_installation(place.github.app, number)
    if found is None:
        await _remove(job, place, number)
    elif found.suspended:
        await _suspend(job, place, found)
    else:
        with asking_github():
            client = place.github.installation(number, permissions=needed(INSTALLATION_REPOSITORIES))
            reached = await read_installation_repositories(client)
        await _renew(job, place, found, reached)


async def _remove(job: Job, place: Workplace, number: InstallationId) -> None:
    async with place.store.begin() as conn:
        await installations.remove_installation(conn, number, place.clock())
        await jobs.cancel_installation(conn, number, place.clock())
        await job.finish(conn)


async def _suspend(job: Job, place: Workplace, found: Installation) -> None:
    async with place.store.begin() as conn:
        await see_installation(conn, place, found)
        await installations.suspend(conn, found.id, place.clock())
        await jobs.park_installation(conn, found.id)
        await job.finish(conn)


async def _renew(job: Job, place: Workplace, found: Installation, reached: tuple[Repository, ...]) -> None:
    now = place.clock()
    kept = {repository.id for repository in reached}
    async with place.store.begin() as conn:
        await see_installation(conn, place, found)
        await installations.suspend(conn, found.id, None)
        before = {row.repository.id for row in await installations.repositories_of(conn, found.id)}
        await see_repositories(conn, place, found.id, reached, job.begun)
        stored = await installations.repositories_of(conn, found.id)
        gone = [row.repository.id for row in stored if row.repository.id not in kept and row.repository.id is not None]
        await installations.remove_repositories(conn, gone, now)
        came = {row.repository.id for row in stored if row.repository.id is not None} - before
        await retell_elsewhere(conn, place, found.id, [*gone, *came])
        await jobs.unpark_installation(conn, found.id, now)
        await job.finish(conn)
