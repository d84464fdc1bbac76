"""Does a landing cost the same in December as in January? A year of a large organisation, on a real PostgreSQL.

    python -m benchmarks.speed.year [LANDINGS] [A_TRANSACTION]

By default 100,000 landings by 2,000 people in 20 repositories; facts are generated, not read from GitHub, and applied
by the bot's own `record`. Reports for each month CPU and wall time, statements, rows read and written, and growth of
the database, each per landing.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import text

from benchmarks.speed.counting import counted
from benchmarks.speed.landings import apply, facts_of, organisation
from benchmarks.speed.table import machine, print_progress
from bot.model.fact import Fact
from bot.store.engine import Store
from bot.store.migrate import migrate
from tests.databases import fresh_database


@dataclass
class Spent:
    """The cost of the landings of one month."""

    month: str
    landings: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    statements: int = 0
    rows: int = 0
    size: int = 0

    def summary(self, before: int) -> dict[str, Any]:
        """The cost per landing."""
        each = max(self.landings, 1)
        return {
            "month": self.month,
            "landings": self.landings,
            "ms": round(self.seconds / each * 1000, 3),
            "cpu ms": round(self.cpu / each * 1000, 3),
            "statements": round(self.statements / each, 2),
            "rows": round(self.rows / each, 2),
            "bytes": round((self.size - before) / each),
        }


def by_month(facts: list[Fact]) -> Iterator[tuple[str, list[Fact]]]:
    """The facts in the order they landed, split by month."""
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        found.setdefault(datetime.fromtimestamp(fact.landed_at, UTC).strftime("%Y-%m"), []).append(fact)
    yield from found.items()


async def play(url: str, number: int, batch: int) -> list[dict[str, Any]]:
    months: list[dict[str, Any]] = []
    async with await Store.open(url) as store:
        await migrate(store)
        ids = await organisation(store)
        size = await _size(store)
        for month, facts in by_month(facts_of(number)):
            spent = Spent(month, len(facts))
            begun, cpu = time.perf_counter(), time.process_time()
            with counted() as cost:
                for some in _batches(facts, batch):
                    await apply(store, ids, some)
            spent.seconds, spent.cpu = time.perf_counter() - begun, time.process_time() - cpu
            spent.statements, spent.rows = cost.statements, cost.rows
            spent.size = await _size(store)
            months.append(spent.summary(size))
            size = spent.size
            print_progress(json.dumps(months[-1]))
    return months


def _batches(facts: list[Fact], batch: int) -> Iterator[list[Fact]]:
    """Single facts in the order they landed, or batches of one repository, as a backfill writes them."""
    ordered = facts if batch == 1 else sorted(facts, key=lambda fact: fact.repository)
    at = 0
    while at < len(ordered):
        some = [one for one in ordered[at : at + batch] if one.repository == ordered[at].repository]
        yield some
        at += len(some)


async def _size(store: Store) -> int:
    with store.snapshot() as connection:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    batch = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder, fresh_database("postgresql", Path(folder), migrated=False) as url:
        months = asyncio.run(play(url, number, batch))
    Path("build").mkdir(exist_ok=True)
    Path("build/year.json").write_text(json.dumps({"machine": machine(), "batch": batch, "months": months}, indent=1))
    print("| " + " | ".join(months[0]) + " |\n|" + "---|" * len(months[0]))
    for row in months:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
