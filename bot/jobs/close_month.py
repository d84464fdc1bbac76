"""When a month is over, or its digest may have changed, publish the digest."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import InstallationId, Month, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.digests.publishing import (
    plan_digest,
    refresh_settings,
    request_digest,
    request_preview,
    request_removal,
)
from bot.services.digests.readers import check_readers_of_digest
from bot.services.digests.wording import request_wording


async def close_month(job: Job, context: Context) -> None:
    """A month without work has no digest. A repository's first one is a preview, unless its settings say `post`."""
    given = job_arguments(job.ref_id)
    one = InstallationId(given["installation"]), RepositoryId(given["repository"]), Month(given["month"])
    await refresh_settings(context, one)
    await check_readers_of_digest(job, context, one)
    plan = await context.store.read(plan_digest, one)
    if plan is not None:
        await request_wording(context, plan.scope)

    def save(connection: Connection) -> None:
        plan = plan_digest(connection, one)
        if plan is not None and plan.preview:
            request_preview(connection, context, plan)
        elif plan is not None:
            request_digest(connection, context, plan)
        else:
            request_removal(connection, context, one)
        job.finish(connection)

    await context.store.write(save)
