"""Do two processes that write for one installation share its pace?"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.model.budget import Budget
from bot.store.engine import Store, StoreUnavailableError
from bot.store.pace import StoredPace
from tests.databases import fresh_database
from tests.store.conftest import store

__all__ = ["store"]


async def test_writers_share_their_slots(store: Store) -> None:
    one, other = (StoredPace(store, 5, wall=lambda: 1000.0) for _ in range(2))
    gap = (Budget("write gap", 1.0),)
    waits = await asyncio.gather(*(pace.reserve(gap, urgent=True, patience=9) for pace in (one, other, one, other)))
    assert sorted(waits) == [0.0, 1.0, 2.0, 3.0]
    assert await StoredPace(store, 6, wall=lambda: 1000.0).reserve(gap, urgent=True, patience=9) == 0.0


async def test_writers_share_an_hourly_budget_and_what_waits_too_long_spends_nothing(store: Store) -> None:
    one, other = (StoredPace(store, 5, wall=lambda: 1000.0) for _ in range(2))
    budget = (Budget("content", 10.0, burst=3, spared=1),)
    assert [await pace.reserve(budget, urgent=True, patience=1) for pace in (one, other)] == [0.0, 0.0]
    assert await one.reserve(budget, urgent=False, patience=1) == 10.0
    assert await one.reserve(budget, urgent=True, patience=1) == 0.0
    assert [await pace.reserve(budget, urgent=True, patience=1) for pace in (one, other)] == [10.0, 10.0]


@pytest.fixture
def postgresql(tmp_path: Path) -> Iterator[str]:
    with fresh_database("postgresql", tmp_path) as url:
        yield url


async def test_the_writes_of_two_processes_are_a_second_apart(postgresql: str) -> None:
    command = (sys.executable, "-m", "tests.store.pace_process", postgresql, "8")
    pipe = asyncio.subprocess.PIPE
    both = [await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe) for _ in range(2)]
    for one in both:
        assert one.stdout is not None
        assert await one.stdout.readline() == b"ready\n"
    told = await asyncio.gather(*(one.communicate(b"go\n") for one in both))
    theirs = [[float(line) for line in out.split()] for out, _ in told]
    assert [len(times) for times in theirs] == [8, 8]
    together = sorted(itertools.chain(*theirs))
    assert min(after - before for before, after in itertools.pairwise(together)) >= 1.0
    assert together[-1] - together[0] == 15.0, "no slot is left empty either"


async def test_a_pause_applies_to_all_and_a_shorter_one_does_not_end_it(store: Store) -> None:
    one, other = (StoredPace(store, 5, wall=lambda: 1000.0) for _ in range(2))
    await one.close("writes", 60)
    assert await other.seconds_until_open(["core", "writes"]) == 60
    await other.close("writes", 10)
    assert await one.seconds_until_open(["core", "writes"]) == 60
    assert await one.seconds_until_open(["core"]) == 0, "reads go on"


async def test_a_pause_is_known_in_its_process_before_the_database_has_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace, answered = StoredPace(store, 5, wall=lambda: 1000.0), asyncio.Event()
    write = store.write

    async def slow_write(*given: Any, **named: Any) -> Any:
        await answered.wait()
        return await write(*given, **named)

    monkeypatch.setattr(store, "write", slow_write)
    closing = asyncio.create_task(pace.close("core", 60))
    await asyncio.sleep(0)
    assert await pace.seconds_until_open(["core"]) == 60, "although a second look at the rows shows nothing yet"
    assert await pace.seconds_until_open(["writes"]) == 0
    answered.set()
    await closing
    assert await StoredPace(store, 5, wall=lambda: 1000.0).seconds_until_open(["core"]) == 60


async def test_a_pause_that_cannot_be_stored_is_kept_in_its_process(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_write(*given: Any, **named: Any) -> Any:
        raise StoreUnavailableError("locked")

    pace = StoredPace(store, 5, wall=lambda: 1000.0)
    monkeypatch.setattr(store, "write", no_write)
    with pytest.raises(StoreUnavailableError):
        await pace.close("writes", 60)
    assert await pace.seconds_until_open(["core", "writes"]) == 60
