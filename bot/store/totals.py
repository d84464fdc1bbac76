"""What each person's months add up to: a cache of whole numbers that can be rebuilt from the ledger at any time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, Table, delete, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import Lines, Month, PersonKey, RepositoryId
from bot.store.changes import line_values, lines_from
from bot.store.columns import METADATA, Json, Whole, Words, counters, line_counters
from bot.store.dialect import upsert
from bot.store.installations import REPOSITORY

COUNTERS = (
    *("commits", "co_authored", "features", "bugs", "other", "outcomes"),
    *("ai_declared", "ai_detected", "ai_unknown"),
)
TALLIES = ("languages", "skills", "tools", "days")

TOTALS = Table(
    "totals",
    METADATA,
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, ForeignKey(REPOSITORY.c.id), primary_key=True),
    Column("month", Words, primary_key=True),
    *counters(*COUNTERS),
    *line_counters(),
    *(Column(name, Json, nullable=False) for name in TALLIES),
    Index(None, "repository_id", "month"),
)
_SLICE = 300

Cell = tuple[PersonKey, RepositoryId, Month]


@dataclass(frozen=True, slots=True)
class Totals:
    """One cell: one person's month in one repository. Tallies are whole numbers by name, `days` commits by ISO date."""

    person_key: PersonKey
    repository_id: RepositoryId
    month: Month
    commits: int = 0
    co_authored: int = 0
    features: int = 0
    bugs: int = 0
    other: int = 0
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
    new = {row.cell: row for row in rows}
    empty = sorted(set(cells) - set(new))
    key = tuple_(*TOTALS.primary_key.columns)
    for at in range(0, len(empty), _SLICE):
        await conn.execute(delete(TOTALS).where(key.in_(empty[at : at + _SLICE])))
    await upsert(conn, TOTALS, [_row(row) for row in new.values()])


def _row(row: Totals) -> dict[str, Any]:
    plain = {one.name: getattr(row, one.name) for one in fields(row) if one.name != "lines"}
    return plain | {name: _whole(plain[name]) for name in TALLIES} | line_values(row.lines)


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


async def cells_of_people(conn: AsyncConnection, people: Sequence[PersonKey]) -> list[Cell]:
    """The cells that these people have now: what to fold again when they turn out to be one person."""
    query = select(*TOTALS.primary_key.columns).where(TOTALS.c.person_key.in_(people))
    return [(PersonKey(row[0]), RepositoryId(row[1]), Month(row[2])) for row in await conn.execute(query)]


async def _read(conn: AsyncConnection, which: Any) -> list[Totals]:
    order = (TOTALS.c.month, TOTALS.c.repository_id, TOTALS.c.person_key)
    rows = (await conn.execute(select(TOTALS).where(which).order_by(*order))).mappings()
    names = [one.name for one in fields(Totals) if one.name != "lines"]
    return [Totals(**{name: row[name] for name in names}, lines=lines_from(row)) for row in rows]
