"""Where SQLite and PostgreSQL differ: inserts that meet their like, and locks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.bulk import inserting, upserting
from bot.store.turn import run, spelling_of

Row = Mapping[str, Any]
_AT_ONCE = 500
"""values that one statement names"""


def is_postgresql(conn: AsyncConnection) -> bool:
    return conn.dialect.name == "postgresql"


def among(column: ColumnElement[Any], values: Sequence[Any]) -> Iterator[ColumnElement[bool]]:
    """Conditions one of which holds for each of these values: no statement takes any number of them."""
    for at in range(0, len(values), _AT_ONCE):
        yield column.in_(values[at : at + _AT_ONCE])


def insert_into(conn: AsyncConnection, table: Table) -> Any:
    """An insert that knows ON CONFLICT. Both dialects spell it alike, yet share no base class: hence Any."""
    return postgresql.insert(table) if is_postgresql(conn) else sqlite.insert(table)


async def upsert(conn: AsyncConnection, table: Table, rows: Iterable[Row], *, keep: Sequence[str] = ()) -> None:
    """Insert the rows, or bring those with the same primary key up to date, but for the columns named in `keep`.

    Every row has the same columns; of rows with one key the last counts.
    """
    key = [column.name for column in table.primary_key]
    given = {tuple(row[name] for name in key): row for row in rows}
    if given:
        columns = tuple(next(iter(given.values())))
        values = [tuple(row[name] for name in columns) for row in given.values()]
        await run(conn, upserting(spelling_of(conn), table, columns, values, keep=tuple(keep)))


async def insert_absent(conn: AsyncConnection, table: Table, rows: Iterable[Row]) -> None:
    """Insert the rows that are not there yet, whatever unique key says so."""
    given = list(rows)
    if given:
        columns = tuple(given[0])
        values = [tuple(row[name] for name in columns) for row in given]
        await run(conn, inserting(spelling_of(conn), table, columns, values))
