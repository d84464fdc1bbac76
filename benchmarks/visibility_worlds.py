"""In how many generated worlds can anybody read what they should not? Each is written, served and read completely.

    python -m benchmarks.visibility_worlds --worlds 10000 [--first SEED]

Prints the worlds that leaked, if any, and the number of pages read; exit 1 if one leaked. A world depends only on its
seed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import delete

from bot.store.engine import Store
from bot.store.schema import TABLES
from tests.databases import fresh_database
from tests.web import worlds
from tests.web.library import serve

FORMS = 1
"""formats to read of each page in addition to HTML, chosen by the seed"""
_MEMORY = Path("/dev/shm")  # noqa: S108 - the system's own mount, not a name that a stranger could take
"""an in-memory folder, if the machine has one: a world's database need not be durable"""


async def _run(store: Store, seed: int) -> worlds.Crawl:
    """Create the world of this seed in an emptied database, and read all of it."""
    rng = random.Random(seed)
    world = worlds.make(rng)
    with store.transaction() as connection:
        for table in reversed(TABLES):
            connection.execute(delete(table))
    await worlds.write(world, store, rng)
    async with serve(store) as site:
        return await worlds.crawl(world, site, rng, forms=FORMS)


async def _all(url: str, seeds: range) -> int:
    begun, total, leaked = time.monotonic(), worlds.Crawl(), 0
    async with await Store.open(url) as store:
        for done, seed in enumerate(seeds, 1):
            found = await _run(store, seed)
            total = worlds.summary((total, found))
            if found.faults:
                leaked += 1
                print(f"world {seed}: {found.faults[:3]}", flush=True)
            if done % 250 == 0 or done == len(seeds):
                progress = f"{done} worlds, {total.pages} pages, {total.absent} absent, {leaked} leaked"
                print(f"{progress}, {time.monotonic() - begun:.0f} s", flush=True)
    return 1 if leaked else 0


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--worlds", type=int, default=10_000)
    arguments.add_argument("--first", type=int, default=0)
    given = arguments.parse_args()
    memory = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder, fresh_database("sqlite", Path(folder)) as url:
        return asyncio.run(_all(url, range(given.first, given.first + given.worlds)))


if __name__ == "__main__":
    sys.exit(main())
