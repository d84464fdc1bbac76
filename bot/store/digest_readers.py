"""May every reader of a private digest repository read what its digests tell of another private repository?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Boolean, Column, Connection, Index, Table, delete, select

from bot.model.ids import RepositoryId
from bot.store.columns import METADATA, Instant, WholeNumber
from bot.store.inserts import upsert

DIGEST_READERS = Table(
    "digest_readers",
    METADATA,
    Column("home_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("allowed", Boolean(create_constraint=False), nullable=False),
    Column("checked_at", Instant, nullable=False),
    Index(None, "repository_id"),
)


def may_all_read(connection: Connection, home: int, repository: int) -> bool:
    """The last answer; False if GitHub was never asked."""
    same = (DIGEST_READERS.c.home_id == home) & (DIGEST_READERS.c.repository_id == repository)
    return bool(connection.execute(select(DIGEST_READERS.c.allowed).where(same)).scalar())


def last_checks(connection: Connection, home: int) -> dict[RepositoryId, tuple[bool, datetime]]:
    """The last answers about this digest repository, and when GitHub gave them, by repository."""
    rows = connection.execute(select(DIGEST_READERS).where(DIGEST_READERS.c.home_id == home))
    return {RepositoryId(row.repository_id): (row.allowed, row.checked_at) for row in rows}


def save_checks(connection: Connection, home: int, answers: Mapping[RepositoryId, bool], now: datetime) -> None:
    """Store GitHub's answers about these repositories."""
    rows = [
        {"home_id": home, "repository_id": one, "allowed": allowed, "checked_at": now}
        for one, allowed in sorted(answers.items())
    ]
    upsert(connection, DIGEST_READERS, rows)


def forget_checks_before(connection: Connection, home: int, before: datetime) -> None:
    """Delete the answers about this digest repository that nobody has asked for again since then."""
    old = (DIGEST_READERS.c.home_id == home) & (DIGEST_READERS.c.checked_at < before)
    connection.execute(delete(DIGEST_READERS).where(old))
