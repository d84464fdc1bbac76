"""When a pull request is reviewed, checked or merged, store what the delivery shows."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.observations import (
    observation_rows,
    read_all_reviews,
    read_delivery_signals,
    save_observations,
    unapproved_merge_time,
)
from bot.store import observations


async def observe_pull_request(job: Job, context: Context) -> None:
    """Append the delivery's new observations; if its body was already deleted, there are none."""
    given = job_arguments(job.ref_id)
    repository, signals = RepositoryId(given["repository"]), await read_delivery_signals(context, given["delivery"])
    rows = (
        observation_rows(repository, signals)
        if signals.checks is None or signals.checks.app != context.ourselves.id
        else []
    )
    if signals.number and rows:
        before = await context.store.read(observations.of_work, repository, [signals.number])
        merged_at = unapproved_merge_time([*before, *rows])
        if merged_at is not None:
            rows += await read_all_reviews(context, (given["installation"], repository), signals, merged_at)

    def save_rows(connection: Connection) -> None:
        save_observations(connection, context, (InstallationId(given["installation"]), repository), rows)
        job.finish(connection)

    await context.store.write_without_flush(save_rows)
