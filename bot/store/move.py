"""How is everything copied to another, empty database, and verified to be equal there?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Connection, Table, Text, column, func, insert, select, text, type_coerce

from bot.store.columns import Json, WholeNumber
from bot.store.dialect import STREAMED, is_postgresql
from bot.store.dump import dump_hash
from bot.store.engine import Store
from bot.store.migrate import is_current, migrate
from bot.store.schema import TABLES


class MoveError(Exception):
    """The move is impossible and nothing was changed; the text says what to do."""


class Moved(Struct, frozen=True):
    """What was copied: rows by table, and the SHA-256 of the canonical dump, equal on both sides."""

    rows: dict[str, int]
    sha256: str


async def move_all(source: Store, target: Store, report: Callable[[str], None] = lambda _: None) -> Moved:
    """Copy every row in one transaction, which is committed only if counts and contents are equal on both sides.

    Rows are copied in batches, so memory does not grow with the database. Raises MoveError if the target is not empty.
    """
    if not await is_current(source):
        raise MoveError("the source's tables are another version's; run almanac migrate first")
    await migrate(target)
    return await asyncio.to_thread(_copy_all, source, target, report)


def _copy_all(source: Store, target: Store, report: Callable[[str], None]) -> Moved:
    with source.snapshot() as source_connection, target.transaction() as target_connection:
        _must_be_empty(target_connection)
        rows: dict[str, int] = {}
        for table in TABLES:
            rows[table.name] = _copy(source_connection, target_connection, table)
            report(f"{table.name}: {rows[table.name]} rows")
        _number_on(target_connection)
        counted = {table.name: _count(target_connection, table) for table in TABLES}
        before, after = dump_hash(source_connection, TABLES), dump_hash(target_connection, TABLES)
        if counted != rows or before != after:
            raise MoveError("the copy differs from the original; nothing was kept of it")
    return Moved(rows, after)


def _must_be_empty(connection: Connection) -> None:
    filled = [table.name for table in TABLES if _count(connection, table)]
    if filled:
        raise MoveError(f"the target holds rows already ({', '.join(filled)}); name an empty database")


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def _copy(source_conn: Connection, target_conn: Connection, table: Table) -> int:
    """Copy one table; return the number of rows. JSON is copied as text."""
    # Columns without their table's types, which would encode the text as JSON again.
    plain = Table(table.name, type(table.metadata)(), *(_as_text(one) for one in table.columns))
    query = select(*(type_coerce(one, Text) if isinstance(one.type, Json) else one for one in table.columns))
    number = 0
    for batch in source_conn.execute(query.execution_options(yield_per=STREAMED)).partitions():
        target_conn.execute(insert(plain), [dict(zip(table.columns.keys(), row, strict=True)) for row in batch])
        number += len(batch)
    return number


def _as_text(one: Column[Any]) -> Column[Any]:
    return Column(one.name, Text if isinstance(one.type, Json) else one.type)


def _number_on(connection: Connection) -> None:
    """Advance PostgreSQL's sequences, which do not notice rows that were inserted with a number."""
    if not is_postgresql(connection):
        return
    for table in _numbered(TABLES):
        name = table.name
        last = select(func.max(column("id"))).select_from(text(name)).scalar_subquery()
        connection.execute(select(func.setval(func.pg_get_serial_sequence(name, "id"), func.coalesce(last, 1))))


def _numbered(tables: Sequence[Table]) -> list[Table]:
    """The tables whose rows the database numbers."""
    return [
        table
        for table in tables
        if "id" in table.columns
        and isinstance(table.c.id.type, WholeNumber)
        and table.autoincrement_column is table.c.id
    ]
