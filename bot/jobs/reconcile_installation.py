"""When `reconcile` asks for it, compare one installation with GitHub."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github import operations as op
from bot.github.reads import read_installation_repositories
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.digests.readers import defer_check, pairs_of_installation
from bot.services.reconciliation import (
    ask_for_landings,
    compare_repositories,
    defer_for_repository,
    missing_pulls,
    read_looks,
)
from bot.services.repositories.installation import ensure_installation, refresh_account
from bot.store import backfills
from bot.store.backfills import Watermark


async def reconcile_installation(job: Job, context: Context) -> None:
    """Compare its repositories' names, visibility, heads and pull requests with the record."""
    number, started = InstallationId(job_arguments(job.ref_id)["installation"]), context.clock()
    await ensure_installation(context, number)
    with translate_github_errors():
        client = context.github.installation(
            number, permissions=op.required_permissions(op.CONTENT, op.CLOSED_PULL_REQUESTS)
        )
        reached = {RepositoryId(one.id or 0): one for one in await read_installation_repositories(client)}
    for one in list(reached.values())[:1]:
        await refresh_account(context, number, one)
    await compare_repositories(context, number, reached, started)
    with translate_github_errors():
        looks = await read_looks(context, client, number, started)
        missing = {look.id: await missing_pulls(context, client, look) for look in looks}

    def save(connection: Connection) -> None:
        for look in looks:
            for pull in missing[look.id]:
                defer_for_repository(connection, context, look, "record_pull_request", number=pull)
            ask_for_landings(connection, context, look)
            name = f"repository:{look.id}"
            backfills.mark(connection, Watermark(name, started, look.glance.head))
        if pairs_of_installation(connection, number):
            defer_check(connection, context, number)
        job.finish(connection)

    await context.store.write(save)
