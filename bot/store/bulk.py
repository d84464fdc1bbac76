"""How many rows go in with one statement, past SQLAlchemy, which would compile one as long as the batch."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Boolean, LargeBinary, Table
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.arrays import array_text
from bot.store.border import LARGEST, SMALLEST, canonical_json, clean_text, whole_number
from bot.store.columns import Instant, Json, Spelt, Whole, Words, instant_text
from bot.store.turn import SQLITE, Ask, Plan, Rows, Say, Spelling, Tell, run, spelling_of

Row = tuple[Any, ...]
Names = tuple[str, ...]

_ARRAYS = {
    Words: "text",
    Json: "text",
    Whole: "bigint",
    Instant: "timestamptz",
    LargeBinary: "bytea",
    Boolean: "boolean",
}
_SLICE = 1000
"""rows in one statement; SQLite allows 32,766 values"""
_FEW = 8
"""rows that are looked at value by value"""


async def insert_new(
    conn: AsyncConnection, table: Table, columns: Names, rows: Sequence[Row], *, returning: Names
) -> list[Row]:
    """Insert the rows that no unique key forbids, in the caller's transaction; `returning` of each one inserted.

    Moments come back as the driver gives them: text on SQLite.
    """
    if not rows:
        return []
    spelling = spelling_of(conn)
    return await run(conn, inserting(spelling, table, columns, rows, returning=returning))


def inserting(
    spelling: Spelling, table: Table, columns: Names, rows: Sequence[Row], *, returning: Names = ()
) -> Plan[list[Row]]:
    """The plan of `insert_new`; without `returning` it gives nothing."""
    return (yield from inserting_clean(spelling, table, columns, _cleaned(spelling, table, columns, rows), returning))


def inserting_clean(
    spelling: Spelling, table: Table, columns: Names, rows: Sequence[Row], returning: Names = ()
) -> Plan[list[Row]]:
    """The same of rows that are past the border: whose values are what the database is to hold."""
    tail = _tail(returning)
    if not returning:
        yield from _saying(spelling, table, columns, rows, tail)
        return []
    found: Rows = []
    for at in range(0, len(rows), _SLICE):
        some = rows[at : at + _SLICE]
        if spelling.is_postgresql:
            found += yield Ask(_unnest(table, columns, tail), _arrays(some))
        else:
            found += yield Ask(_values(table, columns, tail, len(some)), list(itertools.chain.from_iterable(some)))
    return found


def inserting_quietly(table: Table, columns: Names, rows: Sequence[Row]) -> Plan[None]:
    """The same on SQLite without a word of which: each statement is one step for all its rows, not one a row."""
    for at in range(0, len(rows), _SLICE):
        some = _cleaned(SQLITE, table, columns, rows[at : at + _SLICE])
        yield Say(_values(table, columns, _tail(()), len(some)), list(itertools.chain.from_iterable(some)))


def upserting(
    spelling: Spelling, table: Table, columns: Names, rows: Sequence[Row], *, keep: Names = (), rising: Names = ()
) -> Plan[None]:
    """Insert the rows, or bring those of the same primary key up to date but for the columns in `keep`.

    A row whose columns `rising` (numbers, then words) would fall stays as it is. No two rows have the same key. They go
    in the order of their key: unsorted batches of two processes deadlock.
    """
    if rows:
        clean = _cleaned(spelling, table, columns, rows)
        yield from upserting_clean(spelling, Merge(table, columns, keep, rising), clean)


class Merge(NamedTuple):
    """How rows are brought up to date: see `upserting`."""

    table: Table
    columns: Names
    keep: Names = ()
    rising: Names = ()


def upserting_clean(spelling: Spelling, merge: Merge, rows: Sequence[Row]) -> Plan[None]:
    """`upserting` of rows that are past the border."""
    if rows:
        by_key, tail = _upsert(spelling, merge)
        in_order = sorted(rows, key=by_key) if len(rows) > 1 else rows
        yield from _saying(spelling, merge.table, merge.columns, in_order, tail)


def _saying(spelling: Spelling, table: Table, columns: Names, rows: Sequence[Row], tail: str) -> Plan[None]:
    for at in range(0, len(rows), _SLICE):
        some = rows[at : at + _SLICE]
        if spelling.is_postgresql:
            yield Say(_unnest(table, columns, tail), _arrays(some))
        else:
            yield Tell(_values(table, columns, tail, 1), some)


def _arrays(rows: Sequence[Row]) -> list[str]:
    return [array_text(column) for column in zip(*rows, strict=True)]


def _cleaned(spelling: Spelling, table: Table, columns: Names, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows, past the border. Of many, a column is looked at as a whole: nearly all may go in as they are."""
    cleaners = _cleaners(table, columns, spelling.dialect)
    if len(rows) > _FEW:
        doubtful = [
            not _is_clean(values, clean) for values, clean in zip(zip(*rows, strict=True), cleaners, strict=True)
        ]
        if not any(doubtful):
            return rows
        cleaners = tuple(clean if doubt else _as_it_is for clean, doubt in zip(cleaners, doubtful, strict=True))
    return [
        tuple([None if value is None else clean(value) for value, clean in zip(row, cleaners, strict=True)])
        for row in rows
    ]


