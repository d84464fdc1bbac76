"""What did GitHub show that no clone holds? Append-only rows: checks, reviews, remarks, merges, triage, releases.

A row is keyed by its source: repository, number of the pull request or issue, signal, and the source's own id (of a
review or a head commit). Each is recorded once; what GitHub later reports about the same source is a new row, and the
newest counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Column, Connection, Index, Select, Table, delete, func, select

from bot.metrics.non_code_activity import Deed, DeedKind
from bot.model.ids import PersonKey, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber
from bot.store.dialect import insert_into

NOBODY = PersonKey("")
Signal = Literal["review", "remark", "merge", "merger", "triage", "release"]
DEEDS: Mapping[str, DeedKind] = MappingProxyType(
    {"review": "review", "remark": "remark", "merger": "merger", "triage": "triage", "release": "release"}
)
"""signals that show what a person did"""

OBSERVATION = Table(
    "observation",
    METADATA,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("number", WholeNumber, primary_key=True, autoincrement=False),
    Column("signal", CleanText, primary_key=True),
    Column("source", CleanText, primary_key=True),
    Column("person_key", CleanText, nullable=False, server_default=""),
    Column("at", Instant, nullable=False),
    Column("value", Json, nullable=False),
    Index(None, "person_key"),
)


class Observation(Struct, frozen=True):
    """One observation; `at` is when it happened. Checks have the number 0, because they belong to a commit,
    `value["head"]`; so do releases, whose own id is in `source`."""

    repository_id: RepositoryId
    number: int
    signal: Signal
    source: str
    at: datetime
    value: dict[str, Any]
    person_key: PersonKey = NOBODY


def observe(connection: Connection, seen: Iterable[Observation]) -> int:
    """Append new observations; return how many rows are new."""
    rows = [asdict(one) for one in seen]
    if not rows:
        return 0
    statement = insert_into(connection, OBSERVATION).on_conflict_do_nothing().returning(OBSERVATION.c.source)
    return len(connection.execute(statement, rows).all())


def of_people(
    connection: Connection,
    people: Collection[PersonKey],
    repositories: Collection[RepositoryId],
    span: tuple[datetime, datetime] | None = None,
) -> list[Observation]:
    """What these people did in these repositories (within [since, until) of `span`), oldest first, and which releases
    there were deleted, by anyone."""
    table = OBSERVATION.c
    theirs: Any = table.person_key.in_(people)
    if span is not None:
        theirs &= (table.at >= span[0]) & (table.at < span[1])
    gone = (table.number == 0) & (table.signal == "release") & (table.person_key == NOBODY)
    return _read(connection, (theirs | gone) & table.repository_id.in_(repositories))


def releases_in(connection: Connection, repositories: Collection[RepositoryId]) -> list[Observation]:
    """The releases of these repositories, by anyone, and which of them were deleted; oldest first."""
    table = OBSERVATION.c
    return _read(connection, (table.signal == "release") & table.repository_id.in_(repositories))


def repositories_of_people(connection: Connection, people: Collection[PersonKey]) -> frozenset[RepositoryId]:
    """The repositories in which these people have observations."""
    query = select(OBSERVATION.c.repository_id).where(OBSERVATION.c.person_key.in_(people)).distinct()
    return frozenset(RepositoryId(row.repository_id) for row in connection.execute(query))


def observations_of(connection: Connection, people: Collection[PersonKey]) -> list[Observation]:
    """All stored observations of what these people did, oldest first."""
    return _read(connection, OBSERVATION.c.person_key.in_(people))


def count_in(repositories: Collection[RepositoryId]) -> Select[int]:
    """The number of observations; it falls only when a person is erased."""
    return select(func.count()).where(OBSERVATION.c.repository_id.in_(repositories))


def non_code_deeds(seen: Iterable[Observation], names: Mapping[RepositoryId, str]) -> list[Deed]:
    """What people did, by current repository names; rows of repositories without a name are left out."""
    return [
        Deed(
            kind=DEEDS[one.signal],
            repository=names[one.repository_id],
            number=one.number,
            source=one.source,
            at=int(one.at.timestamp()),
            did=one.value.get("state", ""),
            tag=one.value.get("tag", ""),
        )
        for one in seen
        if one.signal in DEEDS and one.value.get("state") != "none" and one.repository_id in names
    ]


def forget(connection: Connection, people: Collection[PersonKey]) -> None:
    """Delete what names these people."""
    connection.execute(delete(OBSERVATION).where(OBSERVATION.c.person_key.in_(people)))


def _read(connection: Connection, which: Any) -> list[Observation]:
    table = OBSERVATION.c
    query = select(OBSERVATION).where(which)
    rows = connection.execute(query.order_by(table.at, table.repository_id, table.number, table.signal, table.source))
    return [Observation(**row) for row in rows.mappings()]
