"""How is all derived data rebuilt from the facts, byte for byte?"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from zoneinfo import ZoneInfo

from msgspec import Struct
from sqlalchemy import Connection

from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.ids import ChangeId, InstallationId, Month, RepositoryId
from bot.services.recording.change_rows import add_up, change_rows
from bot.services.recording.record import LedgerState, fold_state
from bot.store import changes, folding, ledger, totals
from bot.store.dialect import execute, fetch
from bot.store.engine import Store


class RebuildResult(Struct, frozen=True):
    """The result of a rebuild: the number of changes and sums, and of rows that were wrong, missing or superfluous."""

    changes: int
    sums: int
    wrong: int


async def rebuild(store: Store, installation: InstallationId, zone: ZoneInfo) -> RebuildResult:
    """Fold all facts of an installation and correct its changes, contributions and totals, in one transaction.

    Correct rows are not written again. Repositories removed from the installation stay unchanged.
    """
    return await store.write(_rebuild, installation, zone)


@contextmanager
def _without_collection() -> Iterator[None]:
    """A rebuild creates no reference cycles, and looking for them takes a fifth of its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


_REPOSITORIES = "repository_id IN (SELECT id FROM repository WHERE installation_id = ? AND removed_at IS NULL)"
_DERIVED = (
    f"FROM totals WHERE {_REPOSITORIES}",
    f"FROM contribution WHERE change_id IN (SELECT id FROM change WHERE {_REPOSITORIES})",  # noqa: S608  # names
    f"FROM change WHERE {_REPOSITORIES}",
)
"""all derived rows of an installation; contributions are found by their change"""


def _rebuild(connection: Connection, installation: InstallationId, zone: ZoneInfo) -> RebuildResult:
    """Correct all derived rows; if there are superfluous ones, delete all and write them again."""
    with _without_collection():
        folding.lock_installation(connection, installation)
        given = _correct_all(connection, installation, zone)
        there = _count_rows(connection, installation)
        if given.rows != there:
            for rows in _DERIVED:
                execute(connection, f"DELETE {rows}", (installation,))
            _correct_all(connection, installation, zone)
    more = sum(max(0, found - due) for found, due in zip(there, given.rows, strict=True) if due >= 0)
    return RebuildResult(given.changes, given.cells, given.wrong + more)


def _count_rows(connection: Connection, installation: InstallationId) -> tuple[int, ...]:
    """The number of rows in each derived table."""
    counts = ", ".join(f"(SELECT COUNT(*) {rows})" for rows in _DERIVED)
    ((*found,),) = fetch(connection, f"SELECT {counts}", (installation,) * len(_DERIVED))
    return tuple(map(int, found))


def _correct_all(connection: Connection, installation: InstallationId, zone: ZoneInfo) -> _Given:
    """Replace derived rows by what the facts give, some facts at a time.

    Facts that fold together are read together, oldest first: months before the next fact's month are complete and can
    be compared. Memory depends on the largest month and the largest such group, and otherwise only on the row numbers
    of facts and the ids of changes.
    """
    stored_state, corrections = folding.read_installation(connection, installation)
    known = LedgerState(stored_state, corrections)
    parts, unconnected = folding.parts_of_installation(connection, installation)
    given, begun = _Given(stored_state.ids, zone), _BEFORE_ALL
    for numbers in parts:
        facts = ledger.numbered_facts(connection, numbers)
        month = month_of(min((fact.landed_at for fact in facts.values()), default=0), zone)
        if month > begun:
            _correct_months(connection, installation, given, before=month)
            begun = month
        given.take(fold_state(known, unconnected, facts))
    _correct_months(connection, installation, given, before=_AFTER_ALL)
    return given


_BEFORE_ALL, _AFTER_ALL = Month(""), Month("9999-99")


class _Given:
    """What the facts give, month by month, with the number of rows."""

    def __init__(self, ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> None:
        self._ids, self._zone = ids, zone
        self._kept: dict[Month, list[changes.Kept]] = defaultdict(list)
        self._sums: dict[totals.Cell, totals.Sum] = defaultdict(totals.Sum)
        self._names: set[ChangeId] = set()
        self.cells = self.parts = self.changes = self.wrong = 0

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of rows, in the order of `_DERIVED`."""
        # Two changes with the same id would be one row; then counting rows proves nothing.
        return self.cells, self.parts, self.changes if len(self._names) == self.changes else -1

    def take(self, found: Sequence[Change]) -> None:
        """Add the rows that these changes give."""
        add_up(self._sums, found, self._ids, self._zone)
        for row, parts in change_rows(found, self._ids, self._zone):
            self._kept[row.month].append((row, parts))
            self._names.add(row.id)
            self.changes += 1
            self.parts += len(parts)

    def changes_before(self, before: Month) -> list[tuple[Month, list[changes.Kept]]]:
        """The changes that were delivered before a month, with everybody's part in them; they are given once."""
        return [(month, self._kept.pop(month)) for month in sorted(self._kept) if month < before]

    def sums(self, before: Month) -> dict[totals.Cell, totals.Sum]:
        """Remove and return the cells of all months before a month."""
        found = {cell: self._sums.pop(cell) for cell in list(self._sums) if cell[2] < before}
        self.cells += len(found)
        return found


def _correct_months(connection: Connection, installation: InstallationId, given: _Given, *, before: Month) -> None:
    """Correct the stored rows of all months before a month."""
    for month, kept in given.changes_before(before):
        given.wrong += changes.correct_changes(connection, installation, month, kept)
    given.wrong += totals.correct_cells(connection, given.sums(before))
