"""An installation came, went, slept or woke: read what GitHub says, and show or hide at once."""

from __future__ import annotations

from sqlalchemy import Connection

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
    def save(connection: Connection) -> None:
        installations.remove_installation(connection, number, place.clock())
        jobs.cancel_installation(connection, number, place.clock())
        job.finish(connection)

    await place.store.write(save)


async def _suspend(job: Job, place: Workplace, found: Installation) -> None:
    def save(connection: Connection) -> None:
        see_installation(connection, place, found)
        installations.suspend(connection, found.id, place.clock())
        jobs.park_installation(connection, found.id)
        job.finish(connection)

    await place.store.write(save)


async def _renew(job: Job, place: Workplace, found: Installation, reached: tuple[Repository, ...]) -> None:
    now = place.clock()
    kept = {repository.id for repository in reached}

    def save(connection: Connection) -> None:
        see_installation(connection, place, found)
        installations.suspend(connection, found.id, None)
        before = {row.repository.id for row in installations.repositories_of(connection, found.id)}
        see_repositories(connection, place, found.id, reached, job.begun)
        stored = installations.repositories_of(connection, found.id)
        gone = [row.repository.id for row in stored if row.repository.id not in kept and row.repository.id is not None]
        installations.remove_repositories(connection, gone, now)
        came = {row.repository.id for row in stored if row.repository.id is not None} - before
        retell_elsewhere(connection, place, found.id, [*gone, *came])
        jobs.unpark_installation(connection, found.id, now)
        job.finish(connection)

    await place.store.write(save)
