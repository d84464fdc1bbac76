"""How does a repository's history enter the ledger, in steps that survive a crash?

`backfill_repository` fetches a clone, `backfill_pages` stores its pull requests page by page, and `backfill_commits`
records its commits batch by batch: the same records as from deliveries, but no posts. A step and the job of the next
share one transaction; every step has lower priority than live jobs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from bot.history.fetching import FetchedClone
from bot.model.commit import Repository
from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.queue.interface import Job, Park
from bot.services.backfill.clones import require_clones
from bot.services.context import Context, job_arguments, job_reference
from bot.store import backfills, installations, jobs
from bot.store.backfills import Backfill, Watermark
from bot.store.installations import StoredRepository
from bot.store.jobs import LATER


def open_backfills(
    connection: Connection,
    context: Context,
    installation: InstallationId,
    repositories: Sequence[RepositoryId],
    *,
    again: bool = False,
) -> list[RepositoryId]:
    """Open backfills for these repositories; return those newly opened.

    Only repositories never requested before are opened; with `again`, all that are not being read.
    """
    opened, steps = [], sorted(set(STEPS.values()))
    known = {one.repository_id: one for one in backfills.of(connection, repositories)}
    going_on = jobs.unfinished_references(connection, steps, installation) if again else set()
    for repository in repositories:
        old, new = known.get(repository), Backfill(repository, installation, context.clock())
        if old is not None and not again and (old.state == "done" or old.installation_id == installation):
            continue
        if old is not None and old.state != "done" and old.installation_id == installation:
            if _job_reference(new) in going_on:
                continue
            # Its jobs were given up or parked: end them, and let a new one continue.
            jobs.dismiss(connection, steps, _job_reference(new), context.clock())
        elif not backfills.begin(connection, new, again=again):
            continue
        defer_step(connection, context, new, "backfill_repository")
        opened.append(repository)
    return opened


def _job_reference(one: Backfill) -> str:
    """The arguments of each job of a backfill."""
    return job_reference({"installation": one.installation_id, "repository": one.repository_id})


def defer_step(
    connection: Connection, context: Context, one: Backfill, task: str, run_at: datetime | None = None
) -> None:
    """Defer a step. Fetching may run beside live jobs of the repository; recording runs between them."""
    ref = _job_reference(one)
    serial = "clone" if task == "backfill_repository" else "repository"
    context.queue.defer(
        connection,
        task,
        ref,
        serial_key=f"{serial}:{one.repository_id}",
        dedupe_key=f"{task}:{ref}",
        installation_id=one.installation_id,
        priority=LATER,
        run_at=run_at,
    )


STEPS = {
    "waiting": "backfill_pages",
    "pull requests": "backfill_pages",
    "commits": "backfill_commits",
    "done": "backfill_repository",
}


async def unfinished_backfill(job: Job, context: Context) -> Backfill | None:
    """The backfill of a job; None if it is done or was never requested."""
    one = await context.store.read(backfills.read, RepositoryId(job_arguments(job.ref_id)["repository"]))
    return None if one is None or one.state == "done" else one


async def clone_with_head(job: Job, context: Context, one: Backfill) -> tuple[FetchedClone, CommitId] | None:
    """The clone and the head that is read; None, after deferring a fetch, if this machine does not have them.

    Raises Park if the repository is out of reach: its clone is read no further.
    """

    def read(connection: Connection) -> tuple[StoredRepository | None, bool]:
        stored = installations.repository(connection, one.repository_id)
        return stored, installations.is_active(connection, one.installation_id)

    stored, active = await context.store.read(read)
    if not active or (stored is not None and stored.removed_at is not None):
        raise Park("the repository is out of reach")
    clone = require_clones(context).of(stored.repository if stored else Repository("", one.repository_id))
    if one.head is not None and stored is not None and await asyncio.to_thread(clone.holds, one.head):
        return clone, one.head

    def save(connection: Connection) -> None:
        defer_step(connection, context, one, "backfill_repository")
        job.finish(connection)

    await context.store.write(save)
    return None


async def backfill_step(job: Job, context: Context) -> tuple[Backfill, FetchedClone, CommitId] | None:
    """What a step needs: the backfill, its clone and the head; None if there is nothing to do."""
    one = await unfinished_backfill(job, context)
    found = None if one is None else await clone_with_head(job, context, one)
    return None if one is None or found is None else (one, *found)


def finish_backfill(connection: Connection, context: Context, one: Backfill) -> None:
    """Mark the backfill done, and set the point up to which nothing is missing."""
    backfills.move(connection, one.repository_id, state="done", cursor=None, finished_at=context.clock())
    name = f"repository:{one.repository_id}"
    if backfills.watermark(connection, name) is None:
        backfills.mark(connection, Watermark(name, one.started_at, one.head))
