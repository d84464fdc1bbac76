"""When somebody triages an issue or publishes a release, store it as an observation."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.payloads.non_code_activity import read_non_code
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.observations import observation, save_observations
from bot.store import inbox


async def observe_non_code(job: Job, context: Context) -> None:
    """Append the observation if it is new; this needs no request to GitHub."""
    given = job_arguments(job.ref_id)
    where = InstallationId(given["installation"]), RepositoryId(given["repository"])
    body = await context.store.read(inbox.body_of, f"app:{context.ourselves.id}", given["delivery"])
    found = read_non_code(body) if body else None
    rows = [] if found is None else [observation(where[1], found)]

    def save(connection: Connection) -> None:
        save_observations(connection, context, where, rows)
        job.finish(connection)

    await context.store.write(save)
