"""Once a day or on request, compare all installations with GitHub, to find what no delivery reported."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.listings import read_installations
from bot.queue.interface import Job
from bot.services.context import Context, translate_github_errors
from bot.services.deliveries.catch_up import EVERYTHING
from bot.services.reconciliation import defer_job, differs
from bot.services.refusals import A_DAY, A_MONTH
from bot.store import backfills, installations, jobs
from bot.store.backfills import Watermark


async def reconcile(job: Job, context: Context) -> None:
    """Defer one comparison per installation, and an update for each whose state changed unreported.

    Parked jobs ask GitHub once more.
    """
    started = context.clock()
    with translate_github_errors():
        listed = {one.id: one async for one in read_installations(context.github.app)}

    def save(connection: Connection) -> None:
        known = installations.active_installations(connection)
        for number in sorted({*listed, *known}):
            if differs(listed.get(number), number in known):
                defer_job(connection, context, "update_installation", f"installation:{number}", installation=number)
            if number in listed and not listed[number].suspended:
                defer_job(connection, context, "reconcile_installation", f"installation:{number}", installation=number)
        jobs.retry_parked(connection, started, after=A_DAY, at_most=A_MONTH)
        backfills.mark(connection, Watermark(EVERYTHING, started))
        jobs.dismiss(connection, (job.task,), job.ref_id, started)
        job.finish(connection)

    await context.store.write(save)
