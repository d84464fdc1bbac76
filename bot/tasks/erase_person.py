"""A person asked to be forgotten: take them out of the record, and out of everything that was posted."""

from __future__ import annotations

from bot.model import PersonKey
from bot.queue.interface import Job
from bot.store import jobs
from bot.tasks import personal
from bot.tasks.workplace import Workplace, arguments


async def erase_person(job: Job, place: Workplace) -> None:
    """In one transaction: the record never shows half of it, and this job is in it no longer."""
    user = arguments(job.ref_id)["user"]
    async with place.store.begin() as conn:
        await personal.erase(conn, place, PersonKey(f"u:{user}"))
        await job.finish(conn)
        await jobs.forget_account(conn, user)
