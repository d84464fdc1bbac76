"""Where SQLite and PostgreSQL differ: inserts that meet their like, and locks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

Row = Mapping[str, Any]
AnyInsert = postgresql.Insert | sqlite.Insert


def is_postgresql(conn: AsyncConnection) -> bool:
    return conn.dialect.name == "postgresql"


def insert_into(conn: AsyncConnection, table: Table) -> Any:
    """An insert that knows ON CONFLICT. Both dialects spell it alike, yet share no base class: hence Any."""
    return postgresql.insert(table) if is_postgresql(conn) else sqlite.insert(table)


async def upsert(conn: AsyncConnection, table: Table, rows: Iterable[Row], *, keep: Sequence[str] = ()) -> None:
    """Insert the rows, or bring those with the same primary key up to date, but for the columns named in `keep`.

    Every row has the same columns. Rows go in the order of their key: unsorted batches of two processes deadlock.
    """
    key = [column.name for column in table.primary_key]
    ordered = sorted(rows, key=lambda row: tuple(row[name] for name in key))
    if not ordered:
        return
    statement = insert_into(conn, table)
    changed = {name: statement.excluded[name] for name in ordered[0] if name not in key and name not in keep}
    if changed:
        statement = statement.on_conflict_do_update(index_elements=key, set_=changed)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=key)
    await conn.execute(statement, [dict(row) for row in ordered])


async def insert_absent(conn: AsyncConnection, table: Table, rows: Iterable[Row]) -> None:
    """Insert the rows that are not there yet, whatever unique key says so."""
    given = [dict(row) for row in rows]
    if given:
        await conn.execute(insert_into(conn, table).on_conflict_do_nothing(), given)
