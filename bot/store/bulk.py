"""How many rows go in with one statement, past SQLAlchemy, which would compile one as long as the batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import LargeBinary, Table
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.border import clean_text, whole_number
from bot.store.columns import Instant, Whole, Words, instant_text
from bot.store.dialect import is_postgresql

Row = tuple[Any, ...]
Names = tuple[str, ...]

_ARRAYS = {Words: "text", Whole: "bigint", Instant: "timestamptz", LargeBinary: "bytea"}
_SLICE = 1000
"""rows in one statement; SQLite allows 32,766 values"""


async def insert_new(
    conn: AsyncConnection, table: Table, columns: Names, rows: Sequence[Row], *, returning: Names
) -> list[Row]:
    """Insert the rows that no unique key forbids, in the caller's transaction; `returning` of each one inserted.

    Moments come back as the driver gives them: text on SQLite.
    """
    if not rows:
        return []
    driver: Any = (await conn.get_raw_connection()).driver_connection
    found: list[Row] = []
    for at in range(0, len(rows), _SLICE):
        some = [list(column) for column in zip(*rows[at : at + _SLICE], strict=True)]
        for values, clean in zip(some, _cleaners(table, columns, conn.dialect.name), strict=True):
            values[:] = [None if value is None else clean(value) for value in values]
        if is_postgresql(conn):
            cursor = await driver.execute(_unnest(table, columns, returning), some)
            found += await cursor.fetchall()
        else:
            flat = [value for row in zip(*some, strict=True) for value in row]
            found += await driver.execute_fetchall(_values(table, columns, returning, len(some[0])), flat)
    return found


@functools.cache
def _cleaners(table: Table, columns: Names, dialect: str) -> tuple[Callable[[Any], Any], ...]:
    """What each value passes through at the border."""
    moment = _same_moment if dialect == "postgresql" else instant_text
    by_type = {Words: clean_text, Whole: whole_number, Instant: moment, LargeBinary: bytes}
    return tuple(by_type[type(table.columns[name].type)] for name in columns)


def _same_moment(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment without its zone")
    return moment


# The statements are made of names that stand in this program, never of values from outside.


@functools.cache
def _unnest(table: Table, columns: Names, returning: Names) -> str:
    arrays = ", ".join(f"%s::{_ARRAYS[type(table.columns[name].type)]}[]" for name in columns)
    rows = f"SELECT * FROM unnest({arrays})"  # noqa: S608  # see above
    return f"{_head(table, columns)} {rows} {_tail(returning)}"


@functools.lru_cache(maxsize=128)
def _values(table: Table, columns: Names, returning: Names, number: int) -> str:
    marks = f"({', '.join('?' * len(columns))})"
    return f"{_head(table, columns)} VALUES {', '.join([marks] * number)} {_tail(returning)}"


def _head(table: Table, columns: Names) -> str:
    return f"INSERT INTO {table.name} ({', '.join(columns)})"


def _tail(returning: Names) -> str:
    return f"ON CONFLICT DO NOTHING RETURNING {', '.join(returning)}"
