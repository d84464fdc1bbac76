"""What passed through is forgotten after a while: bodies of deliveries, and jobs that ended well.

The keys of deliveries stay for ever, so that a body somebody captured years ago opens no door.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

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
    async with place.store.read() as conn:
        if day in await periods_of(conn, SCHEDULE):  # asked first, because a look costs no write
            return
    async with place.store.begin() as conn:
        if await begin_period(conn, SCHEDULE, day, now):
            await place.queue.defer(conn, "prune_traffic", day, priority=LATER, dedupe_key="prune_traffic")


async def prune_traffic(job: Job, place: Workplace) -> None:
    """Slice by slice; a prune that is cut goes on where it was."""
    now = place.clock()
    bodies = await _all(place, lambda conn: inbox.drop_bodies(conn, now - BODIES_KEPT, limit=SLICE))
    ended = await _all(place, lambda conn: jobs.prune(conn, now - JOBS_KEPT, limit=SLICE))
    await _all(place, lambda conn: forget_periods(conn, SCHEDULE, now - JOBS_KEPT))
    log.info("pruned the bodies of %d deliveries and %d jobs", bodies, ended)
    async with place.store.begin() as conn:
        await job.finish(conn)


async def _all(place: Workplace, slice_of: Callable[[AsyncConnection], Awaitable[int]]) -> int:
    """Until a slice finds nothing more."""
    total = 0
    while True:
        async with place.store.begin() as conn:
            count = await slice_of(conn)
        total += count
        if count < SLICE:
            return total
