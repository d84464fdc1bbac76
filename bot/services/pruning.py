"""What passed through is forgotten after a while: bodies of deliveries, and jobs that ended well.

The keys of deliveries stay for ever, so that a body somebody captured years ago opens no door.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy import Connection

from bot.services.context import Context
from bot.store.digests import begin_period, periods_of
from bot.store.jobs import LATER

log = logging.getLogger(__name__)
SCHEDULE = "prune_traffic"
BODIES_KEPT = timedelta(days=14)
JOBS_KEPT = timedelta(days=7)
SLICE = 2000
"""rows in one transaction, so that deliveries wait for none of them long"""


async def ask_to_prune(context: Context) -> None:
    """Defer the day's pruning once, whichever of many processes asks first."""
    now = context.clock()
    day = now.date().isoformat()

    if day in await context.store.read(periods_of, SCHEDULE):  # asked first, because a read costs no write
        return

    def save(connection: Connection) -> None:
        if begin_period(connection, SCHEDULE, day, now):
            context.queue.defer(connection, "prune_traffic", day, priority=LATER, dedupe_key="prune_traffic")

    await context.store.write(save)


async def repeat_slices(context: Context, slice_of: Callable[[Connection], int]) -> int:
    """Until a slice finds nothing more."""
    total = 0
    while True:
        count = await context.store.write(slice_of)
        total += count
        if count < SLICE:
            return total
