"""A person took back at GitHub what they had allowed Almanac: nobody stays signed in as them."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import UserId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.store import sessions


async def end_authorization(job: Job, context: Context) -> None:
    """No token of theirs was kept; what they decided about their page stays as it is."""

    def save(connection: Connection) -> None:
        sessions.end_all(connection, UserId(job_arguments(job.ref_id)["user"]))
        job.finish(connection)

    await context.store.write(save)
