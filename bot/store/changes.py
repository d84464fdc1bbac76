"""Which changes the facts fold into and who took part: derived rows, replaced whole whenever their facts move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import made_quickly
from bot.model import PARTS, ChangeId, Kind, Lines, Month, PersonKey, RepositoryId, State, each_part
from bot.store.bulk import Merge, upserting, upserting_clean
from bot.store.columns import METADATA, Json, Spelt, Whole, Words, counters, line_counters
from bot.store.installations import REPOSITORY
from bot.store.turn import Plan, Say, Spelling, run, spelling_of

CHANGE = Table(
    "change",
    METADATA,
    Column("id", Words, primary_key=True),
    Column("repository_id", Whole, ForeignKey(REPOSITORY.c.id), nullable=False),
    Column("month", Words, nullable=False),
    Column("landed_at", Whole, nullable=False),
    Column("kind", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("pull_request", Whole),
    Column("payload", Json, nullable=False),
    Index(None, "repository_id", "month"),
)
CONTRIBUTION = Table(
    "contribution",
    METADATA,
    Column("change_id", Words, ForeignKey(CHANGE.c.id, ondelete="CASCADE"), primary_key=True),
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, ForeignKey(REPOSITORY.c.id), primary_key=True),
    Column("month", Words, primary_key=True),
    *counters("commits", "co_authored"),
    *line_counters(),
    Index(None, "person_key", "month"),
    Index(None, "repository_id", "month"),
)


@made_quickly
@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A change in its canonical repository and the month that delivered it; `payload` opens into its commits."""

    id: ChangeId
    repository_id: RepositoryId
    month: Month
    landed_at: int
    kind: Kind
    state: State
    pull_request: int | None = None
    payload: dict[str, Any] | Spelt = field(default_factory=dict)


@made_quickly
@dataclass(frozen=True, slots=True)
class Contribution:
    """One person's part in one change, in one repository and month: commits authored, commits co-authored, lines."""

    change_id: ChangeId
    person_key: PersonKey
    repository_id: RepositoryId
    month: Month
    commits: int = 0
    co_authored: int = 0
    lines: Lines = field(default_factory=Lines)


async def replace(
    conn: AsyncConnection, gone: Iterable[ChangeId], changes: Iterable[ChangeRow], parts: Iterable[Contribution]
) -> None:
    """Put these changes and all their contributions in place of those named in `gone` and of their own older rows."""
    await run(conn, replacing(spelling_of(conn), gone, changes, parts))


def replacing(
    spelling: Spelling, gone: Iterable[ChangeId], changes: Iterable[ChangeRow], parts: Iterable[Contribution]
) -> Plan[None]:
    """The plan of `replace`."""
    new = {change.id: change for change in changes}
    lost = sorted(set(gone) - set(new))
    touched = sorted({*lost, *new})
    if touched:
        mine = spelling.among("change_id")
        yield Say(f"DELETE FROM contribution WHERE {mine}", (spelling.list_of(touched),))  # noqa: S608  # a name
    if lost:
        yield Say(f"DELETE FROM change WHERE {spelling.among('id')}", (spelling.list_of(lost),))  # noqa: S608  # a name
    yield from adding(spelling, new.values(), parts)


def adding(spelling: Spelling, changes: Iterable[ChangeRow], parts: Iterable[Contribution]) -> Plan[None]:
    """Changes of which nothing stands, with all their contributions."""
    yield from upserting(spelling, CHANGE, _NAMES, [_values_of(row) for row in changes])
    rows = [_own_of(part) + each_part(part.lines) for part in parts]
    yield from upserting_clean(spelling, _PARTS, rows)


_NAMES = tuple(one.name for one in fields(ChangeRow))
_OWN = ("change_id", "person_key", "repository_id", "month", "commits", "co_authored")
_PARTS = Merge(CONTRIBUTION, (*_OWN, *(f"lines_{part}" for part in PARTS)))
_values_of: Callable[[ChangeRow], tuple[Any, ...]] = attrgetter(*_NAMES)
_own_of: Callable[[Contribution], tuple[Any, ...]] = attrgetter(*_OWN)


def lines_from(row: Any) -> Lines:
    """The lines that a row's columns hold."""
    return Lines(**{one.name: row[f"lines_{one.name}"] for one in fields(Lines)})


async def read(conn: AsyncConnection, ids: Sequence[ChangeId]) -> list[ChangeRow]:
    """The changes, oldest first."""
    query = select(CHANGE).where(CHANGE.c.id.in_(ids)).order_by(CHANGE.c.landed_at, CHANGE.c.id)
    return [ChangeRow(**row) for row in (await conn.execute(query)).mappings()]


async def ids_in(conn: AsyncConnection, repository_id: RepositoryId) -> list[ChangeId]:
    """The changes whose home is this repository, in order."""
    query = select(CHANGE.c.id).where(CHANGE.c.repository_id == repository_id).order_by(CHANGE.c.id)
    return [ChangeId(row.id) for row in await conn.execute(query)]


async def of_month(conn: AsyncConnection, repository_id: RepositoryId, month: Month) -> list[ChangeRow]:
    """The changes one repository's month delivered, oldest first."""
    mine = (CHANGE.c.repository_id == repository_id) & (CHANGE.c.month == month)
    query = select(CHANGE).where(mine).order_by(CHANGE.c.landed_at, CHANGE.c.id)
    return [ChangeRow(**row) for row in (await conn.execute(query)).mappings()]


async def contributions(conn: AsyncConnection, changes: Sequence[ChangeId]) -> list[Contribution]:
    """Everybody's part in these changes, ordered by change, person, repository and month."""
    mine = CONTRIBUTION.c.change_id.in_(changes)
    query = select(CONTRIBUTION).where(mine).order_by(*CONTRIBUTION.primary_key.columns)
    names = [one.name for one in fields(Contribution) if one.name != "lines"]
    rows = (await conn.execute(query)).mappings()
    return [Contribution(**{name: row[name] for name in names}, lines=lines_from(row)) for row in rows]
