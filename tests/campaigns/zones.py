"""Is every month posted once, in every time zone, through restarts, and if two processes check at the same moment?

    python -m tests.campaigns.zones [EVERY]

For each zone of the tz database (or every EVERYth), 36 months pass on a virtual clock: on PostgreSQL with the
connections of two processes, and on SQLite. Twice the bot is down over the end of a month and then restarts. Zones
whose months start at the same seconds are tested together: closing depends on nothing else of a zone.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

from sqlalchemy import delete, select

from bot.landing.months import month_after, month_of, month_start
from bot.model.ids import Month
from bot.queue.embedded import EmbeddedQueue
from bot.queue.worker import Worker
from bot.services.context import Context
from bot.services.digests.publishing import close_months
from bot.store import configurations, ledger
from bot.store.configurations import Configuration
from bot.store.digests import DIGEST
from bot.store.engine import Store
from bot.store.installations import remove_repositories
from bot.store.jobs import JOB
from bot.store.ledger import FACT
from tests.databases import fresh_database
from tests.store.conftest import APP, FOREIGN, FORK, fact, seed

FIRST = Month("2031-05")
"""the month before the repository of these tests was installed"""
MONTHS = 36
DOWN = (12, 24)
"""the ends of months at which nothing runs"""


@dataclass(slots=True)
class Outcome:
    """The result for some zones: `late` months were not due in their first second, `early` ones were due before it."""

    zones: int = 0
    asked: int = 0
    twice: int = 0
    missing: int = 0
    early: int = 0
    late: int = 0

    @property
    def complete(self) -> bool:
        return not (self.twice or self.missing or self.early or self.late) and self.asked == self.zones * MONTHS


def zones() -> list[str]:
    """Every name of the tz database in Python's tzdata."""
    return resources.files("tzdata").joinpath("zones").read_text("utf-8").split()


class _Hand:
    """One process with its own connections."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = datetime(2031, 1, 1, tzinfo=UTC)

    async def look(self, moment: float) -> int:
        """The number of digests that this process claims at a moment."""
        self.now = datetime.fromtimestamp(moment, UTC)
        queue = EmbeddedQueue(Worker(self.store, clock=lambda: self.now))
        nobody = cast(Any, None)
        place = Context(self.store, queue, nobody, nobody, ZoneInfo("UTC"), "http://localhost", lambda: self.now)
        return await close_months(place)


def boundaries(zone: str) -> tuple[int, ...]:
    """The start of each month in a zone: all that closing a month depends on."""
    return tuple(month_start(month_after(FIRST, step), ZoneInfo(zone)) for step in range(MONTHS + 1))


def kinds_of_zone(names: list[str]) -> dict[str, list[str]]:
    """One zone for each calendar, with all zones whose months start at the same seconds."""
    found: dict[tuple[int, ...], list[str]] = {}
    for name in names:
        found.setdefault(boundaries(name), []).append(name)
    return {same[0]: same for same in found.values()}


async def fill(url: str) -> None:
    """Create a repository with a landing at noon on the 15th of each month."""
    async with await Store.open(url) as store:
        await seed(store)
        with store.transaction() as connection:
            remove_repositories(connection, [FORK, FOREIGN], datetime(2031, 5, 2, tzinfo=UTC))
        month, facts = FIRST, []
        for number in range(MONTHS):
            facts.append(fact(number, landed_at=month_start(month, ZoneInfo("UTC")) + (14 * 24 + 12) * 3600))
            month = month_after(month)
        with store.transaction() as connection:
            ledger.append_facts(connection, APP, facts, datetime(2031, 5, 2, tzinfo=UTC))


async def pass_months(url: str, zone: str, outcome: Outcome) -> None:
    """Let 36 months pass in one zone, with two processes if the database allows two."""
    hands = 2 if url.startswith("postgresql") else 1
    here, month = ZoneInfo(zone), FIRST
    async with await Store.open(url) as store:
        with store.transaction() as connection:
            connection.execute(delete(DIGEST))
            connection.execute(delete(JOB))
            configurations.keep(connection, APP, Configuration(own=f"timezone: {zone}\n", zone=zone))
    for begin, end in zip((0, *DOWN), (*DOWN, MONTHS), strict=True):
        async with AsyncExitStack() as stack:
            workers = [_Hand(await stack.enter_async_context(await Store.open(url))) for _ in range(hands)]
            if begin:
                caught_up = await asyncio.gather(*(one.look(month_start(month, here) + 7200) for one in workers))
                outcome.late += sum(caught_up) < 1
            for number in range(begin, end):
                following = month_after(month)
                over = month_start(following, here)
                if month_of(over, here) != following or month_of(over - 1, here) != month:
                    outcome.late += 1
                if number + 1 not in DOWN:
                    outcome.early += await workers[0].look(over - 1)
                    outcome.late += sum(await asyncio.gather(*(one.look(over) for one in workers))) < 1
                month = following
    await _count(url, outcome)


async def _count(url: str, outcome: Outcome) -> None:
    async with await Store.open(url) as store:
        with store.snapshot() as connection:
            rows = connection.execute(select(JOB.c.ref_id).where(JOB.c.task == "close_month"))
            asked = Counter(row.ref_id for row in rows)
            told = len(connection.execute(select(DIGEST.c.month)).all())
            months = len(connection.execute(select(FACT.c.id)).all())
    outcome.zones += 1
    outcome.asked += sum(asked.values())
    outcome.twice += sum(count - 1 for count in asked.values())
    outcome.missing += months - told


async def run(url: str, names: list[str]) -> Outcome:
    """Test one zone after the other on one database."""
    outcome = Outcome()
    await fill(url)
    for number, zone in enumerate(names, 1):
        await pass_months(url, zone, outcome)
        if number % 10 == 0:
            print(f"{number} zones: {outcome}", flush=True)
    return outcome


def main() -> int:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    kinds, began = kinds_of_zone(zones()[::every]), time.monotonic()
    names = list(kinds)
    print(f"{sum(map(len, kinds.values()))} zones, of {len(names)} calendars", flush=True)
    whole = True
    for kind in ("postgresql", "sqlite"):
        with tempfile.TemporaryDirectory() as folder, fresh_database(kind, Path(folder)) as url:
            outcome = asyncio.run(run(url, names))
        whole = whole and outcome.complete
        print(f"{kind}: {outcome} in {time.monotonic() - began:.0f} s", flush=True)
    return 0 if whole else 1


if __name__ == "__main__":
    raise SystemExit(main())
