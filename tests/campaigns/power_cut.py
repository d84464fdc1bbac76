"""Is anything lost that was acknowledged before the power was cut?

    python -m tests.campaigns.power_cut [CUTS] [SEED]

The bot's own store accepts deliveries on a simulated disk that keeps writes apart until they are synced. The power is
cut at a random write or sync: of what was not synced, any sectors remain. Then the file is opened again, and each
acknowledged delivery must be there with its job. The log is checkpointed every few pages, so that cuts fall into
checkpoints as well, and some jobs are finished by commits that do not wait for the disk. The control acknowledges such
commits, and must lose some.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from msgspec import Struct
from sqlalchemy import Connection, select, update

from bot.store import opening
from bot.store.engine import Store, StoreBrokenError, StoreUnavailableError
from bot.store.inbox import INBOX, Delivery
from bot.store.ingest import GroupWriter
from bot.store.jobs import JOB, NewJob
from tests.campaigns.simulated_disk import DiskFile, SimulatedDisk, sqlite3_on
from tests.databases import put_tables

NOW = datetime(2031, 5, 20, 12, tzinfo=UTC)
CUTS_OF_ONE_FILE = 25
OPERATIONS = 1200
"""writes and syncs before a cut, at most; a checkpoint takes about thirty"""
_numbers = itertools.count()


class Plan(Struct, frozen=True):
    """How the disk and the bot behave; the usual values are right, all others are planted bugs."""

    settings: tuple[str, ...] = ()
    honest: bool = True
    writer: type[GroupWriter] = GroupWriter


class Cuts(Struct):
    """What the cuts left."""

    cuts: int = 0
    in_checkpoints: int = 0
    acknowledged: int = 0
    lost: int = 0
    damaged: int = 0

    @property
    def nothing_lost(self) -> bool:
        return self.acknowledged > 0 and not self.lost and not self.damaged


def cut_repeatedly(cuts: int, seed: int, plan: Plan) -> Cuts:
    """Cut the power this many times, and count what is missing."""
    found, chance = Cuts(), random.Random(seed)
    while found.cuts < cuts:
        with tempfile.TemporaryDirectory() as folder, _file_on_disk(Path(folder), plan) as disk:
            acknowledged: set[str] = set()
            for _ in range(min(CUTS_OF_ONE_FILE, cuts - found.cuts)):
                try:
                    asyncio.run(_one_cut(Path(folder) / "almanac.sqlite", disk, plan, (chance, acknowledged, found)))
                except StoreBrokenError:
                    found.damaged += 1
                found.cuts += 1
                if found.damaged:
                    return found
    return found


@contextmanager
def _file_on_disk(folder: Path, plan: Plan) -> Iterator[SimulatedDisk]:
    """A migrated database on a simulated disk; the real file beside it only has the name that the lock looks at."""
    path = folder / "almanac.sqlite"
    put_tables(folder)
    disk = SimulatedDisk(f"cut-{next(_numbers)}", honest=plan.honest)
    disk.files[str(path)] = DiskFile(path.read_bytes())
    yield disk
    disk.unregister()


async def _one_cut(path: Path, disk: SimulatedDisk, plan: Plan, counted: tuple[random.Random, set[str], Cuts]) -> None:
    """Open the file, accept deliveries until the power is cut, and count what is missing once it is back."""
    chance, acknowledged, found = counted
    with patch.object(opening, "LOG_PAGES", chance.choice((8, 20, 60, 200))):
        async with _opened(path, disk, plan) as store:
            disk.left = chance.randrange(1, OPERATIONS)
            before = len(acknowledged)
            await _accept_until_the_cut(plan.writer(store), store, chance, acknowledged)
            found.acknowledged += len(acknowledged) - before
            found.in_checkpoints += bool(disk.files[str(path)].pending)
    disk.cut(chance)
    async with _opened(path, disk, plan) as store:
        await _count_missing(store, acknowledged, found)


@asynccontextmanager
async def _opened(path: Path, disk: SimulatedDisk, plan: Plan) -> AsyncIterator[Store]:
    module = sqlite3_on(disk, plan.settings)
    with patch.object(opening, "sqlite3", module):
        store = await Store.open(f"sqlite:///{path}")
        try:
            yield store
        finally:
            await store.close()
            module.close_all()


async def _accept_until_the_cut(
    writer: GroupWriter, store: Store, chance: random.Random, acknowledged: set[str]
) -> None:
    while True:
        wave = [_delivery(f"guid-{next(_numbers)}", chance) for _ in range(chance.randrange(1, 12))]
        answers = await asyncio.gather(*map(writer.accept, wave), return_exceptions=True)
        acknowledged.update(one.guid for one, answer in zip(wave, answers, strict=True) if answer is True)
        if any(isinstance(answer, StoreUnavailableError) for answer in answers):
            return
        if chance.random() < 0.3:
            try:
                await store.write_without_flush(_finish_some)
            except StoreUnavailableError:
                return


def _delivery(guid: str, chance: random.Random) -> Delivery:
    body = chance.randbytes(chance.choice((100, 3000, 20_000)))
    return Delivery("app:1", guid, "push", NOW, "", 11, 22, body, (NewJob("record", guid),))


def _finish_some(connection: Connection) -> None:
    waiting = select(JOB.c.id).where(JOB.c.state == "ready").limit(5)
    connection.execute(update(JOB).where(JOB.c.id.in_(waiting)).values(state="done", finished_at=NOW))


async def _count_missing(store: Store, acknowledged: set[str], found: Cuts) -> None:
    """Count each acknowledged delivery that is missing, or whose job is, and forget it."""
    problem = store.check_integrity()
    if problem is not None:
        raise StoreBrokenError(problem)

    def read(connection: Connection) -> set[str]:
        jobs = set(connection.execute(select(JOB.c.ref_id)).scalars())
        return jobs.intersection(connection.execute(select(INBOX.c.guid)).scalars())

    missing = acknowledged - await store.write(read)
    found.lost += len(missing)
    acknowledged -= missing


def main() -> None:
    cuts = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = cut_repeatedly(cuts, seed, Plan())
    control = cut_repeatedly(max(cuts // 20, 20), seed, Plan(settings=("PRAGMA synchronous = NORMAL",)))
    print(found)
    print("control, synchronous = NORMAL:", control)
    sys.exit(0 if found.nothing_lost and control.lost else 1)


if __name__ == "__main__":
    main()
