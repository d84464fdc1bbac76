"""A person decided on a page how they are shown: write anew, without anybody waiting for it, what was posted."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model import PersonKey
from bot.queue.interface import Job
from bot.tasks import personal
from bot.tasks.workplace import Workplace, arguments


async def retell_person(job: Job, place: Workplace) -> None:
    """As a command does at once."""
    key = PersonKey(f"u:{arguments(job.ref_id)['user']}")

    def save(connection: Connection) -> None:
        personal.retell_person(connection, place, key)
        job.finish(connection)

    await place.store.write(save)
