"""Does the record match GitHub? Once a day every installation is compared, and differences are read.

One request covers fifty repositories. Only for a repository that changed, the closed pull requests since the last
comparison and the new commits of its default branch are listed. Missing ones are read by the same jobs that deliveries
defer.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.graphql import MOST_GLANCES, read_glances
from bot.github.listings import read_closed_since
from bot.github.payloads.answers import Installation
from bot.github.payloads.nodes import Glance
from bot.model.commit import PullRequest, Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.services.backfill.steps import open_backfills
from bot.services.context import Context, job_reference
from bot.services.pull_requests import pull_request_row
from bot.services.repositories.repository import save_repositories
from bot.store import backfills, installations, jobs, ledger, pulls
from bot.store.backfills import Watermark
from bot.store.installations import StoredRepository
from bot.store.jobs import LATER

OVERLAP = timedelta(hours=1)


class _Look(Struct, frozen=True):
    """One repository: as stored, as GitHub shows it now, and the point up to which nothing was missing."""

    stored: StoredRepository
    glance: Glance
    mark: Watermark

    @property
    def id(self) -> RepositoryId:
        return RepositoryId(self.stored.repository.id or 0)


def differs(now: Installation | None, active: bool) -> bool:
    """Whether an installation is active only at GitHub or only in the record."""
    return (now is not None and not now.suspended) != active


async def compare_repositories(
    context: Context, number: InstallationId, reached: dict[RepositoryId, Repository], asked: datetime
) -> None:
    """Defer `update_repository` for each repository that was hidden, renamed, removed or restored."""

    def save(connection: Connection) -> None:
        stored = {
            RepositoryId(row.repository.id or 0): row for row in installations.repositories_of(connection, number)
        }
        for one in sorted({*stored, *reached}):
            if one not in stored:
                save_repositories(connection, context, number, [reached[one]], asked)
            elif one not in reached or _changed(stored[one].repository, reached[one]):
                defer_job(
                    connection,
                    context,
                    "update_repository",
                    f"repository:{one}",
                    installation=number,
                    repository=one,
                    action="",
                )
        if context.clones is not None:
            open_backfills(connection, context, number, sorted(reached))

    await context.store.write(save)


def _changed(stored: Repository, now: Repository) -> bool:
    names = ("full_name", "private", "fork", "default_branch")
    return any(getattr(stored, name) != getattr(now, name) for name in names)


async def read_looks(context: Context, client: Client, number: InstallationId, now: datetime) -> list[_Look]:
    """The current state of every repository that no backfill is reading."""

    def read(connection: Connection) -> tuple[list[StoredRepository], list[Watermark]]:
        rows = installations.repositories_of(connection, number)
        ids = [RepositoryId(row.repository.id or 0) for row in rows]
        reading = {one.repository_id for one in backfills.of(connection, ids) if one.state != "done"}
        rows = [row for row in rows if row.repository.id not in reading]
        marks = [_watermark(connection, row, now) for row in rows]
        return rows, marks

    rows, marks = await context.store.read(read)
    looks: list[_Look] = []
    for at in range(0, len(rows), MOST_GLANCES):
        part = rows[at : at + MOST_GLANCES]
        seen = await read_glances(client, [row.repository for row in part])
        pairs = zip(part, seen.found, marks[at : at + MOST_GLANCES], strict=True)
        looks += [_Look(row, glance, mark) for row, glance, mark in pairs if glance is not None]
    return looks


def _watermark(connection: Connection, row: StoredRepository, now: datetime) -> Watermark:
    """The point up to which nothing is missing; at first, the installation's start and the newest known landing."""
    name = f"repository:{row.repository.id}"
    found = backfills.watermark(connection, name)
    if found is not None:
        return found
    created = installations.created_at(connection, row.installation_id)
    head = ledger.newest_merge_commit(connection, RepositoryId(row.repository.id or 0))
    return Watermark(name, created or now, head)


async def missing_pulls(context: Context, client: Client, look: _Look) -> list[int]:
    """The closed pull requests that changed since the last comparison and are stored differently or not at all."""
    since = look.mark.at - OVERLAP
    if look.glance.updated_at is None or look.glance.updated_at < since:
        return []
    listed = await read_closed_since(client, look.stored.repository, since)
    found = {pull.number: pull for pull in listed}
    kept = await context.store.read(pulls.rows_by_number, look.id, sorted(found))
    return [number for number, pull in sorted(found.items()) if _is_news(look.id, pull, kept.get(number))]


def _is_news(repository: RepositoryId, pull: PullRequest, kept: pulls.PullRequestRow | None) -> bool:
    if kept is None:
        return True
    now = pull_request_row(repository, pull, kept.read_at)
    names = ("title", "body", "labels", "base_ref", "head_ref")
    same = all(kept.payload.get(name) == now.payload[name] for name in names)
    return not same or (kept.head_id, kept.merge_commit, kept.merged_at) != (
        now.head_id,
        now.merge_commit,
        now.merged_at,
    )


def ask_for_landings(connection: Connection, context: Context, look: _Look) -> None:
    """If the default branch has moved since the last comparison, ask for all commits since then.

    The newest of them may be recorded while an older one is missing, so all are compared.
    """
    head, before = look.glance.head, look.mark.head
    if head is not None and before is not None and head != before:
        defer_for_repository(connection, context, look, "record_landing", before=before, after=head)


def defer_for_repository(connection: Connection, context: Context, look: _Look, task: str, **more: int | str) -> None:
    """Defer a job about a repository, unless an equal job of a delivery already waits."""
    serial = f"repository:{look.id}"
    argument = "after" if "after" in more else "number"
    if jobs.is_waiting(connection, serial, task, job_reference({argument: more[argument]})[1:-1] + ","):
        return
    installation = look.stored.installation_id or 0
    defer_job(connection, context, task, serial, installation=installation, repository=look.id, **more)


def defer_job(connection: Connection, context: Context, task: str, serial: str, **given: int | str) -> None:
    """Defer a job as a delivery would, but with lower priority."""
    ref = job_reference(given)
    installation = int(given["installation"])
    context.queue.defer(
        connection,
        task,
        ref,
        serial_key=serial,
        dedupe_key=f"{task}:{ref}",
        installation_id=installation,
        priority=LATER,
    )
