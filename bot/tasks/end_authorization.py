"""A person took back at GitHub what they had allowed Almanac: nobody stays signed in as them."""

from __future__ import annotations

from bot.model import UserId
from bot.queue.interface import Job
from bot.store import sessions
from bot.tasks.workplace import Workplace, arguments


async def end_authorization(job: Job, place: Workplace) -> None:
    """No token of theirs was kept; what they decided about their page stays as it is."""
    async with place.store.begin() as conn:
        await sessions.end_all(conn, UserId(arguments(job.ref_id)["user"]))
        await job.finish(conn)