def _as_it_is(value: object) -> object:
    return value


def _is_clean(values: Sequence[Any], clean: Callable[[Any], Any]) -> bool:
    """Whether a column of texts or numbers may go in as it is: most may, and all at once are told faster than each."""
    kinds = set(map(type, values))
    if clean is clean_text and kinds == {str}:
        text = "".join(values)
        return text.isascii() and "\0" not in text
    if clean is whole_number and kinds == {int}:
        return bool(min(values) >= SMALLEST and max(values) <= LARGEST)
    return clean is _json_text and kinds == {Spelt}


@functools.cache
def _cleaners(table: Table, columns: Names, dialect: str) -> tuple[Callable[[Any], Any], ...]:
    """What each value passes through at the border."""
    moment = _same_moment if dialect == "postgresql" else instant_text
    by_type: dict[type, Callable[[Any], Any]] = {
        Words: clean_text,
        Json: _json_text,
        Whole: whole_number,
        Instant: moment,
        LargeBinary: bytes,
        Boolean: bool,
    }
    return tuple(by_type[type(table.columns[name].type)] for name in columns)


def _json_text(value: object) -> str:
    return value if type(value) is Spelt else canonical_json(value)


def _same_moment(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment without its zone")
    return moment


# The statements are made of names that stand in this program, never of values from outside.


@functools.cache
def _unnest(table: Table, columns: Names, tail: str) -> str:
    arrays = ", ".join(f"?::{_ARRAYS[type(table.columns[name].type)]}[]" for name in columns)
    rows = f"SELECT * FROM unnest({arrays})"  # noqa: S608  # see above
    return f"{_head(table, columns)} {rows} {tail}"


@functools.lru_cache(maxsize=128)
def _values(table: Table, columns: Names, tail: str, number: int) -> str:
    marks = f"({', '.join('?' * len(columns))})"
    return f"{_head(table, columns)} VALUES {', '.join([marks] * number)} {tail}"


def _head(table: Table, columns: Names) -> str:
    return f"INSERT INTO {table.name} ({', '.join(columns)})"


@functools.cache
def _tail(returning: Names) -> str:
    return "ON CONFLICT DO NOTHING" + (f" RETURNING {', '.join(returning)}" if returning else "")


@functools.cache
def _upsert(spelling: Spelling, merge: Merge) -> tuple[Callable[[Row], Any], str]:
    """How the rows are sorted, and what becomes of those that stand."""
    table, columns, keep, rising = merge
    key = tuple(column.name for column in table.primary_key)
    changed = tuple(name for name in columns if name not in key and name not in keep)
    tail = _merge(spelling, table, key, changed) + _not_older(spelling, table, rising)
    return operator.itemgetter(*(columns.index(name) for name in key)), tail


@functools.cache
def _merge(spelling: Spelling, table: Table, key: Names, changed: Names) -> str:
    """What is equal already is not written: a row that is seen again and again would be copied each time."""
    if not changed:
        return f"ON CONFLICT ({', '.join(key)}) DO NOTHING"
    differs = " IS DISTINCT FROM " if spelling.is_postgresql else " IS NOT "
    news = " OR ".join(f"{table.name}.{name}{differs}excluded.{name}" for name in changed)
    return (
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in changed)}"
        f" WHERE ({news})"
    )


@functools.cache
def _not_older(spelling: Spelling, table: Table, rising: Names) -> str:
    """Both databases compare rows from the left; words by code points, whatever the server's language."""
    if not rising:
        return ""
    words = ' COLLATE "C"' if spelling.is_postgresql else ""
    orders = {name: words if isinstance(table.columns[name].type, Words) else "" for name in rising}
    new = ", ".join(f"excluded.{name}{order}" for name, order in orders.items())
    old = ", ".join(f"{table.name}.{name}{order}" for name, order in orders.items())
    return f" AND ({new}) >= ({old})"
