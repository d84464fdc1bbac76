"""How often does the engine without a service look for jobs? Each look takes a write transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bot.queue.embedded import EmbeddedQueue
from bot.queue.interface import Job
from bot.queue.worker import WorkerPace
from tests.queue.conftest import Bench, register

JOBS = 5


@pytest.mark.parametrize("engine_and_url", ["embedded on sqlite"], indirect=True)
async def test_a_worker_with_free_capacity_sleeps_until_it_is_woken(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    did: list[str] = []

    def noted(name: str) -> Callable[..., Awaitable[Any]]:
        real = getattr(EmbeddedQueue, name)

        async def call(*given: Any) -> Any:
            did.append(name)
            return await real(*given)

        return call

    for name in ("_claims", "_rest"):
        monkeypatch.setattr(EmbeddedQueue, name, noted(name))
    queue = await bench.queue(WorkerPace(poll_every=60.0, grace=5.0))
    ended: asyncio.Queue[str] = asyncio.Queue()

    async def note(job: Job) -> None:
        ended.put_nowait(job.ref_id)

    register(queue, "note", note)
    running = asyncio.create_task(queue.run())
    async with asyncio.timeout(10):
        for number in range(JOBS):
            await bench.defer(queue, "note", number)
            await ended.get()
        queue.stop()
        await running
    assert await bench.counts() == {"done": JOBS}
    assert did[::2] == ["_claims"] * (len(did) // 2)
    assert did[1::2] == ["_rest"] * (len(did) // 2)
