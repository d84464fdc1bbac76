"""Which changes the facts fold into and who took part: derived rows, replaced whole whenever their facts move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, fields
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, Index, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.model import PARTS, ChangeId, Kind, Lines, Month, PersonKey, RepositoryId, State, each_part
from bot.store.border import canonical_json
from bot.store.columns import METADATA, Json, Spelt, Whole, Words, counters, line_counters
from bot.store.statements import Upsert
from bot.store.turn import Said, Say, Spelling, run, saying, spelling_of

# Derived rows refer to nothing, and a rebuild compares them with their facts (docs/decisions/0085).
CHANGE = Table(
    "change",
    METADATA,
    Column("id", Words, primary_key=True),
    Column("repository_id", Whole, nullable=False),
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
    Column("change_id", Words, primary_key=True),
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, primary_key=True),
    Column("month", Words, primary_key=True),
    *counters("commits", "co_authored"),
    *line_counters(),
    Index(None, "person_key", "month"),
    sqlite_with_rowid=False,
)


@frozen
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


@frozen
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
    await run(conn, saying(replacing(spelling_of(conn), gone, changes, parts)))


def replacing(
    spelling: Spelling, gone: Iterable[ChangeId], changes: Iterable[ChangeRow], parts: Iterable[Contribution]
) -> list[Said]:
    """What `replace` says."""
    new = {change.id: change for change in changes}
    lost = sorted(set(gone) - set(new))
    touched = sorted({*lost, *new})
    said: list[Said] = []
    if touched:
        mine = spelling.among("change_id")
        said.append(Say(f"DELETE FROM contribution WHERE {mine}", (spelling.list_of(touched),)))  # noqa: S608  # a name
    if lost:
        mine = spelling.among("id")
        said.append(Say(f"DELETE FROM change WHERE {mine}", (spelling.list_of(lost),)))  # noqa: S608  # a name
    return said + adding(spelling, new.values(), parts)


def adding(spelling: Spelling, changes: Iterable[ChangeRow], parts: Iterable[Contribution]) -> list[Said]:
    """What writes down changes of which nothing stands, with all their contributions."""
    own = [_own_of(part) + each_part(part.lines) for part in parts]
    return _CHANGES.told(spelling, [_values(row) for row in changes]) + _PARTS.told(spelling, own)


_NAMES = tuple(one.name for one in fields(ChangeRow))
_OWN = ("change_id", "person_key", "repository_id", "month", "commits", "co_authored")


def _values(row: ChangeRow) -> tuple[Any, ...]:
    *plain, payload = _values_of(row)
    return *plain, payload if isinstance(payload, Spelt) else canonical_json(payload)


_CHANGES = Upsert(CHANGE, _NAMES)
_PARTS = Upsert(CONTRIBUTION, (*_OWN, *(f"lines_{part}" for part in PARTS)))
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
