"""When a month is settled, take the snapshots of one person's pages."""

from __future__ import annotations

from bot.model.ids import Month, PersonKey
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments


async def take_snapshots(job: Job, context: Context) -> None:
    """Take the snapshots of one person and month; existing ones never change."""
    given = job_arguments(job.ref_id)
    if context.take_snapshots is not None:
        await context.take_snapshots(PersonKey(given["person"]), Month(given["month"]))
    await context.store.write(job.finish)
