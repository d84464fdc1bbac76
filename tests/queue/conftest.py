"""Which engines and databases does the queue's contract run on? Each combination."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.queue.embedded import EmbeddedQueue
from bot.queue.interface import Job
from bot.queue.scaled import ScaledQueue
from bot.queue.worker import Worker, WorkerPace
from bot.store.engine import Store
from bot.store.jobs import counts
from tests.databases import fresh_database

ENGINES = ("embedded on sqlite", "embedded on postgresql", "procrastinate on postgresql")
PACE = WorkerPace(concurrency=2, lease=timedelta(seconds=60), renew_every=0.05, poll_every=0.05, grace=5.0)


@dataclass
class Clock:
    """Time that passes only on request."""

    now: datetime = datetime(2031, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Bench:
    """One engine on one database, and as many workers of it as a test wants."""

    engine: str
    store: Store
    stack: contextlib.AsyncExitStack
    clock: Clock = field(default_factory=Clock)

    async def queue(self, pace: WorkerPace = PACE) -> Any:
        """Another process' worker."""
        worker = Worker(self.store, clock=self.clock, random=lambda: 0.0, pace=pace)
        if self.engine.startswith("embedded"):
            return EmbeddedQueue(worker)
        return await self.stack.enter_async_context(ScaledQueue(worker))

    async def defer(self, queue: Any, task: str, ref_id: str | int = 1, **options: Any) -> int | None:
        with self.store.transaction() as connection:
            number: int | None = queue.defer(connection, task, ref_id, **options)
        return number

    async def counts(self) -> dict[str, int]:
        with self.store.snapshot() as connection:
            return counts(connection)


def register(queue: Any, name: str, function: Callable[[Job], Awaitable[None]], max_attempts: int = 3) -> None:
    queue.register(name, function, timedelta(seconds=5), max_attempts)


@pytest.fixture(params=ENGINES)
def engine_and_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    with fresh_database(request.param.split()[-1], tmp_path) as url:
        yield request.param, url


@pytest.fixture
async def bench(engine_and_url: tuple[str, str]) -> AsyncIterator[Bench]:
    engine, url = engine_and_url
    async with await Store.open(url) as store, contextlib.AsyncExitStack() as stack:
        yield Bench(engine, store, stack)
