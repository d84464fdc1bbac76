"""After somebody was erased, remove what deleted rows left in the bytes of the database's files."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection

from bot.queue.interface import Job, RetryLater
from bot.services.backfill.clones import remove_unused_clones
from bot.services.context import Context

SECONDS = 60.0
LARGE = 512 * 1024 * 1024
"""bytes: rewriting a larger file holds up deliveries for seconds, so it is done at night"""
NIGHT = 3
"""the hour, in UTC"""


def _file_bytes(connection: Connection) -> int:
    """The size of the SQLite file; 0 on PostgreSQL."""
    if connection.dialect.name != "sqlite":
        return 0
    pages, size = (connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("page_count", "page_size"))
    return int(pages) * int(size)


async def scrub_database(job: Job, context: Context) -> None:
    """Empty the log at once, and rewrite the file: at once too if it is small, else in the coming night."""
    await remove_unused_clones(context)
    now = context.clock()
    waits = now.hour != NIGHT and await context.store.read(_file_bytes) > LARGE
    if not await context.store.scrub(vacuum=not waits):
        raise RetryLater(SECONDS, "a reader still needs the log of the database")
    if waits:
        night = now.replace(hour=NIGHT, minute=0, second=0) + timedelta(days=now.hour > NIGHT)
        raise RetryLater((night - now).total_seconds(), "the file is large and is rewritten at night")
    await context.store.write(job.finish)
