"""What do each person's months add up to? A cache of whole numbers that can be rebuilt from the ledger at any time.

Each number is a sum over changes, so a landing adds its own part and reads nothing else. Features and bug fixes must be
grouped, so readers of a month group them (docs/decisions/0080).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import Any

from sqlalchemy import Column, Connection, Table

from bot.model.fact import PARTS
from bot.model.ids import Month, PersonKey, RepositoryId
from bot.store.arrays import array_text
from bot.store.border import ordered_json
from bot.store.columns import METADATA, CleanText, Json, WholeNumber, counters, line_counters
from bot.store.dialect import Row, execute_many, fetch, is_postgresql
from bot.store.inserts import Upsert

COUNTERS = ("commits", "co_authored", "outcomes", "ai_declared", "ai_detected", "ai_unknown")
UNUSED = ("features", "bugs", "other")
"""columns that a process of an older version may still write; nothing reads them"""
TALLIES = ("languages", "skills", "tools", "days")

TOTALS = Table(
    "totals",
    METADATA,
    Column("person_key", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, primary_key=True),
    Column("month", CleanText, primary_key=True),
    *counters(*COUNTERS, *UNUSED),
    *line_counters(),
    *(Column(name, Json, nullable=False) for name in TALLIES),
)

Cell = tuple[PersonKey, RepositoryId, Month]


_NUMBERS: tuple[str, ...] = (*COUNTERS, *(f"lines_{part}" for part in PARTS))


class Sum:
    """What a cell holds or what is added to it: the counters, the parts of lines, and the tallies."""

    __slots__ = ("days", "languages", "numbers", "skills", "tools")

    def __init__(self, numbers: Iterable[int] = (0,) * len(_NUMBERS)) -> None:
        self.numbers = list(numbers)
        self.languages: dict[str, int] = {}
        self.skills: dict[str, int] = {}
        self.tools: dict[str, int] = {}
        self.days: dict[str, int] = {}

    def tallies(self) -> tuple[dict[str, int], ...]:
        """The tallies in the order of TALLIES."""
        return self.languages, self.skills, self.tools, self.days

    def add(self, numbers: Iterable[int]) -> None:
        """Add to each of the numbers."""
        self.numbers = list(map(add, self.numbers, numbers))

    def __iadd__(self, other: Sum) -> Sum:
        self.add(other.numbers)
        for tally, more in zip(self.tallies(), other.tallies(), strict=True):
            count(tally, more)
        return self


def count(tally: dict[str, int], found: Mapping[str, int]) -> None:
    """Add these counts to a tally, which omits zeros."""
    for name, number in found.items():
        if number:
            tally[name] = tally.get(name, 0) + number


Found = Mapping[Cell, Sum | None]
"""the contents of requested cells; None without a row"""


def add_to_cells(connection: Connection, sums: Mapping[Cell, Sum], found: Found) -> None:
    """Add to these cells, most of which were read already. The caller holds the installation's lock."""
    missing = [cell for cell in sums if cell not in found]
    if missing:
        found = {**found, **read_cells(connection, missing)}
    for cell, more in sums.items():
        older = found[cell]
        if older is not None:
            more += older
    write_cells(connection, sums)


def write_cells(connection: Connection, sums: Mapping[Cell, Sum], *, empty: Iterable[Cell] = ()) -> None:
    """Write the sums to their cells; delete `empty` cells without a sum."""
    _delete_cells(connection, set(empty) - set(sums))
    _CELLS.run(connection, _rows(sums))


def correct_cells(connection: Connection, sums: Mapping[Cell, Sum]) -> int:
    """Write the sums that differ from their cells; return how many did."""
    if not sums:
        return 0
    there = set(_rows_of_cells(connection, sums))
    missing = [row for row in _rows(sums) if row not in there]
    _CELLS.run(connection, missing)
    return len(missing)


def _rows(sums: Mapping[Cell, Sum]) -> list[tuple[Any, ...]]:
    """The sums as database rows."""
    return [(*cell, *sum_.numbers, *map(_text, sum_.tallies())) for cell, sum_ in sums.items()]


_KEY = ("person_key", "repository_id", "month")


def _text(tally: Mapping[str, int]) -> str:
    return ordered_json(dict(sorted(tally.items())) if len(tally) > 1 else tally) if tally else "{}"


_FOUND = f"SELECT {', '.join(f'totals.{name}' for name in (*_KEY, *_NUMBERS, *TALLIES))}"
_ON = "totals.person_key = {} AND totals.repository_id = {} AND totals.month = {}"
_THESE = (
    f"{_FOUND} FROM json_each(?) one CROSS JOIN json_each(one.value) place CROSS JOIN json_each(place.value) who"
    f" CROSS JOIN totals WHERE {_ON.format('who.value', 'CAST(place.key AS INTEGER)', 'one.key')}"
)
_THESE_ARRAYS = (
    f"{_FOUND} FROM unnest(?::text[], ?::bigint[], ?::text[]) AS one (person, repository, month)"
    f" JOIN totals ON {_ON.format('one.person', 'one.repository', 'one.month')}"
)


def read_cells(connection: Connection, cells: Sequence[Cell]) -> Found:
    """The contents of these cells."""
    found: dict[Cell, Sum | None] = dict.fromkeys(cells)
    for row in _rows_of_cells(connection, cells):
        found[PersonKey(row[0]), RepositoryId(row[1]), Month(row[2])] = _sum(row[3:])
    return found


def _rows_of_cells(connection: Connection, cells: Iterable[Cell]) -> list[Row]:
    if is_postgresql(connection):
        return fetch(connection, _THESE_ARRAYS, [array_text(column) for column in zip(*cells, strict=True)])
    by_month: dict[Month, dict[RepositoryId, list[PersonKey]]] = {}
    for person, repository, month in cells:
        by_month.setdefault(month, {}).setdefault(repository, []).append(person)
    return fetch(connection, _THESE, (ordered_json(by_month),))


def _sum(values: Sequence[Any]) -> Sum:
    """The sum in the columns of a row."""
    found = Sum(values[: len(_NUMBERS)])
    found.languages, found.skills, found.tools, found.days = map(json.loads, values[len(_NUMBERS) :])
    return found


_DELETE = "DELETE FROM totals WHERE person_key = ? AND repository_id = ? AND month = ?"


def _delete_cells(connection: Connection, cells: Iterable[Cell]) -> None:
    gone = sorted(cells)
    if gone:
        execute_many(connection, _DELETE, gone)


_CELLS = Upsert(TOTALS, (*_KEY, *_NUMBERS, *TALLIES))
