"""How are many rows inserted with one statement, and what happens to rows that exist already?

The statements bypass SQLAlchemy, which would compile a statement as long as the batch. They are built only from names
in this program, never from outside values, and each is built once.
"""

from __future__ import annotations

import functools
import itertools
import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Connection, LargeBinary, Table

from bot.store.arrays import array_text
from bot.store.border import LARGEST, SMALLEST, canonical_json, clean_text, whole_number
from bot.store.columns import CleanText, EncodedJson, Instant, Json, WholeNumber, instant_text
from bot.store.dialect import Row, execute, execute_many, fetch, is_postgresql

Names = tuple[str, ...]
SLICE = 1000
"""rows in one statement; SQLite allows 32,766 values"""
_FEW = 8
"""up to this many rows are checked value by value"""
_ARRAYS = {
    CleanText: "text",
    Json: "text",
    WholeNumber: "bigint",
    Instant: "timestamptz",
    LargeBinary: "bytea",
    Boolean: "boolean",
}


class Insert:
    """Inserts rows of these columns into a table; rows that violate a unique key are skipped."""

    def __init__(self, table: Table, columns: Names) -> None:
        self.table, self.columns = table, columns
        self._on_conflict = {is_postgresql: self._conflict(is_postgresql) for is_postgresql in (False, True)}

    def run(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Insert rows whose values are clean already, unchanged."""
        if is_postgresql(connection):
            self.run_in_one_step(connection, rows)
        elif rows:
            execute_many(connection, _values(self.table, self.columns, self._on_conflict[False], 1), rows)

    def run_in_one_step(self, connection: Connection, rows: Sequence[Row]) -> None:
        """The same with one statement for all rows on SQLite, too.

        It releases Python's lock once instead of for each row: with a busy event loop, each release costs more than the
        rows.
        """
        self._in_slices(connection, rows, self._on_conflict[is_postgresql(connection)])

    def run_returning(self, connection: Connection, rows: Sequence[Row], returning: Names) -> list[Row]:
        """The same; return `returning` of each inserted row, with moments as the driver gives them: text on SQLite."""
        return self._in_slices(connection, rows, f"ON CONFLICT DO NOTHING RETURNING {', '.join(returning)}", fetch)

    def _in_slices(
        self, connection: Connection, rows: Sequence[Row], tail: str, run: Callable[..., list[Row] | None] = execute
    ) -> list[Row]:
        found: list[Row] = []
        for at in range(0, len(rows), SLICE):
            some = rows[at : at + SLICE]
            if is_postgresql(connection):
                text, values = (
                    _arrays(self.table, self.columns, tail),
                    [array_text(one) for one in zip(*some, strict=True)],
                )
            else:
                text = _values(self.table, self.columns, tail, len(some))
                values = list(itertools.chain.from_iterable(some))
            found += run(connection, text, values) or ()
        return found

    def clean_rows(self, connection: Connection, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows as both databases store them. Large batches are checked by column: nearly all columns are clean."""
        cleaners = _cleaners(self, is_postgresql(connection))
        if len(rows) > _FEW:
            doubtful = [
                not _is_clean(values, clean) for values, clean in zip(zip(*rows, strict=True), cleaners, strict=True)
            ]
            if not any(doubtful):
                return rows
            cleaners = tuple(clean if doubt else _unchanged for clean, doubt in zip(cleaners, doubtful, strict=True))
        return [
            tuple([None if value is None else clean(value) for value, clean in zip(row, cleaners, strict=True)])
            for row in rows
        ]

    def _conflict(self, is_postgresql: bool) -> str:
        """The ON CONFLICT clause for a row that violates a unique key, on one of the two databases."""
        return "ON CONFLICT DO NOTHING"


class Upsert(Insert):
    """The same, but existing rows are updated, except for the columns in `keep`.

    Equal rows are not written: a row that is seen often would be copied each time. A row stays as it is if its columns
    `rising` (numbers, then words) would decrease. No two rows may have the same key. They are written in the order of
    their key: unsorted batches of two processes deadlock.
    """

    def __init__(self, table: Table, columns: Names, *, keep: Names = (), rising: Names = ()) -> None:
        self._keep, self._rising = keep, rising
        self._key = tuple(column.name for column in table.primary_key)
        self._by_key: Callable[[Row], Any] = operator.itemgetter(*map(columns.index, self._key))
        super().__init__(table, columns)

    def run(self, connection: Connection, rows: Sequence[Row]) -> None:
        super().run(connection, sorted(rows, key=self._by_key) if len(rows) > 1 else rows)

    def _conflict(self, is_postgresql: bool) -> str:
        changed = [name for name in self.columns if name not in self._key and name not in self._keep]
        conflict = f"ON CONFLICT ({', '.join(self._key)}) DO"
        if not changed:
            return f"{conflict} NOTHING"
        differs = " IS DISTINCT FROM " if is_postgresql else " IS NOT "
        news = " OR ".join(f"{self.table.name}.{name}{differs}excluded.{name}" for name in changed)
        update = ", ".join(f"{name} = excluded.{name}" for name in changed)
        return f"{conflict} UPDATE SET {update} WHERE ({news})" + self._not_older(is_postgresql)

    def _not_older(self, is_postgresql: bool) -> str:
        """Both databases compare rows from the left; text by code points, whatever the server's locale."""
        if not self._rising:
            return ""
        words = ' COLLATE "C"' if is_postgresql else ""
        orders = {name: words if isinstance(self.table.c[name].type, CleanText) else "" for name in self._rising}
        new = ", ".join(f"excluded.{name}{order}" for name, order in orders.items())
        old = ", ".join(f"{self.table.name}.{name}{order}" for name, order in orders.items())
        return f" AND ({new}) >= ({old})"


# --- rows of any table -----------------------------------------------------------------------------------------------


def insert_new(
    connection: Connection, table: Table, columns: Names, rows: Sequence[Row], *, returning: Names
) -> list[Row]:
    """Insert the rows that violate no unique key; return `returning` of each, see `Insert`."""
    into = _insert(table, columns)
    return into.run_returning(connection, into.clean_rows(connection, rows), returning)


def insert_in_one_step(connection: Connection, table: Table, columns: Names, rows: Sequence[Row]) -> None:
    """Insert the rows that violate no unique key, see `Insert.run_in_one_step`."""
    into = _insert(table, columns)
    into.run_in_one_step(connection, into.clean_rows(connection, rows))


def insert_new_keys(
    connection: Connection, table: Table, columns: Names, rows: Mapping[Row, Row], *, key: Names
) -> set[Row]:
    """Insert the rows that do not exist yet, given by the values of a unique key; return the keys of those inserted."""
    if is_postgresql(connection):
        return set(insert_new(connection, table, columns, list(rows.values()), returning=key))
    # Only one process writes the file, so a missing row cannot appear in between. One row returns all results, because
    # each row of a result releases Python's lock.
    same = " AND ".join(f"{name} = json_extract(value, '$[{at}]')" for at, name in enumerate(key))
    all_of_them = f"json_group_array(json_array({', '.join(key)}))"
    found = f"SELECT {all_of_them} FROM json_each(?) CROSS JOIN {table.name} WHERE {same}"  # noqa: S608  # names
    ((known,),) = fetch(connection, found, (json.dumps(list(rows)),))
    there = set(map(tuple, json.loads(known)))
    new = {one: row for one, row in rows.items() if one not in there}
    insert_in_one_step(connection, table, columns, list(new.values()))
    return set(new)


def upsert(
    connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]], *, keep: Sequence[str] = ()
) -> None:
    """Insert the rows, or update those with the same primary key, except for the columns named in `keep`.

    Every row has the same columns; of rows with the same key the last counts.
    """
    key = [column.name for column in table.primary_key]
    given = {tuple(row[name] for name in key): row for row in rows}
    if given:
        columns = tuple(next(iter(given.values())))
        into = _upsert(table, columns, tuple(keep))
        into.run(
            connection, into.clean_rows(connection, [tuple(row[name] for name in columns) for row in given.values()])
        )


