"""What is deleted after a while? Bodies of deliveries, and jobs that succeeded.

The keys of deliveries stay forever, so that a delivery captured years ago cannot be replayed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy import Connection

from bot.services.context import Context
from bot.store.digests import begin_period, periods_of
from bot.store.erasure import is_anybody_erased
from bot.store.jobs import LATER

log = logging.getLogger(__name__)
SCHEDULE = "prune_traffic"
BODIES_KEPT = timedelta(days=14)
JOBS_KEPT = timedelta(days=7)
KEPT_AFTER_ERASURE = timedelta(hours=1)
"""bodies and jobs, once anybody was erased: they may name them"""
SLICE = 2000
"""rows in one transaction, so that no delivery waits for long"""


async def ask_to_prune(context: Context) -> None:
    """Defer the day's pruning once, even if several processes ask; once anybody was erased, each hour's."""
    now = context.clock()
    day = now.date().isoformat()
    if await context.store.read(is_anybody_erased):
        day = f"{day} {now.hour:02}"
    if day in await context.store.read(periods_of, SCHEDULE):  # checked first, because a read is cheaper than a write
        return

    def save(connection: Connection) -> None:
        if begin_period(connection, SCHEDULE, day, now):
            context.queue.defer(connection, "prune_traffic", day, priority=LATER, dedupe_key="prune_traffic")

    await context.store.write(save)


async def repeat_slices(context: Context, slice_of: Callable[[Connection], int]) -> int:
    """Repeat `slice_of` until a slice is not full; return the number of rows."""
    total = 0
    while True:
        count = await context.store.write(slice_of)
        total += count
        if count < SLICE:
            return total
