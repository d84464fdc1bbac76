"""After somebody was erased, remove what deleted rows left in the bytes of the database's files."""

from __future__ import annotations

from datetime import timedelta

from bot.queue.interface import Job, RetryLater
from bot.services.backfill.clones import remove_unused_clones
from bot.services.context import Context

SECONDS = 60.0
LARGE = 512 * 1024 * 1024
"""bytes: writing a larger file anew holds up deliveries for seconds, so it is done at night"""
NIGHT = 3
"""the hour, in UTC"""


async def scrub_database(job: Job, context: Context) -> None:
    """Empty the log at once, and write the file anew: at once too if it is small, else in the coming night."""
    await remove_unused_clones(context)
    now = context.clock()
    waits = context.store.file_bytes > LARGE and now.hour != NIGHT
    if not await context.store.scrub(whole=not waits):
        raise RetryLater(SECONDS, "a reader still needs the log of the database")
    if waits:
        night = now.replace(hour=NIGHT, minute=0, second=0) + timedelta(days=now.hour > NIGHT)
        raise RetryLater((night - now).total_seconds(), "the file is large and is written anew at night")
    await context.store.write(job.finish)
