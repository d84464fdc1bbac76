"""Have the files that configure a repository's metrics been read, and are they unchanged since?

A row means yes; whatever may have changed one of the files deletes it. The texts of the configuration are in
`bot/store/configurations.py`, with their problems; here is `.gitattributes`, which has none.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, Connection, ForeignKey, Table, delete, func, select

from bot.model.ids import RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.inserts import upsert
from bot.store.installations import REPOSITORY

RULES_READ = Table(
    "rules_read",
    METADATA,
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True, autoincrement=False),
    Column("attributes", CleanText, nullable=False),
    Column("read_at", Instant, nullable=False),
)


def read(connection: Connection, repository: RepositoryId) -> tuple[str, datetime] | None:
    """(the text of `.gitattributes`, when all files were read); None if they must be read."""
    mine = RULES_READ.c.repository_id == repository
    row = connection.execute(select(RULES_READ).where(mine)).one_or_none()
    return None if row is None else (row.attributes, row.read_at)


def keep(connection: Connection, repository: RepositoryId, attributes: str, *, now: datetime) -> None:
    upsert(connection, RULES_READ, [{"repository_id": repository, "attributes": attributes, "read_at": now}])


def forget(connection: Connection, repository: RepositoryId) -> None:
    """One of the files may have changed: the next landing reads them all."""
    connection.execute(delete(RULES_READ).where(RULES_READ.c.repository_id == repository))


def forget_of_owner(connection: Connection, owner: str) -> None:
    """The file shared by an account's repositories may have changed."""
    theirs = select(REPOSITORY.c.id).where(
        func.lower(REPOSITORY.c.full_name).startswith(f"{owner.lower()}/", autoescape=True)
    )
    connection.execute(delete(RULES_READ).where(RULES_READ.c.repository_id.in_(theirs)))
