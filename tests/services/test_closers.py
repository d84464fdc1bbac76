from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from bot.landing.months import month_after, month_start
from bot.model.ids import Month
from bot.queue.embedded import EmbeddedQueue
from bot.queue.worker import Worker
from bot.services.context import Context
from bot.services.digests.publishing import close_months
from bot.store import configurations, ledger
from bot.store.configurations import Configuration
from bot.store.engine import Store
from bot.store.jobs import JOB
from tests.databases import database_url, store
from tests.store.conftest import APP, fact, seed

__all__ = ["database_url", "store"]

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Pacific/Kiritimati", "Asia/Kathmandu")
MORE_ZONES = ("Africa/Casablanca", "America/Asuncion", "Antarctica/Troll", "Australia/Lord_Howe", "Asia/Beirut")


@dataclass
class Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


def closer(store: Store, clock: Clock, zone: str = "UTC") -> Context:
    """The parts of a process that close months."""
    queue = EmbeddedQueue(Worker(store, clock=clock))
    nobody = cast(Any, None)
    return Context(store, queue, nobody, nobody, ZoneInfo(zone), "http://localhost", clock)


@pytest.fixture
async def filled(store: Store) -> Store:
    """A repository with a landing at noon of the 15th, and one in the first and last second of May 2031 in UTC."""
    await seed(store)
    moments = [datetime(2031, month, 15, 12, tzinfo=UTC) for month in (4, 5, 6, 7, 8)]
    moments += [datetime(2031, 5, 1, tzinfo=UTC), datetime(2031, 5, 31, 23, 59, 59, tzinfo=UTC)]
    facts = [fact(n, landed_at=int(moment.timestamp())) for n, moment in enumerate(moments)]
    with store.transaction() as connection:
        ledger.append_facts(connection, APP, facts, moments[0])
    return store


async def deferred(store: Store) -> Counter[str]:
    """How often each digest was asked for."""
    with store.snapshot() as connection:
        rows = connection.execute(select(JOB.c.ref_id).where(JOB.c.task == "close_month"))
        return Counter(row.ref_id for row in rows)


async def test_concurrent_closers_open_each_month_once(filled: Store) -> None:
    clock = Clock(datetime(2031, 5, 2, tzinfo=UTC))
    while clock.now < datetime(2031, 9, 10, tzinfo=UTC):
        await asyncio.gather(*(close_months(closer(filled, clock)) for _ in range(3)))
        clock.now += timedelta(days=5)
    asked = await deferred(filled)
    assert set(asked.values()) == {1}
    assert len(asked) == 5


async def test_work_missed_during_a_long_sleep_is_caught_up_at_once(filled: Store) -> None:
    clock = Clock(datetime(2031, 9, 1, 0, 0, 1, tzinfo=UTC))
    assert await close_months(closer(filled, clock)) == 5
    assert await close_months(closer(filled, clock)) == 0


@pytest.mark.parametrize(
    ("database_url", "zone"),
    [*(("sqlite", zone) for zone in (*ZONES, *MORE_ZONES)), ("postgresql", "Pacific/Apia")],
    indirect=["database_url"],
)
async def test_a_month_is_due_from_its_last_second_on_in_the_repositorys_own_zone(filled: Store, zone: str) -> None:
    with filled.transaction() as connection:
        configurations.keep(connection, APP, Configuration(own=f"timezone: {zone}\n", zone=zone))
    asked = 0
    for month in map(Month, ("2031-04", "2031-05", "2031-06", "2031-07", "2031-08")):
        over = datetime.fromtimestamp(month_start(month_after(month), ZoneInfo(zone)), UTC)
        for moment, expected in ((over - timedelta(seconds=1), 0), (over, 1), (over + timedelta(hours=3), 0)):
            assert await close_months(closer(filled, Clock(moment))) == expected, (zone, month, moment)
            asked += expected
    assert asked == len(await deferred(filled)) == 5


async def test_a_pause_delays_digests_and_its_end_catches_up(filled: Store) -> None:
    clock = Clock(datetime(2031, 7, 2, tzinfo=UTC))
    with filled.transaction() as connection:
        configurations.pause(connection, APP, clock.now)
    assert await close_months(closer(filled, clock)) == 0
    with filled.transaction() as connection:
        configurations.pause(connection, APP, None)
    assert await close_months(closer(filled, clock)) == 3
