"""How long does it take to rebuild all totals from the facts, compared with one GROUP BY over them?

The rebuild folds all facts again and compares the result with every change, contribution and cell; its canonical dump
must be byte for byte the same as before. It is measured with all rows present, and with none, so that each has to be
written.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections.abc import Awaitable
from dataclasses import dataclass

from sqlalchemy import delete, func, select

from benchmarks.speed.landings import UTC_ZONE, apply, facts_of, organisation
from benchmarks.speed.table import Measurement
from bot.model.ids import InstallationId
from bot.services.recording.rebuild import rebuild
from bot.store.changes import CHANGE, CONTRIBUTION
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.ledger import FACT
from bot.store.migrate import migrate
from bot.store.totals import TOTALS

NUMBER = 4_000
ROUNDS = 3


@dataclass
class Seconds:
    """CPU seconds, the minimum of several rounds."""

    floor: float = math.inf
    unchanged: float = math.inf
    dropped: float = math.inf


async def measure() -> Seconds:
    """Measure the GROUP BY and the two rebuilds. Raises AssertionError if the bytes differ."""
    with tempfile.TemporaryDirectory() as folder:
        async with await Store.open(f"sqlite:///{folder}/almanac.db") as store:
            await migrate(store)
            ids = await organisation(store)
            facts = facts_of(NUMBER)
            for at in range(0, NUMBER, 2000):
                await apply(store, ids, facts[at : at + 2000])
            before = await canonical_dump(store)
            least = Seconds()
            for _ in range(ROUNDS):
                least.floor = min(least.floor, await _processor_seconds(_run_group_by(store)))
                least.unchanged = min(
                    least.unchanged, await _processor_seconds(rebuild(store, InstallationId(1), UTC_ZONE))
                )
                await _drop(store)
                least.dropped = min(
                    least.dropped, await _processor_seconds(rebuild(store, InstallationId(1), UTC_ZONE))
                )
            if await canonical_dump(store) != before:
                raise AssertionError("a rebuild gave other bytes")
    return least


async def _processor_seconds(work: Awaitable[object]) -> float:
    begun = time.process_time()
    await work
    return time.process_time() - begun


async def _run_group_by(store: Store) -> None:
    month = func.strftime("%Y-%m", FACT.c.landed_at, "unixepoch")
    size = func.sum(func.json_extract(FACT.c.payload, "$.lines[0]"))
    key = (FACT.c.author_key, FACT.c.repository_id, month)
    with store.snapshot() as connection:
        connection.execute(select(*key, func.count(), size).group_by(*key)).all()


async def _drop(store: Store) -> None:
    with store.transaction() as connection:
        for table in (TOTALS, CONTRIBUTION, CHANGE):
            connection.execute(delete(table))


def rows() -> list[Measurement]:
    least = asyncio.run(measure())
    floor_name = "GROUP BY over the facts"
    return [
        Measurement(f"rebuild all totals of {NUMBER:,} facts", floor_name, least.floor, least.unchanged, "s"),
        Measurement("the same where all rows were dropped", floor_name, least.floor, least.dropped, "s"),
    ]
