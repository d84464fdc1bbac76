"""Is anything acknowledged lost, or anything counted twice, if the bot is killed repeatedly?

    python -m tests.campaigns.kill_storm [KILLS] [SEED]

The bot runs as `almanac serve` on SQLite; while the simulated organisation's half year is delivered, the process is
killed with SIGKILL at random moments and restarted. Deliveries without a 2xx answer are redelivered afterwards, as a
catch-up would do. Then every landed commit must be in the ledger once, with one check run on each first-parent commit
that landed work.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from msgspec import Struct
from sqlalchemy import func, select

from bot.store.engine import Store
from bot.store.jobs import JOB
from bot.store.ledger import FACT
from bot.store.outbox import OUTBOX
from simulator.server import Simulator
from simulator.world import World, build_world, play_next
from tests.databases import put_tables

NOW = datetime(2031, 5, 20, 12, tzinfo=UTC)


class Outcome(Struct, frozen=True):
    """The state at the end."""

    kills: int
    deliveries: int
    sent_again: int
    landed: int
    recorded: int
    dead_jobs: int
    checks_twice: int
    checks: int
    intents: int

    @property
    def complete(self) -> bool:
        return (
            self.landed == self.recorded
            and not self.dead_jobs
            and not self.checks_twice
            and self.checks == self.intents > 0
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Victim:
    """`almanac serve` in a process of its own."""

    def __init__(self, github: Simulator, world: World, data: Path) -> None:
        self.port = free_port()
        self.data = data
        self.environment = os.environ | {
            "ALMANAC_APP_ID": str(world.app.id),
            "ALMANAC_PRIVATE_KEY": world.app.private_key,
            "ALMANAC_WEBHOOK_SECRET": world.app.webhook_secret,
            "ALMANAC_GITHUB_URL": github.url,
            "ALMANAC_DATA": str(data),
            "ALMANAC_DATABASE_URL": f"sqlite:///{data / 'almanac.sqlite'}",
            "ALMANAC_PORT": str(self.port),
            "ALMANAC_WRITE_GAP": "0",
            "ALMANAC_BACKFILL": "off",
        }
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with (self.data / "log.txt").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", "serve", env=self.environment, stdout=log, stderr=log
            )
        await self._listening()

    async def _listening(self) -> None:
        async with aiohttp.ClientSession() as session:
            for _ in range(600):
                try:
                    async with session.get(f"http://127.0.0.1:{self.port}/webhook"):
                        return
                except aiohttp.ClientError:
                    await asyncio.sleep(0.05)
        raise RuntimeError((self.data / "log.txt").read_text()[-2000:])

    async def end(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        await self._process.wait()


async def storm(kills: int, seed: int, landings: int) -> Outcome:
    """Play `landings` landings while the bot is killed `kills` times."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with Simulator() as github:
            world = build_world(github, NOW)
            await asyncio.to_thread(put_tables, Path(folder))
            victim = Victim(github, world, Path(folder))
            world.app.webhook_url = f"http://127.0.0.1:{victim.port}/webhook"
            await victim.start()

            async def kill() -> None:
                for _ in range(kills):
                    await asyncio.sleep(chance.uniform(0.05, 0.9))
                    await victim.end(signal.SIGKILL)
                    await victim.start()

            killing = asyncio.create_task(kill())
            while world.played < landings and await play_next(world):
                pass
            await killing
            again = await send_again(github)
            await _quiet(victim)
            await victim.end(signal.SIGTERM)
            return await _outcome(world, victim, kills=kills, again=again)


async def send_again(github: Simulator) -> int:
    """Redeliver until every delivery has been answered 2xx; return the number of redeliveries."""
    sent = 0
    while True:
        good = {delivery.guid for delivery in github.deliveries.log if 200 <= (delivery.status_code or 0) < 300}
        bad = {delivery.guid: delivery.id for delivery in github.deliveries.log if delivery.guid not in good}
        if not bad:
            return sent
        for number in bad.values():
            github.deliveries.redeliver(number)
        sent += len(bad)
        await github.wait_until_idle()


async def _quiet(victim: Victim) -> None:
    """Wait until no job is left."""
    store = await Store.open(f"sqlite:///{victim.data / 'almanac.sqlite'}", read_only=True)
    try:
        for _ in range(2400):
            with store.snapshot() as connection:
                query = select(func.count()).select_from(JOB).where(JOB.c.state.in_(("ready", "running")))
                if not connection.execute(query).scalar_one():
                    return
            await asyncio.sleep(0.1)
    finally:
        await store.close()
    raise RuntimeError("jobs are left over")


async def _outcome(world: World, victim: Victim, *, kills: int, again: int) -> Outcome:
    store = await Store.open(f"sqlite:///{victim.data / 'almanac.sqlite'}", read_only=True)
    with store.snapshot() as connection:
        facts = connection.execute(select(FACT.c.commit_id)).scalars().all()
        dead = connection.execute(select(func.count()).where(JOB.c.state == "dead")).scalar_one()
        intents = connection.execute(select(func.count()).where(OUTBOX.c.kind == "check")).scalar_one()
    await store.close()
    checks: Counter[str] = Counter()
    for repository in world.repositories.values():
        checks.update(
            run.fields["head_sha"]
            for run in repository.checks.values()
            if run.app is world.app and run.fields["conclusion"] == "neutral"
        )
    landed = sum(landed_commits(repository) for repository in world.repositories.values())
    twice = sum(1 for count in checks.values() if count > 1)
    log = world.github.deliveries.log
    return Outcome(kills, len(log), again, landed, len(facts), dead, twice, sum(checks.values()), intents)


def landed_commits(repository: object) -> int:
    """The number of non-merge commits on the default branch, except the first, which no delivery reported."""
    from simulator.git import run_git
    from simulator.state import SimRepository

    assert isinstance(repository, SimRepository)
    text = run_git(repository.git.path, "rev-list", "--count", "--no-merges", str(repository.git.tip))
    return int(text) - 1


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    outcome = asyncio.run(storm(kills, seed, 1000))
    print(outcome)
    sys.exit(0 if outcome.complete else 1)


if __name__ == "__main__":
    main()
