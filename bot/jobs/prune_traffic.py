"""Once a day, delete the bodies of old deliveries and finished jobs."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.queue.interface import Job
from bot.services.context import Context
from bot.services.privacy.erasure import defer_scrub
from bot.services.pruning import (
    BODIES_KEPT,
    JOBS_KEPT,
    KEPT_AFTER_ERASURE,
    SCHEDULE,
    SLICE,
    log,
    repeat_slices,
)
from bot.store import inbox, jobs
from bot.store.digests import forget_periods
from bot.store.erasure import is_anybody_erased


async def prune_traffic(job: Job, context: Context) -> None:
    """Delete in slices; an interrupted run continues where it stopped."""
    now = context.clock()
    erased = await context.store.read(is_anybody_erased)
    kept = KEPT_AFTER_ERASURE if erased else BODIES_KEPT
    bodies = await repeat_slices(context, lambda connection: inbox.drop_bodies(connection, now - kept, limit=SLICE))
    # The arguments of a job may name who pressed a button.
    old = now - (kept if erased else JOBS_KEPT)
    ended = await repeat_slices(context, lambda connection: jobs.prune(connection, old, limit=SLICE))
    await repeat_slices(context, lambda connection: forget_periods(connection, SCHEDULE, now - JOBS_KEPT))
    log.info("traffic pruned", extra={"bodies": bodies, "jobs": ended})

    def finish(connection: Connection) -> None:
        if erased and (bodies or ended):
            defer_scrub(connection, context)
        job.finish(connection)

    await context.store.write(finish)
