"""What did GitHub report about pull requests? Read once and kept for ever, because a merged one never changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from sqlalchemy import Column, Connection, ForeignKey, Index, Table, select

from bot.model.ids import CommitId, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber
from bot.store.inserts import upsert
from bot.store.installations import REPOSITORY

PULL_REQUEST = Table(
    "pull_request",
    METADATA,
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True),
    Column("number", WholeNumber, primary_key=True, autoincrement=False),
    Column("head_id", CleanText, nullable=False),
    Column("merge_commit", CleanText),
    Column("merged_at", Instant),
    Column("closed_at", Instant),
    Column("read_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    Column("size", WholeNumber),
    Index(None, "repository_id", "merge_commit"),
)


class PullRequestRow(Struct, frozen=True):
    """One pull request as read at `read_at`; `payload` is the reader's own slim JSON."""

    repository_id: RepositoryId
    number: int
    head_id: CommitId
    read_at: datetime
    merge_commit: CommitId | None = None
    merged_at: datetime | None = None
    closed_at: datetime | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    size: int | None = None
    """its own commits, if known: distinguishes a rebase of several from a squash"""


def save_pull_request(connection: Connection, pull: PullRequestRow) -> None:
    """Save the latest version."""
    upsert(connection, PULL_REQUEST, [{name: getattr(pull, name) for name in pull.__struct_fields__}])


def read(connection: Connection, repository_id: RepositoryId, number: int) -> PullRequestRow | None:
    same = (PULL_REQUEST.c.repository_id == repository_id) & (PULL_REQUEST.c.number == number)
    row = connection.execute(select(PULL_REQUEST).where(same)).mappings().one_or_none()
    return None if row is None else PullRequestRow(**row)


def row_merged_as(connection: Connection, repository_id: RepositoryId, commit: CommitId) -> PullRequestRow | None:
    """The pull request that GitHub says landed as this commit; the lowest number if there are several."""
    same = (PULL_REQUEST.c.repository_id == repository_id) & (PULL_REQUEST.c.merge_commit == commit)
    query = select(PULL_REQUEST).where(same).order_by(PULL_REQUEST.c.number).limit(1)
    row = connection.execute(query).mappings().first()
    return None if row is None else PullRequestRow(**row)


def rows_by_number(
    connection: Connection, repository_id: RepositoryId, numbers: Sequence[int]
) -> dict[int, PullRequestRow]:
    """The stored pull requests with these numbers, by number."""
    same = (PULL_REQUEST.c.repository_id == repository_id) & PULL_REQUEST.c.number.in_(numbers)
    rows = connection.execute(select(PULL_REQUEST).where(same)).mappings()
    return {row["number"]: PullRequestRow(**row) for row in rows}


def rows_merged_as(
    connection: Connection, repository_id: RepositoryId, commits: Sequence[CommitId]
) -> dict[CommitId, PullRequestRow]:
    """`row_merged_as` for many commits at once."""
    same = (PULL_REQUEST.c.repository_id == repository_id) & PULL_REQUEST.c.merge_commit.in_(commits)
    rows = connection.execute(select(PULL_REQUEST).where(same).order_by(PULL_REQUEST.c.number.desc())).mappings()
    return {row["merge_commit"]: PullRequestRow(**row) for row in rows}
