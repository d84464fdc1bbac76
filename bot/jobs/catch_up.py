"""At the start and every few hours, fetch the deliveries that GitHub failed to deliver."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.delivery_log import KEPT
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.deliveries.catch_up import (
    DELIVERIES,
    EVERYTHING,
    ONE_DAY,
    OVERLAP,
    accept_failed,
    defer_reconciliation,
    log,
)
from bot.store import backfills, jobs
from bot.store.backfills import Watermark


async def catch_up(job: Job, context: Context) -> None:
    """Accept what failed since the START of the last run: what failed during that run is found by this one."""
    started = context.clock()

    def read(connection: Connection) -> tuple[Watermark | None, Watermark | None]:
        return backfills.watermark(connection, DELIVERIES), backfills.watermark(connection, EVERYTHING)

    reached, looked = await context.store.read(read)
    since = reached.at - OVERLAP if reached else started - KEPT
    with translate_github_errors():
        accepted = await accept_failed(context, since)
    if accepted:
        log.info("caught up with failed deliveries", extra={"deliveries": accepted, "since": since.isoformat()})
    beyond = reached is None or started - reached.at > KEPT - OVERLAP
    daily = looked is None or started - looked.at > ONE_DAY

    def save(connection: Connection) -> None:
        backfills.mark(connection, Watermark(DELIVERIES, started))
        if beyond or daily or job_arguments(job.ref_id).get("thorough"):
            defer_reconciliation(connection, context, "reconcile", "{}")
        jobs.dismiss(connection, (job.task,), job.ref_id, started)  # this run looked for what a dead one did not find
        job.finish(connection)

    await context.store.write(save)
