"""When a person changes on a page how they are shown, rewrite their posts in the background."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import PersonKey
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.privacy.refresh import refresh_person_posts


async def refresh_person(job: Job, context: Context) -> None:
    """Do what a command does at once."""
    key = PersonKey(f"u:{job_arguments(job.ref_id)['user']}")

    def save(connection: Connection) -> None:
        refresh_person_posts(connection, context, key)
        job.finish(connection)

    await context.store.write(save)
