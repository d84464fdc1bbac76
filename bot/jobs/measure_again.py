"""When a metric's definition has changed, measure recorded commits again, one step per job."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection

from bot.metrics.registry import FACT_METHOD
from bot.model.fact import Fact
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.measuring_again import AT_ONCE, PAUSE, activate, defer_step, measure_batch
from bot.store import erasure, measurements


async def measure_again(job: Job, context: Context) -> None:
    """In one repository, measure some outdated facts; if all are measured, activate some of them."""
    installation = InstallationId(job_arguments(job.ref_id)["installation"])

    def read(connection: Connection) -> tuple[RepositoryId | None, list[Fact]]:
        found = measurements.repositories_outdated(connection, FACT_METHOD)
        repository_id = next((one for owner, one in found if owner == installation), None)
        waiting = (
            measurements.outdated_facts(connection, repository_id, FACT_METHOD, AT_ONCE)
            if repository_id is not None
            else []
        )
        return repository_id, waiting

    repository_id, waiting = await context.store.read(read)
    if repository_id is None:
        return await context.store.write(job.finish)
    measured = await measure_batch(context, (installation, repository_id), waiting) if waiting else []

    def save_step(connection: Connection) -> None:
        if waiting:
            kept = erasure.facts_without_erased(connection, measured)
            measurements.keep(connection, repository_id, kept, method=FACT_METHOD, now=context.clock())
        else:
            activate(connection, context, (installation, repository_id))
        defer_step(connection, context, installation, PAUSE if waiting else timedelta(0))
        job.finish(connection)

    await context.store.write_without_flush(save_step)
    return None
