"""When GitHub opens a check suite by itself, switch that off, and complete the suite so that nobody waits for it."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import CommitId, InstallationId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.posting.suites import request_closing_check, switch_off_suites
from bot.services.repositories.installation import ensure_installation
from bot.services.repositories.repository import current_repository


async def close_check_suite(job: Job, context: Context) -> None:
    """Other Apps' suites are theirs. Where GitHub refuses to switch suites off, each one is completed."""
    given = job_arguments(job.ref_id)
    if given["app"] not in (0, context.ourselves.id):
        return
    where = (InstallationId(given["installation"]), given["repository"])
    await ensure_installation(context, where[0])
    with translate_github_errors():
        repository = await current_repository(context, context.reader(*where), where, None)
        await switch_off_suites(context, where[0], repository)

    def save(connection: Connection) -> None:
        request_closing_check(connection, context, where, CommitId(given["commit"]))
        job.finish(connection)

    await context.store.write(save)
