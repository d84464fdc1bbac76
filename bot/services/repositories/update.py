"""How are installations and repositories shown or hidden when GitHub says they changed?"""

from __future__ import annotations

from gidgethub import BadRequest
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client, is_missing
from bot.github.payloads.answers import Installation
from bot.github.reads import read_repository
from bot.model.commit import Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job, Refused
from bot.services.context import Context, translate_github_errors
from bot.services.digests.refresh import refresh_digests_elsewhere, refresh_months
from bot.services.reconciliation import defer_job
from bot.services.repositories.installation import save_installation
from bot.services.repositories.repository import has_left, save_repositories
from bot.store import configurations, installations, jobs
from bot.store.installations import StoredRepository


async def remove_installation(job: Job, context: Context, number: InstallationId) -> None:
    def save(connection: Connection) -> None:
        installations.remove_installation(connection, number, context.clock())
        jobs.cancel_installation(connection, number, context.clock())
        job.finish(connection)

    await context.store.write(save)


async def suspend_installation(job: Job, context: Context, found: Installation) -> None:
    def save(connection: Connection) -> None:
        save_installation(connection, context, found)
        installations.suspend(connection, found.id, context.clock())
        jobs.park_installation(connection, found.id)
        job.finish(connection)

    await context.store.write(save)


async def update_installation_settings(
    job: Job, context: Context, found: Installation, reached: tuple[Repository, ...]
) -> None:
    now = context.clock()
    kept = {repository.id for repository in reached}

    def save(connection: Connection) -> None:
        was_suspended = installations.is_suspended(connection, found.id)
        save_installation(connection, context, found)
        installations.suspend(connection, found.id, None)
        if was_suspended:
            # Nothing was delivered meanwhile.
            defer_job(connection, context, "reconcile_installation", f"installation:{found.id}", installation=found.id)
        before = {row.repository.id for row in installations.repositories_of(connection, found.id)}
        save_repositories(connection, context, found.id, reached, job.begun)
        stored = installations.repositories_of(connection, found.id)
        gone = [row.repository.id for row in stored if row.repository.id not in kept and row.repository.id is not None]
        installations.remove_repositories(connection, gone, now)
        came = {row.repository.id for row in stored if row.repository.id is not None} - before
        refresh_digests_elsewhere(connection, context, found.id, [*gone, *came])
        jobs.unpark_installation(connection, found.id, now)
        job.finish(connection)

    await context.store.write(save)


async def hide_repository(context: Context, where: tuple[InstallationId, RepositoryId], action: str) -> None:
    installation, number = where

    def save(connection: Connection) -> None:
        before = installations.repository(connection, number)
        if before is None or before.installation_id != installation or before.removed_at is not None:
            return
        if action == "deleted":
            installations.remove_repositories(connection, [number], context.clock())
            refresh_digests_elsewhere(connection, context, installation, [number])
        elif not before.repository.private:
            hidden = replace(before.repository, private=True)
            installations.save_repositories(connection, installation, [hidden], context.clock())
            refresh_months(connection, context, where)
            refresh_digests_elsewhere(connection, context, installation, [number], taking_back=True)

    await context.store.write(save)


def branch_has_moved(before: Repository, now: Repository) -> bool:
    return before.default_branch != now.default_branch


async def read_current(client: Client, repository: RepositoryId) -> Repository | None:
    """The repository as GitHub returns it; None if it seems out of reach."""
    try:
        with translate_github_errors():
            return await read_repository(client, repository)
    except Refused:
        return None
    except BadRequest as error:
        if is_missing(error):
            return None
        raise


def stored_before(
    connection: Connection, where: tuple[InstallationId, RepositoryId], now: Repository | None
) -> tuple[StoredRepository | None, bool]:
    """The repository as it was stored, and whether it has left this installation."""
    installation, number = where
    before = installations.repository(connection, number)
    if now is None or before is None:
        return before, False
    return before, has_left(connection, installation, before, now)


def follow_changes(
    connection: Connection,
    context: Context,
    where: tuple[InstallationId, RepositoryId],
    change: tuple[StoredRepository | None, Repository],
) -> None:
    """Do what a new name, a new owner or a new visibility requires."""
    (installation, number), (before, now) = where, change
    # A new owner shares other settings, and so does a new name.
    if before is None or before.repository.full_name != now.full_name:
        configurations.forget_rules(connection, number)
    if before is not None and before.installation_id == installation and before.repository.private != now.private:
        # Who may read the posts there has changed: digests are rewritten for those who read them.
        refresh_months(connection, context, where)
        refresh_digests_elsewhere(connection, context, installation, [number], taking_back=now.private)
