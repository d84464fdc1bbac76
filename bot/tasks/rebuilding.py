"""How is everything that is derived made anew from the facts, with the same bytes?"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import ChangeId, InstallationId
from bot.store import changes, folding, ledger, totals
from bot.store.engine import Store
from bot.store.turn import Ask, Plan, Say, Spelling, run, spelling_of
from bot.tasks.adding_up import sums
from bot.tasks.recording import Known, folded, rows_of


async def rebuild(store: Store, installation: InstallationId, zone: ZoneInfo) -> None:
    """Fold all facts of an installation and make changes, contributions and totals what they give, in one transaction.

    What stands and is right is not written again.
    """

    async def rebuilt(conn: AsyncConnection) -> None:
        await run(conn, _rebuilding(spelling_of(conn), installation, zone))

    await store.write(rebuilt)


_REPOSITORIES = "repository_id IN (SELECT id FROM repository WHERE installation_id = ?)"
_DERIVED = (
    f"FROM totals WHERE {_REPOSITORIES}",
    f"FROM contribution WHERE change_id IN (SELECT id FROM change WHERE {_REPOSITORIES})",  # noqa: S608  # names
    f"FROM change WHERE {_REPOSITORIES}",
)
"""all that is an installation's own: contributions by their change, which is how they are found"""


def _rebuilding(spelling: Spelling, installation: InstallationId, zone: ZoneInfo) -> Plan[None]:
    """Put everything that the facts give in its place; where more stands than that, drop all and do it once more."""
    yield from folding.alone(spelling, installation)
    given = yield from _putting(spelling, installation, zone)
    if given != (yield from _counting(installation)):
        for rows in _DERIVED:
            yield Say(f"DELETE {rows}", (installation,))
        yield from _putting(spelling, installation, zone)


def _counting(installation: InstallationId) -> Plan[tuple[int, ...]]:
    """How many rows stand, table by table."""
    counts = ", ".join(f"(SELECT COUNT(*) {rows})" for rows in _DERIVED)
    ((*found,),) = yield Ask(f"SELECT {counts}", (installation,) * len(_DERIVED))
    return tuple(map(int, found))


def _putting(spelling: Spelling, installation: InstallationId, zone: ZoneInfo) -> Plan[tuple[int, ...]]:
    """Put what the facts give in place of whatever stands there, some facts at a time; how many rows that is.

    Facts that fold together come together; the memory it takes depends on the largest such group, and not on how many
    facts there are, but for their numbers, the ids of changes and the keys of cells.
    """
    stands, said = yield from folding.around(spelling, installation)
    known = Known(stands, said)
    parts, apart = yield from folding.in_parts(installation)
    cells: set[totals.Cell] = set()
    ids: set[ChangeId] = set()
    many = few = 0
    for numbers in parts:
        found = folded(known, apart, (yield from ledger.numbered(spelling, numbers)))
        rows, shares = rows_of(found, stands.ids, zone)
        yield changes.adding(spelling, rows, shares)
        few, many = few + len(rows), many + len(shares)
        here = sums(found, stands.ids, zone)
        yield from totals.adding(spelling, {cell: more for cell, more in here.items() if cell in cells})
        yield from totals.writing(spelling, {cell: whole for cell, whole in here.items() if cell not in cells})
        cells |= here.keys()
        ids.update(row.id for row in rows)
    # Two changes of one name would be one row: what stands cannot be told by counting then.
    return len(cells), many, few if len(ids) == few else -1
