"""When may the next request of one installation start, whichever process sends it?

Processes that serve one installation share its limits at GitHub, so they share a few small rows: a budget that they
spend together, and a pause that one of them received and that applies to all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Column, Connection, Table, select

from bot.model.budget import Budget, spend, wait_for
from bot.store.columns import METADATA, CleanText, WholeNumber, counters
from bot.store.dialect import insert_into
from bot.store.engine import Store
from bot.store.inserts import insert_absent, upsert

PACE = Table(
    "pace",
    METADATA,
    Column("installation_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("name", CleanText, primary_key=True),
    *counters("until"),
)
"""by budget: when what was spent is earned again; by limit: until when requests pause. Milliseconds of the epoch"""
FRESH = 1.0
"""seconds for which pauses are cached: looking them up for each request would cost more than it saves"""


@dataclass
class StoredPace:
    """The rows of one installation. They hold wall-clock time, so hosts that share them need synchronised clocks."""

    store: Store
    installation: int
    wall: Callable[[], float] = time.time
    _looked_at: float = field(default=float("-inf"), init=False)
    _closed: dict[str, float] = field(default_factory=dict, init=False)
    _own: dict[str, float] = field(default_factory=dict, init=False)
    """the pauses that this process received; they count before they are stored, and if they cannot be stored"""

    async def reserve(self, budgets: Sequence[Budget], *, urgent: bool, patience: float) -> float:
        """Spend the budgets on a request that starts after the seconds returned; above `patience` nothing is spent."""
        if not budgets:
            return 0.0
        now = self.wall()

        def save(connection: Connection) -> float:
            spent = _locked(connection, self.installation, [one.name for one in budgets])
            wait = wait_for(budgets, spent, now, urgent=urgent)
            if wait <= patience:
                kept = spend(budgets, spent, now + wait)
                upsert(connection, PACE, [_row(self.installation, name, until) for name, until in kept.items()])
            return wait

        return await self.store.write(save)

    async def seconds_until_open(self, limits: Collection[str]) -> float:
        """Seconds until a request may start, over the limits that GitHub reported to any process."""
        now = self.wall()
        if not self._looked_at <= now < self._looked_at + FRESH:
            self._closed = await self.store.read(_ends_of, self.installation, limits=("core", "graphql", "writes"))
            self._looked_at = now
        ends = (self._closed.get(limit, now) for limit in limits)
        own = (self._own.get(limit, now) for limit in limits)
        return max([now, *ends, *own]) - now

    async def close(self, limit: str, seconds: float) -> None:
        """Let no process start a request within this limit for this long; a longer pause stays."""
        until = self.wall() + seconds
        self._own[limit] = max(self._own.get(limit, until), until)
        row = _row(self.installation, limit, until)

        def save(connection: Connection) -> None:
            statement = insert_into(connection, PACE).values(row)
            later = statement.excluded.until
            statement = statement.on_conflict_do_update(
                index_elements=["installation_id", "name"], set_={"until": later}, where=PACE.c.until < later
            )
            connection.execute(statement)

        await self.store.write(save)
        self._looked_at = float("-inf")


def _row(installation: int, name: str, until: float) -> dict[str, object]:
    return {"installation_id": installation, "name": name, "until": round(until * 1000)}


def _locked(connection: Connection, installation: int, names: Sequence[str]) -> dict[str, float]:
    """What is kept of these budgets, locked until the transaction ends, so that no two processes spend it at once."""
    ordered = sorted(names)
    insert_absent(connection, PACE, [_row(installation, name, 0) for name in ordered])
    mine = (PACE.c.installation_id == installation) & PACE.c.name.in_(ordered)
    query = select(PACE.c.name, PACE.c.until).where(mine).order_by(PACE.c.name).with_for_update()
    return {row.name: row.until / 1000 for row in connection.execute(query)}


def _ends_of(connection: Connection, installation: int, *, limits: Sequence[str]) -> dict[str, float]:
    mine = (PACE.c.installation_id == installation) & PACE.c.name.in_(limits)
    return {row.name: row.until / 1000 for row in connection.execute(select(PACE).where(mine))}
