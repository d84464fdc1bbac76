"""A person asked to be forgotten: take them out of the record, and out of everything that was posted."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model import PersonKey
from bot.queue.interface import Job
from bot.store import jobs
from bot.tasks import personal
from bot.tasks.workplace import Workplace, arguments


async def erase_person(job: Job, place: Workplace) -> None:
    """In one transaction: the record never shows half of it, and this job is in it no longer."""
    user = arguments(job.ref_id)["user"]

    def save(connection: Connection) -> None:
        personal.erase(connection, place, PersonKey(f"u:{user}"))
        job.finish(connection)
        jobs.forget_account(connection, user)

    await place.store.write(save)
