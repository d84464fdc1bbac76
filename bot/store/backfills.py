"""How far has the history of each repository been read, and up to when are GitHub's events complete?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import Column, Connection, ForeignKey, Table, delete, select, update

from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber, counters
from bot.store.dialect import insert_into
from bot.store.inserts import upsert
from bot.store.installations import REPOSITORY

State = Literal["waiting", "pull requests", "commits", "done"]

BACKFILL = Table(
    "backfill",
    METADATA,
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True),
    Column("installation_id", WholeNumber, nullable=False),
    Column("state", CleanText, nullable=False, server_default="waiting"),
    Column("head", CleanText),
    Column("cursor", CleanText),
    *counters("size", "pulls", "pulls_done", "commits", "commits_done", "requests", "points"),
    Column("started_at", Instant, nullable=False),
    Column("finished_at", Instant),
)
BROUGHT = Table(
    "brought",
    METADATA,
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True),
    Column("commit_id", CleanText, primary_key=True),
    Column("number", WholeNumber, nullable=False),
)
"""commits created by the rebase button, with their pull requests; kept until they are recorded"""
WATERMARK = Table(
    "watermark",
    METADATA,
    Column("name", CleanText, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("head", CleanText),
)


class Backfill(Struct, frozen=True):
    """The backfill of one repository. `requests` and `points` count what it cost at GitHub.

    `head` is the commit of the default branch that the clone was at (no commit if that branch was `rewritten`),
    `cursor` is GitHub's cursor after the last page of pull requests (None before the first), `size` is the page size.
    """

    repository_id: RepositoryId
    installation_id: InstallationId
    started_at: datetime
    state: State = "waiting"
    head: CommitId | None = None
    cursor: str | None = None
    size: int = 0
    pulls: int = 0
    pulls_done: int = 0
    commits: int = 0
    commits_done: int = 0
    requests: int = 0
    points: int = 0
    finished_at: datetime | None = None


class Watermark(Struct, frozen=True):
    """Nothing of the named resource is missing up to this moment and this head of a default branch."""

    name: str
    at: datetime
    head: CommitId | None = None


def read(connection: Connection, repository_id: RepositoryId) -> Backfill | None:
    row = connection.execute(select(BACKFILL).where(BACKFILL.c.repository_id == repository_id)).mappings().first()
    return None if row is None else Backfill(**row)


def of(connection: Connection, ids: Sequence[RepositoryId]) -> list[Backfill]:
    """The backfills of these repositories, by id."""
    query = select(BACKFILL).where(BACKFILL.c.repository_id.in_(ids)).order_by(BACKFILL.c.repository_id)
    return [Backfill(**row) for row in connection.execute(query).mappings()]


def begin(connection: Connection, new: Backfill, *, again: bool = False) -> bool:
    """Start the backfill of a repository; False if one exists already, unless `again` restarts a finished one.

    A backfill in progress moves to the installation that reaches the repository now, if that is a different one.
    """
    row: dict[str, Any] = {name: getattr(new, name) for name in new.__struct_fields__}
    statement = (
        insert_into(connection, BACKFILL).values(row).on_conflict_do_nothing().returning(BACKFILL.c.repository_id)
    )
    if connection.execute(statement).first() is not None:
        return True
    old = read(connection, new.repository_id)
    if old is None or old.state == "done":
        upsert(connection, BACKFILL, [row] if again else [])
        return again
    move(connection, new.repository_id, installation_id=new.installation_id)
    return old.installation_id != new.installation_id


def move(connection: Connection, repository_id: RepositoryId, **values: Any) -> None:
    """Save its progress."""
    connection.execute(update(BACKFILL).where(BACKFILL.c.repository_id == repository_id).values(**values))


def rewritten(connection: Connection, repository_id: RepositoryId, by: int, *, other_branch: bool = False) -> None:
    """Restart the backfill because job number `by` found that the branch no longer reaches its head.

    The branch is fetched again and its commits are read again; with `other_branch` the pull requests are, too.
    """
    values: dict[str, Any] = {"head": f"rewritten, says job {by}", "commits": 0, "commits_done": 0}
    if other_branch:
        values |= {"state": "waiting", "cursor": None, "pulls_done": 0}
    reading = (BACKFILL.c.repository_id == repository_id) & (BACKFILL.c.state != "done")
    connection.execute(update(BACKFILL).where(reading).values(values))


def bring(connection: Connection, repository_id: RepositoryId, found: Mapping[CommitId, int]) -> None:
    """Remember which pull request these commits came from."""
    rows = [{"repository_id": repository_id, "commit_id": one, "number": number} for one, number in found.items()]
    upsert(connection, BROUGHT, rows)


def brought(connection: Connection, repository_id: RepositoryId, ids: Sequence[CommitId]) -> dict[CommitId, int]:
    """The remembered pull requests of these commits."""
    same = (BROUGHT.c.repository_id == repository_id) & BROUGHT.c.commit_id.in_(ids)
    return {CommitId(row.commit_id): row.number for row in connection.execute(select(BROUGHT).where(same))}


def forget_brought(connection: Connection, repository_id: RepositoryId) -> None:
    connection.execute(delete(BROUGHT).where(BROUGHT.c.repository_id == repository_id))


def watermark(connection: Connection, name: str) -> Watermark | None:
    row = connection.execute(select(WATERMARK).where(WATERMARK.c.name == name)).mappings().first()
    return None if row is None else Watermark(**row)


def mark(connection: Connection, reached: Watermark) -> None:
    """Move the watermark of this name."""
    upsert(connection, WATERMARK, [{name: getattr(reached, name) for name in reached.__struct_fields__}])
