"""What each person's months add up to: a cache of whole numbers that can be rebuilt from the ledger at any time.

Each number is a sum over changes, so that a landing adds its own part and reads nothing else. What has to be grouped,
a month's features and bug fixes, is grouped by whoever reads the month (docs/decisions/0080).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from operator import add
from typing import Any

from sqlalchemy import Column, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.model import PARTS, Lines, Month, PersonKey, RepositoryId, each_part
from bot.store.arrays import array_text
from bot.store.border import ordered_json
from bot.store.bulk import cleaned
from bot.store.changes import lines_from
from bot.store.columns import METADATA, Json, Whole, Words, counters, line_counters
from bot.store.statements import Upsert
from bot.store.turn import Ask, Plan, Rows, Spelling, Tell, run, spelling_of

COUNTERS = ("commits", "co_authored", "outcomes", "ai_declared", "ai_detected", "ai_unknown")
UNUSED = ("features", "bugs", "other")
"""columns that a process of an older version may still write; nothing reads them"""
TALLIES = ("languages", "skills", "tools", "days")

TOTALS = Table(
    "totals",
    METADATA,
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, primary_key=True),
    Column("month", Words, primary_key=True),
    *counters(*COUNTERS, *UNUSED),
    *line_counters(),
    *(Column(name, Json, nullable=False) for name in TALLIES),
)

Cell = tuple[PersonKey, RepositoryId, Month]


@frozen
class Totals:
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


async def replace(conn: AsyncConnection, cells: Iterable[Cell], rows: Iterable[Totals]) -> None:
    """Put `rows` in place of the `cells` they were folded for; a cell without a row is empty now, and goes."""
    await run(conn, replacing(spelling_of(conn), cells, rows))


_NUMBERS: tuple[str, ...] = (*COUNTERS, *(f"lines_{part}" for part in PARTS))


class Sum:
    """What a cell holds, or what is added to it: the counters, then the parts of lines; and the tallies."""

    __slots__ = ("days", "languages", "numbers", "skills", "tools")

    def __init__(self, numbers: Iterable[int] = (0,) * len(_NUMBERS)) -> None:
        self.numbers = list(numbers)
        self.languages: dict[str, int] = {}
        self.skills: dict[str, int] = {}
        self.tools: dict[str, int] = {}
        self.days: dict[str, int] = {}

    def tallies(self) -> tuple[dict[str, int], ...]:
        """In the order of TALLIES."""
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
    """Add what was found to a tally; what comes to nothing is not in it."""
    for name, number in found.items():
        if number:
            tally[name] = tally.get(name, 0) + number


Stood = Mapping[Cell, Sum | None]
"""what stood in cells that were asked for; None where they have no row"""


def adding(spelling: Spelling, sums: Mapping[Cell, Sum], stood: Stood) -> Plan[None]:
    """Add to what stands in these cells, nearly all of which are asked for already. Whoever does so is alone with them
    until the transaction ends."""
    if not sums:
        return
    missing = [cell for cell in sums if cell not in stood]
    if missing:
        stood = {**stood, **found_in(missing, (yield asking(spelling, missing)))}
    for cell, more in sums.items():
        older = stood[cell]
        if older is not None:
            more += older
    yield from writing(spelling, sums)


def writing(spelling: Spelling, sums: Mapping[Cell, Sum], *, empty: Iterable[Cell] = ()) -> Plan[None]:
    """Put the sums in place of what stands in their cells; the `empty` ones without a sum go."""
    gone = sorted(set(empty) - set(sums))
    if gone:
        yield Tell(_DELETE, gone)
    yield _CELLS.told(spelling, _spelt(sums))


def mending(spelling: Spelling, sums: Mapping[Cell, Sum]) -> Plan[int]:
    """Write those sums that do not stand in their cells; how many these are."""
    if not sums:
        return 0
    stands = set((yield asking(spelling, sums)))
    missing = [row for row in _spelt(sums) if row not in stands]
    yield _CELLS.told(spelling, missing)
    return len(missing)


def _spelt(sums: Mapping[Cell, Sum]) -> list[tuple[Any, ...]]:
    """The sums as their rows hold them."""
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


def asking(spelling: Spelling, cells: Iterable[Cell]) -> Ask:
    """Which rows do these cells have? At least one cell."""
    if spelling.is_postgresql:
        return Ask(_THESE_ARRAYS, [array_text(column) for column in zip(*cells, strict=True)])
    by_month: dict[Month, dict[RepositoryId, list[PersonKey]]] = {}
    for person, repository, month in cells:
        by_month.setdefault(month, {}).setdefault(repository, []).append(person)
    return Ask(_THESE, (ordered_json(by_month),))


def found_in(cells: Iterable[Cell], rows: Rows) -> Stood:
    """What the rows say of the cells that were asked for."""
    found: dict[Cell, Sum | None] = dict.fromkeys(cells)
    found.update({(PersonKey(row[0]), RepositoryId(row[1]), Month(row[2])): _sum(row[3:]) for row in rows})
    return found


def _sum(values: Sequence[Any]) -> Sum:
    """What the columns of a row hold."""
    found = Sum(values[: len(_NUMBERS)])
    found.languages, found.skills, found.tools, found.days = map(json.loads, values[len(_NUMBERS) :])
    return found


_DELETE = "DELETE FROM totals WHERE person_key = ? AND repository_id = ? AND month = ?"


def replacing(spelling: Spelling, cells: Iterable[Cell], rows: Iterable[Totals]) -> Plan[None]:
    """The plan of `replace`."""
    new = {row.cell: row for row in rows}
    empty = sorted(set(cells) - set(new))
    if empty:
        yield Tell(_DELETE, empty)
    yield _CELLS.told(spelling, cleaned(spelling, _CELLS, [_row(row) for row in new.values()]))


_PLAIN = (*_KEY, *COUNTERS)
_CELLS = Upsert(TOTALS, (*_PLAIN, *(f"lines_{part}" for part in PARTS), *TALLIES))


def _row(row: Totals) -> tuple[Any, ...]:
    tallies = (_whole(getattr(row, name)) for name in TALLIES)
    return (*(getattr(row, name) for name in _PLAIN), *each_part(row.lines), *tallies)


def _whole(tally: Mapping[str, int]) -> dict[str, int]:
    if any(type(number) is not int for number in tally.values()):
        raise TypeError("totals hold whole numbers only")
    return dict(tally)


async def of_person(
    conn: AsyncConnection, people: Sequence[PersonKey], repositories: Sequence[RepositoryId]
) -> list[Totals]:
    """The person's cells in these repositories, by month and repository."""
    return await _read(conn, TOTALS.c.person_key.in_(people) & TOTALS.c.repository_id.in_(repositories))


async def of_month(conn: AsyncConnection, repository_id: RepositoryId, month: Month) -> list[Totals]:
    """Everybody's cell of one repository's month."""
    return await _read(conn, (TOTALS.c.repository_id == repository_id) & (TOTALS.c.month == month))


async def _read(conn: AsyncConnection, which: Any) -> list[Totals]:
    order = (TOTALS.c.month, TOTALS.c.repository_id, TOTALS.c.person_key)
    rows = (await conn.execute(select(TOTALS).where(which).order_by(*order))).mappings()
    names = [one.name for one in fields(Totals) if one.name != "lines"]
    return [Totals(**{name: row[name] for name in names}, lines=lines_from(row)) for row in rows]
