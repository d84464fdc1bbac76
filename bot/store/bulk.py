"""How many rows go in with one statement, past SQLAlchemy, which would compile one as long as the batch."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, LargeBinary, Table
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.border import LARGEST, SMALLEST, canonical_json, clean_text, whole_number
from bot.store.columns import Instant, Json, Spelt, Whole, Words, instant_text
from bot.store.statements import SLICE, Insert, Names, Row, Upsert, arrays_of, many_arrays, many_values, tail_of
from bot.store.turn import SQLITE, Ask, Plan, Rows, Say, Spelling, run, spelling_of

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
    insert = _insert(table, columns)
    clean = cleaned(spelling, insert, rows)
    if returning:
        return (yield from returned(spelling, insert, clean, returning))
    if clean:
        yield insert.told(spelling, clean)
    return []


def returned(spelling: Spelling, into: Insert, rows: Sequence[Row], returning: Names) -> Plan[list[Row]]:
    """Insert rows that are past the border; `returning` of each one inserted."""
    found: Rows = []
    for at in range(0, len(rows), SLICE):
        some = rows[at : at + SLICE]
        if spelling.is_postgresql:
            found += yield Ask(many_arrays(into.table, into.columns, tail_of(returning)), arrays_of(some))
        else:
            text = many_values(into.table, into.columns, tail_of(returning), len(some))
            found += yield Ask(text, list(itertools.chain.from_iterable(some)))
    return found


def inserting_quietly(table: Table, columns: Names, rows: Sequence[Row]) -> Plan[None]:
    """The same on SQLite without a word of which: each statement is one step for all its rows, not one a row."""
    for at in range(0, len(rows), SLICE):
        some = cleaned(SQLITE, _insert(table, columns), rows[at : at + SLICE])
        yield Say(many_values(table, columns, tail_of(()), len(some)), list(itertools.chain.from_iterable(some)))


def upserting(
    spelling: Spelling, table: Table, columns: Names, rows: Sequence[Row], *, keep: Names = (), rising: Names = ()
) -> Plan[None]:
    """Insert the rows, or bring those of the same primary key up to date: see `Upsert`."""
    if rows:
        upsert = _upsert(table, columns, keep, rising)
        yield upsert.told(spelling, cleaned(spelling, upsert, rows))


@functools.cache
def _upsert(table: Table, columns: Names, keep: Names, rising: Names) -> Upsert:
    return Upsert(table, columns, keep=keep, rising=rising)


@functools.cache
def _insert(table: Table, columns: Names) -> Insert:
    return Insert(table, columns)


def cleaned(spelling: Spelling, into: Insert, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows, past the border. Of many, a column is looked at as a whole: nearly all may go in as they are."""
    cleaners = _cleaners(into, spelling.dialect)
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
def _cleaners(into: Insert, dialect: str) -> tuple[Callable[[Any], Any], ...]:
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
    return tuple(by_type[type(into.table.columns[name].type)] for name in into.columns)


def _json_text(value: object) -> str:
    return value if type(value) is Spelt else canonical_json(value)


def _same_moment(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment without its zone")
    return moment
