"""What did GitHub show that no clone holds? Append-only rows: checks, reviews, remarks, merges, triage, releases.

A row is keyed by its source: repository, number of the pull request or issue, signal, and the source's own id (of a
review or a head commit). Each is recorded once; what GitHub later reports about the same source is a new row, and the
newest counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import Column, Connection, Index, Select, Table, delete, func, select, tuple_

from bot.metrics.non_code_activity import Deed, DeedKind
from bot.metrics.scores import NOTHING, KnownOutcome
from bot.model.ids import ChangeId, PersonKey, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber
from bot.store.dialect import insert_into

NOBODY = PersonKey("")
READ = "read"
"""source of the row which records that all reviews of this pull request were read and none approved"""
Signal = Literal["checks", "review", "remark", "merge", "merger", "triage", "release"]
DEEDS: Mapping[str, DeedKind] = MappingProxyType(
    {"review": "review", "remark": "remark", "merger": "merger", "triage": "triage", "release": "release"}
)
"""signals that show what a person did"""

CHECKS: tuple[Signal, ...] = ("checks",)

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


def of_repositories(
    connection: Connection, repositories: Collection[RepositoryId], signals: Collection[Signal]
) -> list[Observation]:
    """All observations of these signals there, oldest first."""
    condition = OBSERVATION.c.repository_id.in_(repositories) & OBSERVATION.c.signal.in_(signals)
    return _read(connection, condition)


def observations_near(
    connection: Connection, work: Any, repositories: Collection[RepositoryId], signals: Collection[Signal]
) -> list[Observation]:
    """Observations of some pull requests (`work`: a query of repository ids and numbers) and all checks of these
    repositories, which belong to commits; oldest first."""
    table = OBSERVATION.c
    of_commits = of_repositories(connection, repositories, CHECKS)
    condition = table.signal.in_(signals) & table.repository_id.in_(repositories)
    of_pulls = _read(connection, condition & tuple_(table.repository_id, table.number).in_(work))
    return sorted([*of_commits, *of_pulls], key=lambda one: (one.at, one.repository_id, one.number))


def of_work(connection: Connection, repository: RepositoryId, numbers: Collection[int]) -> list[Observation]:
    """All observations of these pull requests or issues of one repository, oldest first."""
    return _read(connection, (OBSERVATION.c.repository_id == repository) & OBSERVATION.c.number.in_(numbers))


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


def live_values(seen: Iterable[Observation], names: Mapping[RepositoryId, str]) -> dict[ChangeId, KnownOutcome]:
    """What the scores use of it, by change. Approval is unknown if nobody checked whether there was one.

    Checks are those of the merged head, the newest of each app: a passing run replaces a failed one.
    """
    by_work: dict[tuple[RepositoryId, int], list[Observation]] = defaultdict(list)
    checks: dict[tuple[RepositoryId, str], dict[int, str]] = defaultdict(dict)
    for one in sorted(seen, key=lambda row: (row.at, row.signal, row.source)):
        if one.signal == "checks":
            checks[one.repository_id, one.value["head"]][one.value["app"]] = one.value["state"]
        elif one.repository_id in names:
            by_work[one.repository_id, one.number].append(one)
    found: dict[ChangeId, KnownOutcome] = {}
    for (repository, number), rows in by_work.items():
        heads = [row.value["head"] for row in rows if row.signal == "merge"]
        states = {state for head in heads for state in checks.get((repository, head), {}).values()}
        known = replace(NOTHING, checks=_combined_state(states), approved=approval(rows))
        if known != NOTHING:
            found[ChangeId(f"{names[repository]}#{number}")] = known
    return found


def _combined_state(states: Collection[str]) -> Literal["passed", "failed", "unknown"]:
    return "failed" if "failed" in states else "passed" if states else "unknown"


def approval(rows: Iterable[Observation]) -> bool | None:
    """Whether somebody approved one pull request; False only if all its reviews were read and none approved."""
    states: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.signal == "review":
            states[row.source.partition(":")[0]].add(row.value["state"])
    if any("approved" in said and "dismissed" not in said for said in states.values()):
        return True
    return False if READ in states else None


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
