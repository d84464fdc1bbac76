"""A month is over: take the snapshots of the pages that can be opened."""

from __future__ import annotations

from bot.model.ids import Month, PersonKey
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments


async def take_snapshots(job: Job, context: Context) -> None:
    """The snapshots of one person and month; those that are there stay as they are."""
    given = job_arguments(job.ref_id)
    if context.take_snapshots is not None:
        await context.take_snapshots(PersonKey(given["person"]), Month(given["month"]))
    await context.store.write(job.finish)
