"""What passed through is forgotten after a while: bodies of deliveries, and jobs that ended well.

The keys of deliveries stay for ever, so that a body somebody captured years ago opens no door.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy import Connection

from bot.queue.interface import Job
from bot.store import inbox, jobs
from bot.store.digests import begin_period, forget_periods, periods_of
from bot.store.jobs import LATER
from bot.tasks.workplace import Workplace

log = logging.getLogger(__name__)

SCHEDULE = "prune_traffic"
BODIES_KEPT = timedelta(days=14)
JOBS_KEPT = timedelta(days=7)
SLICE = 2000
"""rows in one transaction, so that deliveries wait for none of them long"""


async def ask_to_prune(place: Workplace) -> None:
    """Defer the day's pruning once, whichever of many processes asks first."""
    now = place.clock()
    day = now.date().isoformat()

    if day in await place.store.read(periods_of, SCHEDULE):  # asked first, because a read costs no write
        return

    def save(connection: Connection) -> None:
        if begin_period(connection, SCHEDULE, day, now):
            place.queue.defer(connection, "prune_traffic", day, priority=LATER, dedupe_key="prune_traffic")

    await place.store.write(save)


async def prune_traffic(job: Job, place: Workplace) -> None:
    """Slice by slice; a prune that is cut goes on where it was."""
    now = place.clock()
    bodies = await _all(place, lambda connection: inbox.drop_bodies(connection, now - BODIES_KEPT, limit=SLICE))
    ended = await _all(place, lambda connection: jobs.prune(connection, now - JOBS_KEPT, limit=SLICE))
    await _all(place, lambda connection: forget_periods(connection, SCHEDULE, now - JOBS_KEPT))
    log.info("pruned the bodies of %d deliveries and %d jobs", bodies, ended)
    await place.store.write(job.finish)


async def _all(place: Workplace, slice_of: Callable[[Connection], int]) -> int:
    """Until a slice finds nothing more."""
    total = 0
    while True:
        count = await place.store.write(slice_of)
        total += count
        if count < SLICE:
            return total
