"""When may the next request of one installation start, whichever process sends it?

Processes that serve one installation share its limits at GitHub, so they share one small row: a write takes its next
free slot, and a pause that one of them received applies to all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Column, Connection, Table, case, select, update

from bot.store.columns import METADATA, WholeNumber, counters
from bot.store.dialect import insert_into
from bot.store.engine import Store
from bot.store.inserts import insert_absent

PACE = Table(
    "pace",
    METADATA,
    Column("installation_id", WholeNumber, primary_key=True, autoincrement=False),
    *counters("next_write", "closed_until"),
)
"""both in milliseconds of the epoch"""
FRESH = 1.0
"""seconds for which a pause is cached: looking it up for each request would cost more than it saves"""


@dataclass
class StoredPace:
    """The row of one installation. Moments are wall-clock time, so hosts that share it need synchronised clocks."""

    store: Store
    installation: int
    wall: Callable[[], float] = time.time
    _looked: tuple[float, float] = field(default=(float("-inf"), 0.0), init=False)

    async def slot(self, gap: float) -> float:
        """Take the next slot; return the seconds until it. The slot after it begins `gap` seconds later."""
        now = self.wall()
        starts = await self.store.write(_take_slot, self.installation, now=round(now * 1000), gap=round(gap * 1000))
        return max(starts / 1000 - now, 0.0)

    async def seconds_until_open(self) -> float:
        """Seconds until a request may start, over the limits that GitHub reported to any process."""
        now = self.wall()
        looked_at, until = self._looked
        if not looked_at <= now < looked_at + FRESH:
            until = await self.store.read(_closed_until, self.installation) / 1000
            self._looked = (now, until)
        return max(until - now, 0.0)

    async def close(self, seconds: float) -> None:
        """Let no process start a request for this long; a longer pause stays."""
        until = round((self.wall() + seconds) * 1000)

        def save(connection: Connection) -> None:
            statement = insert_into(connection, PACE).values(installation_id=self.installation, closed_until=until)
            later = statement.excluded.closed_until
            statement = statement.on_conflict_do_update(
                index_elements=["installation_id"], set_={"closed_until": later}, where=PACE.c.closed_until < later
            )
            connection.execute(statement)

        await self.store.write(save)
        self._looked = (float("-inf"), 0.0)


def _take_slot(connection: Connection, installation: int, *, now: int, gap: int) -> int:
    """Advance the row in one statement, so that two processes never get the same slot."""
    insert_absent(connection, PACE, [{"installation_id": installation}])
    starts = case((PACE.c.next_write > now, PACE.c.next_write), else_=now)
    mine = PACE.c.installation_id == installation
    statement = update(PACE).where(mine).values(next_write=starts + gap).returning(PACE.c.next_write)
    return int(connection.execute(statement).scalar_one()) - gap


def _closed_until(connection: Connection, installation: int) -> int:
    query = select(PACE.c.closed_until).where(PACE.c.installation_id == installation)
    return connection.execute(query).scalar_one_or_none() or 0
