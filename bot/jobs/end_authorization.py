"""When a person revokes Almanac's authorization at GitHub, end all their sessions."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import UserId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.store import sessions


async def end_authorization(job: Job, context: Context) -> None:
    """No token of theirs is stored; their choices about their page stay in effect."""

    def save(connection: Connection) -> None:
        sessions.end_all(connection, UserId(job_arguments(job.ref_id)["user"]))
        job.finish(connection)

    await context.store.write(save)