def insert_absent(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows that do not exist yet by any unique key."""
    given = list(rows)
    if given:
        into = _insert(table, tuple(given[0]))
        into.run(connection, into.clean_rows(connection, [tuple(row[name] for name in into.columns) for row in given]))


@functools.cache
def _upsert(table: Table, columns: Names, keep: Names) -> Upsert:
    return Upsert(table, columns, keep=keep)


@functools.cache
def _insert(table: Table, columns: Names) -> Insert:
    return Insert(table, columns)


# --- texts of statements ---------------------------------------------------------------------------------------------


@functools.cache
def _arrays(table: Table, columns: Names, tail: str) -> str:
    """Any number of rows, one array per column, for PostgreSQL."""
    arrays = ", ".join(f"?::{_ARRAYS[type(table.columns[name].type)]}[]" for name in columns)
    rows = f"SELECT * FROM unnest({arrays})"  # noqa: S608  # see above
    return f"{_head(table, columns)} {rows} {tail}"


@functools.lru_cache(maxsize=128)
def _values(table: Table, columns: Names, tail: str, number: int) -> str:
    """A number of rows, value by value."""
    marks = f"({', '.join('?' * len(columns))})"
    return f"{_head(table, columns)} VALUES {', '.join([marks] * number)} {tail}"


def _head(table: Table, columns: Names) -> str:
    return f"INSERT INTO {table.name} ({', '.join(columns)})"


# --- clean values ----------------------------------------------------------------------------------------------------


def _unchanged(value: object) -> object:
    return value


def _is_clean(values: Sequence[Any], clean: Callable[[Any], Any]) -> bool:
    """Whether a column of texts or numbers is clean: most are, and one check of all is faster than one of each."""
    kinds = set(map(type, values))
    if clean is clean_text and kinds == {str}:
        text = "".join(values)
        return text.isascii() and "\0" not in text
    if clean is whole_number and kinds == {int}:
        return bool(min(values) >= SMALLEST and max(values) <= LARGEST)
    return clean is _json_text and kinds == {EncodedJson}


@functools.cache
def _cleaners(into: Insert, is_postgresql: bool) -> tuple[Callable[[Any], Any], ...]:
    """The cleaner of each column."""
    by_type: dict[type, Callable[[Any], Any]] = {
        CleanText: clean_text,
        Json: _json_text,
        WholeNumber: whole_number,
        Instant: _aware_moment if is_postgresql else instant_text,
        LargeBinary: bytes,
        Boolean: bool,
    }
    return tuple(by_type[type(into.table.columns[name].type)] for name in into.columns)


def _json_text(value: object) -> str:
    return value if type(value) is EncodedJson else canonical_json(value)


def _aware_moment(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment without its zone")
    return moment
