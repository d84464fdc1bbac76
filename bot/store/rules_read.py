"""Are the files that rule a repository's metrics read, and unchanged since?

A row says so; whatever may have changed one of the files deletes it. The texts of the configuration itself lie in
`bot/store/configurations.py`, which knows what was wrong with them; here is `.gitattributes`, which has no problems.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Table, delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import RepositoryId
from bot.store.columns import METADATA, Instant, Whole, Words
from bot.store.dialect import upsert
from bot.store.installations import REPOSITORY

RULES_READ = Table(
    "rules_read",
    METADATA,
    Column("repository_id", Whole, ForeignKey(REPOSITORY.c.id), primary_key=True, autoincrement=False),
    Column("attributes", Words, nullable=False),
    Column("read_at", Instant, nullable=False),
)


async def read(conn: AsyncConnection, repository: RepositoryId) -> tuple[str, datetime] | None:
    """(the text of `.gitattributes`, when all files were read); None where they have to be read."""
    mine = RULES_READ.c.repository_id == repository
    row = (await conn.execute(select(RULES_READ).where(mine))).one_or_none()
    return None if row is None else (row.attributes, row.read_at)


async def keep(conn: AsyncConnection, repository: RepositoryId, attributes: str, *, now: datetime) -> None:
    await upsert(conn, RULES_READ, [{"repository_id": repository, "attributes": attributes, "read_at": now}])


async def forget(conn: AsyncConnection, repository: RepositoryId) -> None:
    """One of the files may be another: the next landing reads them all."""
    await conn.execute(delete(RULES_READ).where(RULES_READ.c.repository_id == repository))


async def forget_of_owner(conn: AsyncConnection, owner: str) -> None:
    """The file that an account's repositories share may be another."""
    theirs = select(REPOSITORY.c.id).where(
        func.lower(REPOSITORY.c.full_name).startswith(f"{owner.lower()}/", autoescape=True)
    )
    await conn.execute(delete(RULES_READ).where(RULES_READ.c.repository_id.in_(theirs)))
