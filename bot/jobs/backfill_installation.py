"""When the history of an installation is requested, open a backfill for each of its repositories."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.operations import INSTALLATION_REPOSITORIES, required_permissions
from bot.github.reads import read_installation_repositories
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.backfill.steps import open_backfills
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.repositories.installation import ensure_installation
from bot.services.repositories.repository import save_repositories
from bot.store import installations


async def backfill_installation(job: Job, context: Context) -> None:
    """Open a backfill for every repository that the installation reaches and that was not read yet."""
    number = InstallationId(job_arguments(job.ref_id)["installation"])
    if context.clones is None:
        return
    await ensure_installation(context, number)
    with translate_github_errors():
        client = context.github.installation(number, permissions=required_permissions(INSTALLATION_REPOSITORIES))
        reached = await read_installation_repositories(client)

    def save(connection: Connection) -> None:
        stored = {row.repository.id: row for row in installations.repositories_of(connection, number)}
        new = [repository for repository in reached if repository.id not in stored]
        save_repositories(connection, context, number, new, job.begun)

    await context.store.write(save)
    ids = [RepositoryId(one.id or 0) for one in reached]
    for at in range(0, len(ids), _BATCH):
        await context.store.write(open_backfills, context, number, ids[at : at + _BATCH])
    await context.store.write(job.finish)


_BATCH = 100
"""backfills opened in one transaction; deliveries wait for it on SQLite"""
