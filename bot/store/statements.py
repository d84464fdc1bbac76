"""How is an insert of rows spelt on each of the two databases, and what becomes of rows that meet their like?

Each is spelt once and kept; it is made of names that stand in this program, never of values from outside.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Boolean, LargeBinary, Table

from bot.store.arrays import array_text
from bot.store.columns import Instant, Json, Whole, Words
from bot.store.turn import Said, Say, Spelling, Tell

Row = tuple[Any, ...]
Names = tuple[str, ...]
SLICE = 1000
"""rows in one statement; SQLite allows 32,766 values"""

_ARRAYS = {
    Words: "text",
    Json: "text",
    Whole: "bigint",
    Instant: "timestamptz",
    LargeBinary: "bytea",
    Boolean: "boolean",
}


class Insert:
    """Rows of these columns into a table; those that a unique key forbids are left out."""

    def __init__(self, table: Table, columns: Names) -> None:
        self.table, self.columns = table, columns
        self._texts: dict[bool, str] = {}

    def told(self, spelling: Spelling, rows: Sequence[Row]) -> list[Said]:
        """What brings rows there whose values are past the border: they go in as they are."""
        if not rows:
            return []
        on = spelling.is_postgresql
        text = self._texts.get(on) or self._texts.setdefault(on, self._spelt(spelling))
        if on:
            return [Say(text, arrays_of(rows[at : at + SLICE])) for at in range(0, len(rows), SLICE)]
        return [Tell(text, rows)]

    def _spelt(self, spelling: Spelling) -> str:
        spell = many_arrays if spelling.is_postgresql else many_values
        return spell(self.table, self.columns, self._tail(spelling))

    def _tail(self, spelling: Spelling) -> str:
        return tail_of(())


class Upsert(Insert):
    """The same, where rows that stand are brought up to date, but for the columns in `keep`.

    What is equal already is not written: a row that is seen again and again would be copied each time. A row whose
    columns `rising` (numbers, then words) would fall stays as it is. No two rows have the same key. They go in the
    order of their key: unsorted batches of two processes deadlock.
    """

    def __init__(self, table: Table, columns: Names, *, keep: Names = (), rising: Names = ()) -> None:
        super().__init__(table, columns)
        self._keep, self._rising = keep, rising
        self._key = tuple(column.name for column in table.primary_key)
        self._by_key: Callable[[Row], Any] = operator.itemgetter(*map(columns.index, self._key))

    def told(self, spelling: Spelling, rows: Sequence[Row]) -> list[Said]:
        return super().told(spelling, sorted(rows, key=self._by_key) if len(rows) > 1 else rows)

    def _tail(self, spelling: Spelling) -> str:
        changed = [name for name in self.columns if name not in self._key and name not in self._keep]
        met = f"ON CONFLICT ({', '.join(self._key)}) DO"
        if not changed:
            return f"{met} NOTHING"
        differs = " IS DISTINCT FROM " if spelling.is_postgresql else " IS NOT "
        news = " OR ".join(f"{self.table.name}.{name}{differs}excluded.{name}" for name in changed)
        update = ", ".join(f"{name} = excluded.{name}" for name in changed)
        return f"{met} UPDATE SET {update} WHERE ({news})" + self._not_older(spelling)

    def _not_older(self, spelling: Spelling) -> str:
        """Both databases compare rows from the left; words by code points, whatever the server's language."""
        if not self._rising:
            return ""
        words = ' COLLATE "C"' if spelling.is_postgresql else ""
        orders = {name: words if isinstance(self.table.columns[name].type, Words) else "" for name in self._rising}
        new = ", ".join(f"excluded.{name}{order}" for name, order in orders.items())
        old = ", ".join(f"{self.table.name}.{name}{order}" for name, order in orders.items())
        return f" AND ({new}) >= ({old})"


def arrays_of(rows: Sequence[Row]) -> list[str]:
    return [array_text(column) for column in zip(*rows, strict=True)]


@functools.cache
def many_arrays(table: Table, columns: Names, tail: str) -> str:
    """Any number of rows, an array a column: PostgreSQL's way."""
    arrays = ", ".join(f"?::{_ARRAYS[type(table.columns[name].type)]}[]" for name in columns)
    rows = f"SELECT * FROM unnest({arrays})"  # noqa: S608  # see above
    return f"{_head(table, columns)} {rows} {tail}"


@functools.lru_cache(maxsize=128)
def many_values(table: Table, columns: Names, tail: str, number: int = 1) -> str:
    """A number of rows, value by value."""
    marks = f"({', '.join('?' * len(columns))})"
    return f"{_head(table, columns)} VALUES {', '.join([marks] * number)} {tail}"


def _head(table: Table, columns: Names) -> str:
    return f"INSERT INTO {table.name} ({', '.join(columns)})"


@functools.cache
def tail_of(returning: Names) -> str:
    return "ON CONFLICT DO NOTHING" + (f" RETURNING {', '.join(returning)}" if returning else "")
