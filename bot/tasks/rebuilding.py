"""How is everything that is derived made anew from the facts, with the same bytes?"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.landing.months import month_of
from bot.model import Change, ChangeId, InstallationId, Month, RepositoryId
from bot.store import changes, folding, ledger, totals
from bot.store.engine import Store
from bot.store.turn import Ask, Plan, Say, Spelling, run, spelling_of
from bot.tasks.adding_up import add_up
from bot.tasks.keeping import rows_of
from bot.tasks.recording import Known, folded


@frozen
class Rebuilt:
    """What a rebuild came to: how many changes and sums the facts give, and how many of these did not stand so, or
    stood though no fact gives them."""

    changes: int
    sums: int
    wrong: int


async def rebuild(store: Store, installation: InstallationId, zone: ZoneInfo) -> Rebuilt:
    """Fold all facts of an installation and make changes, contributions and totals what they give, in one transaction.

    What stands and is right is not written again. Repositories that were taken from the installation stay as they are.
    """

    async def rebuilt(conn: AsyncConnection) -> Rebuilt:
        with _not_collecting():
            return await run(conn, _rebuilding(spelling_of(conn), installation, zone))

    return await store.write(rebuilt)


@contextmanager
def _not_collecting() -> Iterator[None]:
    """What a rebuild makes holds no circles: to look for garbage in it, again and again, is a fifth of its time."""
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
"""all that is an installation's own: contributions by their change, which is how they are found"""


def _rebuilding(spelling: Spelling, installation: InstallationId, zone: ZoneInfo) -> Plan[Rebuilt]:
    """Put everything that the facts give in its place; where more stands than that, drop all and do it once more."""
    yield from folding.alone(spelling, installation)
    given = yield from _putting(spelling, installation, zone)
    stands = yield from _counting(installation)
    if given.rows != stands:
        for rows in _DERIVED:
            yield Say(f"DELETE {rows}", (installation,))
        yield from _putting(spelling, installation, zone)
    more = sum(max(0, there - due) for there, due in zip(stands, given.rows, strict=True) if due >= 0)
    return Rebuilt(given.changes, given.cells, given.wrong + more)


def _counting(installation: InstallationId) -> Plan[tuple[int, ...]]:
    """How many rows stand, table by table."""
    counts = ", ".join(f"(SELECT COUNT(*) {rows})" for rows in _DERIVED)
    ((*found,),) = yield Ask(f"SELECT {counts}", (installation,) * len(_DERIVED))
    return tuple(map(int, found))


def _putting(spelling: Spelling, installation: InstallationId, zone: ZoneInfo) -> Plan[_Given]:
    """Put what the facts give in place of whatever stands there, some facts at a time.

    Facts that fold together come together, the oldest first: what lies in months before the next fact's is complete,
    and is compared with what stands. The memory it takes depends on the largest month and the largest such group, and
    not on how many facts there are, but for their numbers and the ids of changes.
    """
    stands, said = yield from folding.around(spelling, installation)
    known = Known(stands, said)
    parts, apart = yield from folding.in_parts(installation)
    given, begun = _Given(stands.ids, zone), _BEFORE_ALL
    for numbers in parts:
        facts = yield from ledger.numbered(spelling, numbers)
        month = month_of(min((fact.landed_at for fact in facts.values()), default=0), zone)
        if month > begun:
            yield from _mending(spelling, installation, given, month)
            begun = month
        given.take(folded(known, apart, facts))
    yield from _mending(spelling, installation, given, _AFTER_ALL)
    return given


_BEFORE_ALL, _AFTER_ALL = Month(""), Month("9999-99")


class _Given:
    """What facts give, month by month, and how many rows that has been."""

    def __init__(self, ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> None:
        self._ids, self._zone = ids, zone
        self._kept: dict[Month, list[changes.Kept]] = defaultdict(list)
        self._sums: dict[totals.Cell, totals.Sum] = defaultdict(totals.Sum)
        self._names: set[ChangeId] = set()
        self.cells = self.parts = self.changes = self.wrong = 0

    @property
    def rows(self) -> tuple[int, ...]:
        """How many rows that is, in the order of `_DERIVED`."""
        # Two changes of one name would be one row: what stands cannot be told by counting then.
        return self.cells, self.parts, self.changes if len(self._names) == self.changes else -1

    def take(self, found: Sequence[Change]) -> None:
        """Add what these changes give."""
        add_up(self._sums, found, self._ids, self._zone)
        for row, parts in rows_of(found, self._ids, self._zone):
            self._kept[row.month].append((row, parts))
            self._names.add(row.id)
            self.changes += 1
            self.parts += len(parts)

    def kept(self, before: Month) -> list[tuple[Month, list[changes.Kept]]]:
        """The changes that were delivered before a month, with everybody's part in them; they are given once."""
        return [(month, self._kept.pop(month)) for month in sorted(self._kept) if month < before]

    def sums(self, before: Month) -> dict[totals.Cell, totals.Sum]:
        """The cells of the months before one; they are given once."""
        found = {cell: self._sums.pop(cell) for cell in list(self._sums) if cell[2] < before}
        self.cells += len(found)
        return found


def _mending(spelling: Spelling, installation: InstallationId, given: _Given, before: Month) -> Plan[None]:
    """Make the months before one what the facts give."""
    for month, kept in given.kept(before):
        given.wrong += yield from changes.mending(spelling, installation, month, kept)
    given.wrong += yield from totals.mending(spelling, given.sums(before))
