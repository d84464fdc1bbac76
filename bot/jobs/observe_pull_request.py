"""When a pull request is reviewed or merged, store what the delivery shows."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.observations import observation_rows, read_delivery_signals, save_observations


async def observe_pull_request(job: Job, context: Context) -> None:
    """Append the delivery's new observations; if its body was already deleted, there are none."""
    given = job_arguments(job.ref_id)
    repository, signals = RepositoryId(given["repository"]), await read_delivery_signals(context, given["delivery"])
    rows = observation_rows(repository, signals)

    def save_rows(connection: Connection) -> None:
        save_observations(connection, context, (InstallationId(given["installation"]), repository), rows)
        job.finish(connection)

    await context.store.write_without_flush(save_rows)
