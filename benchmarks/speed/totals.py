"""How long does it take to rebuild all totals from the facts, beside the least that SQL can do: one GROUP BY over them?

The rebuild drops every change, contribution and cell, and folds all facts anew; its canonical dump must be the bytes
that stood there before.
"""

from __future__ import annotations

import asyncio
import tempfile
import time

from sqlalchemy import func, select

from benchmarks.speed.landings import UTC_ZONE, apply, facts_of, organisation
from benchmarks.speed.table import Row
from bot.model import InstallationId
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.ledger import FACT
from bot.store.migrate import migrate
from bot.tasks.rebuilding import rebuild

NUMBER = 4_000


async def measure() -> tuple[float, float]:
    """Seconds: the GROUP BY, and the rebuild. Raises where the bytes differ."""
    with tempfile.TemporaryDirectory() as folder:
        async with await Store.open(f"sqlite+aiosqlite:///{folder}/almanac.db") as store:
            await migrate(store)
            ids = await organisation(store)
            facts = facts_of(NUMBER)
            for at in range(0, NUMBER, 2000):
                await apply(store, ids, facts[at : at + 2000])
            before = await canonical_dump(store)
            month = func.strftime("%Y-%m", FACT.c.landed_at, "unixepoch")
            size = func.sum(func.json_extract(FACT.c.payload, "$.lines[0]"))
            begun = time.perf_counter()
            async with store.read() as conn:
                key = (FACT.c.author_key, FACT.c.repository_id, month)
                (await conn.execute(select(*key, func.count(), size).group_by(*key))).all()
            floor = time.perf_counter() - begun
            begun = time.perf_counter()
            await rebuild(store, InstallationId(1), UTC_ZONE)
            spent = time.perf_counter() - begun
            if await canonical_dump(store) != before:
                raise AssertionError("a rebuild gave other bytes")
    return floor, spent


def rows() -> list[Row]:
    floor, ours = asyncio.run(measure())
    return [Row(f"rebuild all totals of {NUMBER:,} facts", "GROUP BY over the facts", floor, ours, "s")]
