"""Is old delivery data pruned in time, and is a repeated old delivery recognised?"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from sqlalchemy import func, select

from bot.services.pruning import BODIES_KEPT, ask_to_prune
from bot.store import inbox
from bot.store.dump import canonical_dump
from bot.store.inbox import INBOX
from bot.store.jobs import counts
from simulator.server import Simulator
from tests.services.landed import NOW, Town, town


async def _bodies(there: Town) -> tuple[int, int]:
    with there.bot.store.snapshot() as connection:
        kept = connection.execute(select(func.count(), func.count(INBOX.c.body)).select_from(INBOX))
        return tuple(kept.one())


async def test_an_old_delivery_repeated_after_pruning_counts_nothing(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        for number in range(4):
            await there.land(f"feat: add lamp {number}", at=NOW + timedelta(minutes=number))
        rows, bodies = await _bodies(there)
        assert bodies == rows > 0
        there.clock.now += BODIES_KEPT + timedelta(days=1)
        await asyncio.gather(*(ask_to_prune(there.bot.context) for _ in range(5)))
        await there.bot.queue.drain()
        assert await _bodies(there) == (rows, 0)
        with there.bot.store.snapshot() as connection:
            assert counts(connection).get("done", 0) <= 1, "only the pruning itself"
        before = await canonical_dump(there.bot.store)
        for delivery in list(github.deliveries.log):
            github.deliveries.redeliver(delivery.id)
        await there.drained()
        assert await _bodies(there) == (rows, 0)
        assert await canonical_dump(there.bot.store) == before


async def test_a_day_is_pruned_once_and_the_next_day_again(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        taken = []
        for _ in range(2):
            await ask_to_prune(there.bot.context)
            taken.append(await there.bot.queue.drain())
            await ask_to_prune(there.bot.context)
            taken.append(await there.bot.queue.drain())
            there.clock.now += timedelta(days=1)
        assert taken == [1, 0, 1, 0]


async def test_recent_bodies_are_kept(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        await there.land("feat: add a lamp")
        there.clock.now += BODIES_KEPT - timedelta(days=1)
        with there.bot.store.transaction() as connection:
            assert inbox.drop_bodies(connection, there.clock.now - BODIES_KEPT, limit=10) == 0
