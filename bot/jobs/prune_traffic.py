"""Once a day, delete the bodies of old deliveries and finished jobs."""

from __future__ import annotations

from bot.queue.interface import Job
from bot.services.context import Context
from bot.services.pruning import BODIES_KEPT, JOBS_KEPT, SCHEDULE, SLICE, log, repeat_slices
from bot.store import inbox, jobs
from bot.store.digests import forget_periods


async def prune_traffic(job: Job, context: Context) -> None:
    """Delete in slices; an interrupted run continues where it stopped."""
    now = context.clock()
    bodies = await repeat_slices(
        context, lambda connection: inbox.drop_bodies(connection, now - BODIES_KEPT, limit=SLICE)
    )
    ended = await repeat_slices(context, lambda connection: jobs.prune(connection, now - JOBS_KEPT, limit=SLICE))
    await repeat_slices(context, lambda connection: forget_periods(connection, SCHEDULE, now - JOBS_KEPT))
    log.info("traffic pruned", extra={"bodies": bodies, "jobs": ended})
    await context.store.write(job.finish)
