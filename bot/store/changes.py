"""Which changes do the facts fold into, and who took part? Derived rows, replaced together when their facts change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Index, Table, select

from bot.model.fact import PARTS
from bot.model.ids import ChangeId, InstallationId, Kind, Month, RepositoryId, State
from bot.store.border import canonical_json
from bot.store.columns import METADATA, CleanText, EncodedJson, Json, WholeNumber, counters, line_counters
from bot.store.dialect import execute, fetch, is_one_of, value_list
from bot.store.inserts import Upsert

# Derived rows have no foreign keys; a rebuild compares them with their facts (docs/decisions/0085).
CHANGE = Table(
    "change",
    METADATA,
    Column("id", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, nullable=False),
    Column("month", CleanText, nullable=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("pull_request", WholeNumber),
    Column("payload", Json, nullable=False),
    Index(None, "repository_id", "month"),
)
CONTRIBUTION = Table(
    "contribution",
    METADATA,
    Column("change_id", CleanText, primary_key=True),
    Column("person_key", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, primary_key=True),
    Column("month", CleanText, primary_key=True),
    *counters("commits", "co_authored"),
    *line_counters(),
    Index(None, "person_key", "month"),
    sqlite_with_rowid=False,
)


class ChangeRow(NamedTuple):
    """A change in its canonical repository and the month it landed in; `payload` holds its commits."""

    id: ChangeId
    repository_id: RepositoryId
    month: Month
    landed_at: int
    kind: Kind
    state: State
    pull_request: int | None
    payload: dict[str, Any] | EncodedJson


PartRow = tuple[Any, ...]
"""one person's part in one change, in one repository and month, as database columns"""
Kept = tuple[ChangeRow, Sequence[PartRow]]
"""a change with all its contributions"""


def replace_changes(connection: Connection, gone: Iterable[ChangeId], kept: Iterable[Kept]) -> None:
    """Write these changes with their contributions; delete those in `gone` and older rows of the same changes."""
    new = {change.id: (change, parts) for change, parts in kept}
    lost = sorted(set(gone) - set(new))
    touched = sorted({*lost, *new})
    for column, which in (("contribution.change_id", touched), ("change.id", lost)):
        if which:
            sql = f"DELETE FROM {column.partition('.')[0]} WHERE {is_one_of(connection, column)}"  # noqa: S608  # names
            execute(connection, sql, (value_list(connection, which),))
    add_changes(connection, new.values())


def add_changes(connection: Connection, kept: Iterable[Kept]) -> None:
    """Write changes that have no rows yet, with all their contributions."""
    rows: list[ChangeRow] = []
    parts: list[PartRow] = []
    for row, own in kept:
        rows.append(row if type(row.payload) is EncodedJson else _canonical_row(row))
        parts += own
    _CHANGES.run(connection, rows)
    _PARTS.run(connection, parts)


_NAMES = ChangeRow._fields
_OWN = (
    "change_id",
    "person_key",
    "repository_id",
    "month",
    "commits",
    "co_authored",
    *(f"lines_{part}" for part in PARTS),
)
_OF_MONTH = "WHERE repository.installation_id = ? AND change.repository_id = repository.id AND change.month = ?"
_STAND = ", ".join(f"change.{name}" for name in _NAMES)
_STAND = f"SELECT {_STAND} FROM repository CROSS JOIN change {_OF_MONTH}"  # noqa: S608  # names of this module
_PARTS_STAND = ", ".join(f"contribution.{name}" for name in _OWN)
_PARTS_STAND = (
    f"SELECT {_PARTS_STAND} FROM repository CROSS JOIN change CROSS JOIN contribution"  # noqa: S608  # likewise
    f" {_OF_MONTH} AND contribution.change_id = change.id"
)


def correct_changes(connection: Connection, installation: InstallationId, month: Month, kept: Iterable[Kept]) -> int:
    """Write the changes of an installation's month whose rows differ; return how many did."""
    there = set(fetch(connection, _STAND, (installation, month)))
    parts = set(fetch(connection, _PARTS_STAND, (installation, month))) if there else there
    missing = [(row, own) for row, own in kept if row not in there or not parts.issuperset(own)]
    add_changes(connection, missing)
    return len(missing)


def _canonical_row(row: ChangeRow) -> ChangeRow:
    return row._replace(payload=EncodedJson(canonical_json(row.payload)))


_CHANGES = Upsert(CHANGE, _NAMES)
_PARTS = Upsert(CONTRIBUTION, _OWN)


def ids_in(connection: Connection, repository_id: RepositoryId) -> list[ChangeId]:
    """The ids of the changes whose home is this repository, in order."""
    query = select(CHANGE.c.id).where(CHANGE.c.repository_id == repository_id).order_by(CHANGE.c.id)
    return [ChangeId(row.id) for row in connection.execute(query)]
