"""A person decided on a page how they are shown: write anew, without anybody waiting for it, what was posted."""

from __future__ import annotations

from bot.model import PersonKey
from bot.queue.interface import Job
from bot.tasks import personal
from bot.tasks.workplace import Workplace, arguments


async def retell_person(job: Job, place: Workplace) -> None:
    """As a command does at once."""
    key = PersonKey(f"u:{arguments(job.ref_id)['user']}")
    async with place.store.begin() as conn:
        await personal.retell_person(conn, place, key)
        await job.finish(conn)
