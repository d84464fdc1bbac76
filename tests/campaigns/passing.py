"""The complete bot against the simulated GitHub on a clock that passes only by sleeping and waiting, for campaigns."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace
from sqlalchemy import Connection, func, select

from bot.app import Bot, Timing, build, serve_http
from bot.github.limits import Clock as RequestClock
from bot.queue.worker import WorkerPace
from bot.services.deliveries.catch_up import ask_to_catch_up
from bot.services.digests.publishing import close_months
from bot.store.jobs import JOB
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.world import World
from tests.databases import put_tables

CATCH_UP_EVERY, CLOSE_EVERY = timedelta(hours=6), timedelta(hours=12)


@dataclass
class VirtualClock:
    """The time of GitHub and of the bot. Sleeping takes none of the machine's."""

    now: datetime
    chance: random.Random = field(default_factory=lambda: random.Random(0))

    def __call__(self) -> datetime:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=max(seconds, 0.0))
        await asyncio.sleep(0)

    def of_requests(self) -> RequestClock:
        def seconds() -> float:
            return self.now.timestamp()

        return RequestClock(steady=seconds, wall=seconds, sleep=self.sleep, chance=self.chance.random)


@dataclass
class Passing:
    """A bot whose time is moved by hand."""

    github: Simulator
    bot: Bot
    clock: VirtualClock
    url: str
    _caught_up: datetime
    _closed: datetime

    async def work(self) -> None:
        """Attempt all deliveries, and do all jobs that are due."""
        await self.github.wait_until_idle()
        while await self.bot.queue.drain():
            await self.github.wait_until_idle()

    async def until(self, moment: datetime) -> None:
        """Let time pass, with each job at its time, and the bot's own timers at theirs."""
        while (step := min(moment, self._caught_up + CATCH_UP_EVERY, self._closed + CLOSE_EVERY, self._due())) < moment:
            self.clock.now = max(self.clock.now, step)
            await self._ring()
            await self.work()
        self.clock.now = max(self.clock.now, moment)
        await self.work()

    async def _ring(self) -> None:
        context = self.bot.context
        if self.clock.now >= self._caught_up + CATCH_UP_EVERY:
            self._caught_up = self.clock.now
            await ask_to_catch_up(context)
        if self.clock.now >= self._closed + CLOSE_EVERY:
            self._closed = self.clock.now
            await close_months(context)

    def _due(self) -> datetime:
        """When the next job is due."""
        with self.bot.store.snapshot() as connection:
            due = connection.execute(select(func.min(JOB.c.run_at)).where(JOB.c.state == "ready")).scalar_one()
        return due or self.clock.now + timedelta(days=365)

    def jobs(self, state: str) -> list[tuple[str, str, str | None]]:
        """Task, arguments and last error of the jobs in a state."""

        def read(connection: Connection) -> list[tuple[str, str, str | None]]:
            rows = connection.execute(select(JOB.c.task, JOB.c.ref_id, JOB.c.last_error).where(JOB.c.state == state))
            return [(row.task, row.ref_id, row.last_error) for row in rows]

        with self.bot.store.snapshot() as connection:
            return read(connection)


@contextlib.asynccontextmanager
async def passing(
    world: World,
    data: Path,
    clock: VirtualClock,
    *,
    work: WorkerPace | None = None,
    answered_within: float = 30.0,
    on_built: Callable[[Bot], None] | None = None,
) -> AsyncIterator[Passing]:
    """The bot on SQLite in `data`, with the write pace of a real one; its App's deliveries go to it."""
    await asyncio.to_thread(put_tables, data)
    timing = Timing(
        clock=clock,
        work=work or WorkerPace(concurrency=4, poll_every=0.02),
        requests=clock.of_requests(),
        answered_within=answered_within,
    )
    settings = replace(settings_for(world.github, world, data), write_gap=1.0)
    async with build(settings, timing) as bot, serve_http(bot, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        world.app.webhook_url = f"{url}/webhook"
        if on_built is not None:
            on_built(bot)
        yield Passing(world.github, bot, clock, url, clock.now, clock.now)
