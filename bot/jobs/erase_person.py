"""When a person asks to be forgotten, erase them from the record and from all posts."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import PersonKey
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.privacy import erasure
from bot.store import jobs


async def erase_person(job: Job, context: Context) -> None:
    """Erase in one transaction, which also deletes this job: the record is never half erased."""
    user = job_arguments(job.ref_id)["user"]

    def save(connection: Connection) -> None:
        erasure.erase(connection, context, PersonKey(f"u:{user}"))
        job.finish(connection)
        jobs.forget_account(connection, user)

    await context.store.write(save)
