"""A person decided on a page how they are shown: write anew, without anybody waiting for it, what was posted."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import PersonKey
from bot.queue.interface import Job
from bot.tasks import personal
from bot.tasks.workplace import Workplace, arguments


async def ask_to_retell(conn: AsyncConnection, place: Workplace, key: PersonKey) -> None:
    """In the transaction of the decision, by the key of an account."""
    user = int(key.removeprefix("u:"))
    await place.queue.defer(
        conn, "retell_person", f'{{"user":{user}}}', serial_key=f"user:{user}", dedupe_key=f"retell_person:{user}"
    )


async def retell_person(job: Job, place: Workplace) -> None:
    """As a command does at once."""
    key = PersonKey(f"u:{arguments(job.ref_id)['user']}")
    async with place.store.begin() as conn:
        await personal.retell_person(conn, place, key)
        await job.finish(conn)
