"""When GitHub showed only a part of a commit, read it again, and correct what was recorded."""

from __future__ import annotations

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.digests.refresh import refresh_digests
from bot.services.partial_readings import Unfinished, defer_completion, read_completed
from bot.services.posting.landings import request_landing_posts
from bot.services.recording.record import RecordingTarget, record
from bot.store import ledger, readings


async def complete_fact(job: Job, context: Context) -> None:
    """Totals, posts and digests follow; a commit that is partial again waits twice as long."""
    given = job_arguments(job.ref_id)
    where = (InstallationId(given["installation"]), RepositoryId(given["repository"]))
    asked = Unfinished(CommitId(given["commit"]), given.get("parts", False), given["tries"])
    facts: list[Fact] = await context.store.read(ledger.facts_at, where[1], [asked.commit])
    stored = next((fact for fact in facts if fact.partial or asked.parts), None)
    found = None if stored is None else await read_completed(context, where, stored, parts=asked.parts)

    def save(connection: Connection) -> None:
        if found is not None:
            readings.correct(connection, where[1], found.commit)
            target = RecordingTarget(*where, context.zone)
            recorded = record(connection, target, [found.fact], now=context.clock(), again=True)
            request_landing_posts(connection, context, target, recorded)
            refresh_digests(connection, context, target, recorded)
        if stored is not None and (found is None or not found.parts):
            defer_completion(connection, context, where, replace(asked, tries=asked.tries + 1))
        job.finish(connection)

    await context.store.write_without_flush(save)
