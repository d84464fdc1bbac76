"""When a backfill has read the pull requests, measure and record the next batch of commits."""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection

from bot.queue.interface import Job, RetryLater
from bot.services.backfill.commits import BATCH, ClonePosition, location_of, read_batch, with_plan
from bot.services.backfill.steps import backfill_step, defer_step, finish_backfill
from bot.services.context import Context
from bot.services.digests.refresh import refresh_digests
from bot.services.recording.record import RecordingTarget, record
from bot.store import backfills, configurations, installations


async def backfill_commits(job: Job, context: Context) -> None:
    """Record the next batch of the plan; facts, progress and the next step share one transaction."""
    found = await backfill_step(job, context)
    if found is None:
        return
    one, clone, head = found
    one = await with_plan(context, one, clone, head)
    client = context.reader(one.installation_id, one.repository_id)
    rows = await asyncio.to_thread(clone.plan_lines, head, one.commits_done, BATCH)
    batch = await read_batch(context, client, ClonePosition(one, clone, clone.at(head)), rows)
    now = context.clock()
    target = RecordingTarget(one.installation_id, one.repository_id, context.zone)
    done = one.commits_done + len(rows)

    def record_batch(connection: Connection) -> None:
        recorded = record(connection, target, batch.facts, now=now, again=batch.again)
        stored = installations.repository(connection, one.repository_id)
        if stored is None or location_of(stored) != (one.installation_id, clone.repository.full_name):
            raise RetryLater(1.0, "the repository moved during the backfill")
        refresh_digests(connection, context, target, recorded)
        spent = {"requests": one.requests + batch.requests, "points": one.points + batch.points}
        backfills.move(connection, one.repository_id, commits=one.commits, commits_done=done, **spent)
        if done < one.commits:
            defer_step(connection, context, one, "backfill_commits")
        else:
            backfills.forget_brought(connection, one.repository_id)
            # A backfill does not look for changes of the rules: the next landing reads them.
            configurations.forget_rules(connection, one.repository_id)
            finish_backfill(connection, context, one)
        job.finish(connection)

    await context.store.write_without_flush(record_batch)
    if done >= one.commits:
        await asyncio.to_thread(clone.remove)
