"""How does everything that is kept come into another, empty database, proved to be the same there?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Column, Table, Text, column, func, insert, select, text, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.store.columns import Json, Whole
from bot.store.dump import dump_hash
from bot.store.engine import Store
from bot.store.migrate import is_current, migrate
from bot.store.schema import TABLES

BATCH = 500
"""rows in memory at once"""


class MoveError(Exception):
    """The move cannot be made, and nothing was; the text says what to do."""


@frozen
class Moved:
    """What was copied: rows by table, and the SHA-256 of the canonical dump, equal on both sides."""

    rows: dict[str, int]
    sha256: str


async def move_all(source: Store, target: Store, told: Callable[[str], None] = lambda _: None) -> Moved:
    """Copy every row in one transaction, which is committed only where both sides count and read the same.

    Rows pass in batches, so memory does not grow with the record. Raises MoveError where the target holds anything.
    """
    if not await is_current(source):
        raise MoveError("the source's tables are another version's; run almanac migrate first")
    await migrate(target)
    async with source.read() as here, target.begin() as there:
        await _must_be_empty(there)
        rows: dict[str, int] = {}
        for table in TABLES:
            rows[table.name] = await _copy(here, there, table)
            told(f"{table.name}: {rows[table.name]} rows")
        await _number_on(there)
        counted = {table.name: await _count(there, table) for table in TABLES}
        before, after = await dump_hash(here, TABLES), await dump_hash(there, TABLES)
        if counted != rows or before != after:
            raise MoveError("the copy differs from the original; nothing was kept of it")
    return Moved(rows, after)


async def _must_be_empty(conn: AsyncConnection) -> None:
    filled = [table.name for table in TABLES if await _count(conn, table)]
    if filled:
        raise MoveError(f"the target holds rows already ({', '.join(filled)}); name an empty database")


async def _count(conn: AsyncConnection, table: Table) -> int:
    return int((await conn.execute(select(func.count()).select_from(table))).scalar_one())


async def _copy(here: AsyncConnection, there: AsyncConnection, table: Table) -> int:
    """Rows copied. JSON passes as the text it is."""
    # Columns without their table: its own types would turn the text into JSON once more.
    plain = Table(table.name, type(table.metadata)(), *(_as_text(one) for one in table.columns))
    query = select(*(type_coerce(one, Text) if isinstance(one.type, Json) else one for one in table.columns))
    number, batch = 0, []
    async with here.stream(query.execution_options(yield_per=BATCH)) as found:
        async for row in found:
            batch.append(dict(zip(table.columns.keys(), row, strict=True)))
            if len(batch) == BATCH:
                await there.execute(insert(plain), batch)
                number, batch = number + BATCH, []
    if batch:
        await there.execute(insert(plain), batch)
    return number + len(batch)


def _as_text(one: Column[Any]) -> Column[Any]:
    return Column(one.name, Text if isinstance(one.type, Json) else one.type)


async def _number_on(conn: AsyncConnection) -> None:
    """PostgreSQL numbers rows from a sequence of its own, which knows nothing of rows that brought their number."""
    if conn.dialect.name != "postgresql":
        return
    for table in _numbered(TABLES):
        name = table.name
        last = select(func.max(column("id"))).select_from(text(name)).scalar_subquery()
        await conn.execute(select(func.setval(func.pg_get_serial_sequence(name, "id"), func.coalesce(last, 1))))


def _numbered(tables: Sequence[Table]) -> list[Table]:
    """Those whose rows the database numbers."""
    return [
        table
        for table in tables
        if "id" in table.columns and isinstance(table.c.id.type, Whole) and table.autoincrement_column is table.c.id
    ]
