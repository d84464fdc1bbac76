"""Whether two stores hold the same record: its canonical text, equal on both databases, and the text's hash."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, Table, Text, collate, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.border import canonical_json
from bot.store.columns import Json
from bot.store.engine import Store
from bot.store.ledger import FACT
from bot.store.schema import RECORD
from bot.store.totals import UNUSED

LEFT_OUT = {
    "fact": {"id", "recorded_at"},
    "repository": {"seen_at"},
    "pull_request": {"read_at", "size"},
    "installation": {"created_at"},
    "digest": {"opened_at"},
    "totals": set(UNUSED),
}
"""row numbers of one database, what says when and how the bot looked rather than what it saw, and what
is written no longer"""


async def canonical_dump(store: Store, tables: Sequence[Table] = RECORD) -> str:
    """SHA-256 (hex) over the canonical lines: the same for stores that hold the same record."""
    async with store.read() as conn:
        return await dump_hash(conn, tables)


async def dump_hash(conn: AsyncConnection, tables: Sequence[Table]) -> str:
    """The same of what one transaction sees."""
    seen = hashlib.sha256()
    async for line in _lines(conn, tables):
        seen.update(line.encode() + b"\n")
    return seen.hexdigest()


async def dump_lines(store: Store, tables: Sequence[Table] = RECORD) -> AsyncIterator[str]:
    """One JSON array a row: the table's name, then its columns; sorted, streamed, read at one moment."""
    async with store.read() as conn:
        async for line in _lines(conn, tables):
            yield line


async def _lines(conn: AsyncConnection, tables: Sequence[Table]) -> AsyncIterator[str]:
    for table in tables:
        async with conn.stream(_query(conn, table)) as rows:
            async for row in rows:
                yield canonical_json([table.name, *(_plain(value) for value in row)])


def _query(conn: AsyncConnection, table: Table) -> Select[Any]:
    """Every column that is part of the record, in the order of the primary key or of what stands for it."""
    left_out = LEFT_OUT.get(table.name, set())
    own = [column for column in table.columns if column.name not in left_out]
    key: list[Any] = list(table.primary_key.columns)
    query = select(*own)
    if table is FACT:
        key = [FACT.c.repository_id, FACT.c.commit_id]
    elif "fact_id" in table.columns:
        # The row number of a fact differs between databases: its repository and commit stand for it.
        key = [FACT.c.repository_id, FACT.c.commit_id, *(column for column in key if column.name != "fact_id")]
        query = select(*key).select_from(table.join(FACT, FACT.c.id == table.c.fact_id))
    return query.order_by(*(_by_bytes(conn, column) for column in key))


def _by_bytes(conn: AsyncConnection, column: Any) -> Any:
    """Sorted by code points on both, whatever the server's language."""
    is_text = isinstance(getattr(column.type, "impl", column.type), Text) and not isinstance(column.type, Json)
    return collate(column, "C") if is_text and conn.dialect.name == "postgresql" else column


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return bool(value) if isinstance(value, bool) else value
