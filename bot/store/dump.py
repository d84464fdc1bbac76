"""Do two stores hold the same record? Its canonical text is equal on both databases, and so is the text's hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, Table, Text, collate, select

from bot.store.border import canonical_json
from bot.store.columns import Json
from bot.store.dialect import STREAMED, is_postgresql
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
"""row numbers of one database, columns about when and how the bot read instead of what it read, and unused columns"""


async def canonical_dump(store: Store, tables: Sequence[Table] = RECORD) -> str:
    """SHA-256 (hex) of the canonical lines: equal for stores that hold the same record."""
    return await store.read(dump_hash, tables)


def dump_hash(connection: Connection, tables: Sequence[Table]) -> str:
    """The same hash for what one transaction sees."""
    seen = hashlib.sha256()
    for line in dump_lines(connection, tables):
        seen.update(line.encode() + b"\n")
    return seen.hexdigest()


def dump_lines(connection: Connection, tables: Sequence[Table] = RECORD) -> Iterator[str]:
    """One JSON array per row: the table's name, then its columns; sorted, and read in batches."""
    for table in tables:
        for row in connection.execute(_query(connection, table).execution_options(yield_per=STREAMED)):
            yield canonical_json([table.name, *(_plain(value) for value in row)])


def _query(connection: Connection, table: Table) -> Select[Any]:
    """Every column that is part of the record, ordered by the primary key or by what replaces it."""
    left_out = LEFT_OUT.get(table.name, set())
    own = [column for column in table.columns if column.name not in left_out]
    key: list[Any] = list(table.primary_key.columns)
    query = select(*own)
    if table is FACT:
        key = [FACT.c.repository_id, FACT.c.commit_id]
    elif "fact_id" in table.columns:
        # The row number of a fact differs between databases, so its repository and commit replace it.
        key = [FACT.c.repository_id, FACT.c.commit_id, *(column for column in key if column.name != "fact_id")]
        query = select(*key).select_from(table.join(FACT, FACT.c.id == table.c.fact_id))
    return query.order_by(*(_by_bytes(connection, column) for column in key))


def _by_bytes(connection: Connection, column: Any) -> Any:
    """The column sorted by code points on both databases, whatever the server's locale."""
    is_text = isinstance(getattr(column.type, "impl", column.type), Text) and not isinstance(column.type, Json)
    return collate(column, "C") if is_text and is_postgresql(connection) else column


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return bool(value) if isinstance(value, bool) else value
