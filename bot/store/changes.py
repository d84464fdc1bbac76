"""Which changes the facts fold into and who took part: derived rows, replaced whole whenever their facts move."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from sqlalchemy import Column, Index, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import PARTS, ChangeId, InstallationId, Kind, Lines, Month, PersonKey, RepositoryId, State, each_part
from bot.store.border import canonical_json
from bot.store.columns import METADATA, Json, Spelt, Whole, Words, counters, line_counters
from bot.store.statements import Upsert
from bot.store.turn import Ask, Plan, Said, Say, Spelling, run, saying, spelling_of

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


class ChangeRow(NamedTuple):
    """A change in its canonical repository and the month that delivered it; `payload` opens into its commits."""

    id: ChangeId
    repository_id: RepositoryId
    month: Month
    landed_at: int
    kind: Kind
    state: State
    pull_request: int | None
    payload: dict[str, Any] | Spelt


class Contribution(NamedTuple):
    """One person's part in one change, in one repository and month: commits authored, commits co-authored, lines."""

    change_id: ChangeId
    person_key: PersonKey
    repository_id: RepositoryId
    month: Month
    commits: int = 0
    co_authored: int = 0
    lines: Lines = Lines()


PartRow = tuple[Any, ...]
"""a contribution as its columns hold it: the parts of its lines, each a number, in place of the lines"""
Kept = tuple[ChangeRow, Sequence[PartRow]]
"""a change with everybody's part in it"""


async def replace(
    conn: AsyncConnection, gone: Iterable[ChangeId], changes: Iterable[ChangeRow], parts: Iterable[Contribution]
) -> None:
    """Put these changes and all their contributions in place of those named in `gone` and of their own older rows."""
    flat: dict[ChangeId, list[PartRow]] = defaultdict(list)
    for part in parts:
        flat[part.change_id].append((*part[:-1], *each_part(part.lines)))
    kept = [(change, flat[change.id]) for change in changes]
    await run(conn, saying(replacing(spelling_of(conn), gone, kept)))


def replacing(spelling: Spelling, gone: Iterable[ChangeId], kept: Iterable[Kept]) -> list[Said]:
    """What `replace` says."""
    new = {change.id: (change, parts) for change, parts in kept}
    lost = sorted(set(gone) - set(new))
    touched = sorted({*lost, *new})
    said: list[Said] = []
    if touched:
        mine = spelling.among("change_id")
        said.append(Say(f"DELETE FROM contribution WHERE {mine}", (spelling.list_of(touched),)))  # noqa: S608  # a name
    if lost:
        mine = spelling.among("id")
        said.append(Say(f"DELETE FROM change WHERE {mine}", (spelling.list_of(lost),)))  # noqa: S608  # a name
    return said + adding(spelling, new.values())


def adding(spelling: Spelling, kept: Iterable[Kept]) -> list[Said]:
    """What writes down changes of which nothing stands, with all their contributions."""
    rows: list[ChangeRow] = []
    parts: list[PartRow] = []
    for row, own in kept:
        rows.append(row if type(row.payload) is Spelt else _spelt(row))
        parts += own
    return _CHANGES.told(spelling, rows) + _PARTS.told(spelling, parts)


_NAMES = ChangeRow._fields
_OWN = (*Contribution._fields[:-1], *(f"lines_{part}" for part in PARTS))
_OF_MONTH = "WHERE repository.installation_id = ? AND change.repository_id = repository.id AND change.month = ?"
_STAND = ", ".join(f"change.{name}" for name in _NAMES)
_STAND = f"SELECT {_STAND} FROM repository CROSS JOIN change {_OF_MONTH}"  # noqa: S608  # names of this module
_PARTS_STAND = ", ".join(f"contribution.{name}" for name in _OWN)
_PARTS_STAND = (
    f"SELECT {_PARTS_STAND} FROM repository CROSS JOIN change CROSS JOIN contribution"  # noqa: S608  # likewise
    f" {_OF_MONTH} AND contribution.change_id = change.id"
)


def mending(spelling: Spelling, installation: InstallationId, month: Month, kept: Iterable[Kept]) -> Plan[int]:
    """Of all changes that an installation delivered in a month, write what does not stand so; how many these are."""
    stands = set((yield Ask(_STAND, (installation, month))))
    parts = set((yield Ask(_PARTS_STAND, (installation, month)))) if stands else stands
    missing = [(row, own) for row, own in kept if row not in stands or not parts.issuperset(own)]
    yield adding(spelling, missing)
    return len(missing)


def _spelt(row: ChangeRow) -> ChangeRow:
    return row._replace(payload=Spelt(canonical_json(row.payload)))


_CHANGES = Upsert(CHANGE, _NAMES)
_PARTS = Upsert(CONTRIBUTION, _OWN)


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
    names = Contribution._fields[:-1]
    rows = (await conn.execute(query)).mappings()
    return [Contribution(**{name: row[name] for name in names}, lines=lines_from(row)) for row in rows]
