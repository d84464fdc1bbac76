"""A person took back at GitHub what they had allowed Almanac: nobody stays signed in as them."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model import UserId
from bot.queue.interface import Job
from bot.store import sessions
from bot.tasks.workplace import Workplace, arguments


async def end_authorization(job: Job, place: Workplace) -> None:
    """No token of theirs was kept; what they decided about their page stays as it is."""

    def save(connection: Connection) -> None:
        sessions.end_all(connection, UserId(arguments(job.ref_id)["user"]))
        job.finish(connection)

    await place.store.write(save)
