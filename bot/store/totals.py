"""What do each person's months add up to? A cache of whole numbers that can be rebuilt from the ledger at any time.

Each number is a sum over changes, so a landing adds its own part and reads nothing else. Features and bug fixes must be
grouped, so readers of a month group them (docs/decisions/0080).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import Any

from msgspec import Struct, field
from msgspec.structs import fields
from sqlalchemy import Column, Connection, Table, select

from bot.model.fact import PARTS, Lines, each_part
from bot.model.ids import Month, PersonKey, RepositoryId
from bot.store.arrays import array_text
from bot.store.border import ordered_json
from bot.store.changes import lines_from
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


class Totals(Struct, frozen=True):
    """One cell: one person's month in one repository. Tallies are whole numbers by name, `days` commits by ISO date."""

    person_key: PersonKey
    repository_id: RepositoryId
    month: Month
    commits: int = 0
    co_authored: int = 0
    outcomes: int = 0
    ai_declared: int = 0
    ai_detected: int = 0
    ai_unknown: int = 0
    lines: Lines = field(default_factory=Lines)
    languages: Mapping[str, int] = field(default_factory=dict)
    skills: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    days: Mapping[str, int] = field(default_factory=dict)

    @property
    def cell(self) -> Cell:
        return self.person_key, self.repository_id, self.month


def replace(connection: Connection, cells: Iterable[Cell], rows: Iterable[Totals]) -> None:
    """Replace the rows of these `cells` with `rows`; a cell without a row is empty and is deleted."""
    new = {row.cell: row for row in rows}
    _delete_cells(connection, set(cells) - set(new))
    _CELLS.run(connection, _CELLS.clean_rows(connection, [_row(row) for row in new.values()]))


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


_PLAIN = (*_KEY, *COUNTERS)
_CELLS = Upsert(TOTALS, (*_PLAIN, *(f"lines_{part}" for part in PARTS), *TALLIES))


def _row(row: Totals) -> tuple[Any, ...]:
    tallies = (_whole_numbers(getattr(row, name)) for name in TALLIES)
    return (*(getattr(row, name) for name in _PLAIN), *each_part(row.lines), *tallies)


def _whole_numbers(tally: Mapping[str, int]) -> dict[str, int]:
    if any(type(number) is not int for number in tally.values()):
        raise TypeError("totals hold whole numbers only")
    return dict(tally)


def of_person(
    connection: Connection, people: Sequence[PersonKey], repositories: Sequence[RepositoryId]
) -> list[Totals]:
    """The person's cells in these repositories, by month and repository."""
    return _read(connection, TOTALS.c.person_key.in_(people) & TOTALS.c.repository_id.in_(repositories))


def of_month(connection: Connection, repository_id: RepositoryId, month: Month) -> list[Totals]:
    """All people's cells of one repository's month."""
    return _read(connection, (TOTALS.c.repository_id == repository_id) & (TOTALS.c.month == month))


def _read(connection: Connection, which: Any) -> list[Totals]:
    order = (TOTALS.c.month, TOTALS.c.repository_id, TOTALS.c.person_key)
    rows = connection.execute(select(TOTALS).where(which).order_by(*order)).mappings()
    names = [one.name for one in fields(Totals) if one.name != "lines"]
    return [Totals(**{name: row[name] for name in names}, lines=lines_from(row)) for row in rows]
