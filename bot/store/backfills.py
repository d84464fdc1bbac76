"""How far has the history of each repository been read, and until when has GitHub been listened to?"""

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
"""commits that the rebase button made, and of which pull request: kept until they are recorded"""
WATERMARK = Table(
    "watermark",
    METADATA,
    Column("name", CleanText, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("head", CleanText),
)


class Backfill(Struct, frozen=True):
    """The reading of one repository's history. What was asked of GitHub for it is counted in `requests` and `points`.

    `head` is the commit of the default branch that the clone was at (it names none where that was `rewritten`),
    `cursor` GitHub's mark behind the last page of pull requests (None before the first), `size` how many a page holds.
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
    """Up to this moment, and to this head of a default branch, nothing of the named thing is missing."""

    name: str
    at: datetime
    head: CommitId | None = None


def read(connection: Connection, repository_id: RepositoryId) -> Backfill | None:
    row = connection.execute(select(BACKFILL).where(BACKFILL.c.repository_id == repository_id)).mappings().first()
    return None if row is None else Backfill(**row)


def of(connection: Connection, ids: Sequence[RepositoryId]) -> list[Backfill]:
    """The readings of these repositories, by id."""
    query = select(BACKFILL).where(BACKFILL.c.repository_id.in_(ids)).order_by(BACKFILL.c.repository_id)
    return [Backfill(**row) for row in connection.execute(query).mappings()]


def begin(connection: Connection, new: Backfill, *, again: bool = False) -> bool:
    """Open the reading of a repository; False where it was opened before, unless `again` begins a finished one anew.

    One that is under way is handed to the installation that reaches the repository now, where it is another one.
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
    """Write down how far it is."""
    connection.execute(update(BACKFILL).where(BACKFILL.c.repository_id == repository_id).values(**values))


def rewritten(connection: Connection, repository_id: RepositoryId, by: int, *, other_branch: bool = False) -> None:
    """The branch that is being read does not reach its head any more, as job number `by` found: it is fetched anew, and
    its commits are looked through again. Of another branch the pull requests are, too."""
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
    """The pull requests of those of these commits that one is remembered for."""
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
