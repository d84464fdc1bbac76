"""A shop on the simulated GitHub in which work lands in every way, and the requests that each landing costs."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.app import Bot, Timing, build, serve_http
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.landing.changes import fold
from bot.model.change import Change
from bot.model.fact import Fact
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.worker import WorkerPace
from bot.services.recording.rebuild import rebuild
from bot.store import installations, ledger
from bot.store.dump import dump_lines
from simulator.deliveries import SimDelivery
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.state import SimAccount, SimApp, SimInstallation, SimPullRequest, SimRepository
from simulator.work import Button, NewPullRequest, Step
from simulator.world import World
from tests.databases import fresh_database
from tests.services.landed import NOW, Clock

_ID = re.compile(r"(?<=/)(?:[0-9a-f]{40}(?:\.\.\.[0-9a-f]{40})?|[0-9]+)(?=/|$)")
COMMIT, COMPARE, POST, PULL = "GET commits/*", "GET compare/*", "POST check-runs", "GET pulls/*"
Row = tuple[str, str, int]
"""a commit, its merge commit, and when that landed"""


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    """The simulator without GitHub's description; other tests check every kind of exchange against it."""
    async with Simulator() as running:
        yield running


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A folder with a database at its newest tables."""
    with fresh_database("sqlite", tmp_path):
        shutil.move(tmp_path / "almanac.db", tmp_path / "almanac.sqlite")
        yield tmp_path


def operation(request: str) -> str:
    """`GET /repositories/7/pulls/3` as `GET pulls/*`."""
    method, path = request.split(" ", 1)
    path = re.sub(r"^/repos(?:itories/[0-9]+|/[^/]+/[^/]+)", "", path) or "/repository"
    return f"{method} {_ID.sub('*', path).lstrip('/')}"


@dataclass
class Shop:
    """`ada` writes, `mara` merges; the bot listens."""

    github: Simulator
    bot: Bot
    app: SimApp
    owner: SimAccount
    installation: SimInstallation
    repository: SimRepository
    clock: Clock
    ada: SimAccount
    mara: SimAccount
    turn: int = 0
    _counted: int = 0

    # -- time and deliveries

    async def done(self) -> None:
        """All that may be delivered was attempted, and all jobs that are due are done."""
        await self.github.wait_until_idle()
        while await self.bot.queue.drain():
            await self.github.wait_until_idle()

    async def drained(self) -> None:
        """All deliveries attempted, all jobs done, those that wait a while too."""
        for _ in range(3):
            await self.done()
            self.clock.now += timedelta(seconds=30)
        await self.done()

    async def hear(self, is_heard: Callable[[SimDelivery], bool]) -> list[SimDelivery]:
        """Of what is held back, only these are delivered, and what is due is done. Those that still wait."""
        deliveries = self.github.deliveries
        kept = [one for one in deliveries.waiting if not is_heard(one)]
        deliveries.waiting = [one for one in deliveries.waiting if is_heard(one)]
        deliveries.release()
        await self.done()
        deliveries.hold()
        deliveries.waiting[:0] = kept
        return kept

    async def ask(self, task: str, **given: int | str) -> None:
        """A job as a timer or a delivery would ask for it."""
        with self.bot.store.transaction() as connection:
            ref = json.dumps(given, sort_keys=True, separators=(",", ":"))
            self.bot.queue.defer(connection, task, ref, serial_key=f"{task}:asked")
        await self.drained()

    async def cost(self) -> Counter[str]:
        """Requests by operation since the last call, tokens left out."""
        await self.drained()
        return self.spent()

    def spent(self) -> Counter[str]:
        seen = self.github.requests[self._counted :]
        self._counted += len(seen)
        return Counter(operation(one) for one in seen if "/access_tokens" not in one)

    # -- work

    def step(self, text: str = "") -> Step:
        self.turn += 1
        body = f"def part_{self.turn}():\n    return {self.turn}\n{text}"
        return Step(f"Add part {self.turn}", {f"part_{self.turn}.py": body.encode()}, at=self.clock.now)

    def open(self, commits: int = 1, *, repo: SimRepository | None = None, **told: Any) -> SimPullRequest:
        """A pull request of several commits."""
        self.clock.now += timedelta(hours=1)
        steps = [self.step() for _ in range(commits)]
        told = {"branch": f"topic-{self.turn}"} | told
        work = NewPullRequest(f"Add parts up to {self.turn}", self.ada, steps, **told)
        return self.github.open_pull(repo or self.repository, work, at=self.clock.now)

    def merge(self, pull: SimPullRequest, how: Button, *, repo: SimRepository | None = None) -> list[str]:
        self.clock.now += timedelta(minutes=1)
        return self.github.merge(repo or self.repository, pull, how, by=self.mara, at=self.clock.now)

    def push(self, commits: int = 1, *, repo: SimRepository | None = None, branch: str = "main") -> list[str]:
        self.clock.now += timedelta(hours=1)
        steps = [self.step() for _ in range(commits)]
        return self.github.push(repo or self.repository, branch, steps, by=self.ada, at=self.clock.now)

    def write(self, path: str, text: str, *, repo: SimRepository | None = None) -> None:
        self.clock.now += timedelta(hours=1)
        step = Step(f"Write {path}", {path: text.encode()}, at=self.clock.now)
        self.github.push(repo or self.repository, "main", [step], by=self.ada, at=self.clock.now)

    # -- the record

    async def facts(self, repository: SimRepository | None = None) -> list[Fact]:
        """Of one repository, oldest landing first."""
        with self.bot.store.snapshot() as connection:
            return ledger.facts_in(connection, RepositoryId((repository or self.repository).id))

    async def rows(self, repository: SimRepository | None = None) -> set[Row]:
        return {(fact.commit, fact.merge_commit, fact.landed_at) for fact in await self.facts(repository)}

    async def changes(self) -> tuple[Change, ...]:
        """All changes of the installation, folded from its facts."""
        with self.bot.store.snapshot() as connection:
            rows = installations.repositories_of(connection, InstallationId(self.installation.id))
            ids = [row.repository.id for row in rows if row.repository.id is not None]
            facts = [fact for one in ids for fact in ledger.facts_in(connection, one)]
        return fold(facts, {row.repository.full_name: row.repository for row in rows})

    async def lines(self, *tables: str) -> list[str]:
        """The rows of these tables as the record's text has them."""
        kinds = tuple(f'["{table}' for table in tables)
        return [
            line
            for line in await self.bot.store.read(lambda connection: list(dump_lines(connection)))
            if line.startswith(kinds)
        ]

    async def unlike_rebuilt(self) -> set[str]:
        """Rows of changes and totals that a fold of all facts at once does not give, or gives instead."""
        before = await self.lines(*SUMMED)
        await rebuild(self.bot.store, InstallationId(self.installation.id), self.bot.context.zone)
        return set(before) ^ set(await self.lines(*SUMMED))


SUMMED = ("change", "contribution", "totals")


YEAR_3000 = 32_503_680_000
"""epoch seconds: the simulated worlds are ahead of this machine's clock"""


def cloned(repository: SimRepository) -> set[Row]:
    """What a fresh clone of the default branch records, without the commit that was there before the bot came."""
    record = CloneRecord(open_clones([repository.git.path]), cache=False, now=YEAR_3000)
    record.refresh()
    found = {
        (one.fact.commit, one.fact.merge_commit, one.fact.landed_at)
        for person in record.people.all()
        for change in record.changes_of([person])
        for one in change.commits
    }
    record.close()
    return {row for row in found if repository.git.commits[row[0]].parents}


def by_bot(there: Shop) -> None:
    """A merge bot lands the work and closes the pull request unmerged."""
    bot = there.github.bot("lander[bot]")
    there.github.land_by_bot(there.repository, there.open(), bot=bot, at=there.clock.now)


WAYS: dict[str, tuple[Callable[[Shop], Any], dict[str, int]]] = {
    "squash": (lambda there: there.merge(there.open(), "squash"), {COMMIT: 1, POST: 1}),
    "squash of four": (lambda there: there.merge(there.open(4), "squash"), {COMMIT: 1, POST: 1}),
    "merge of one": (lambda there: there.merge(there.open(), "merge"), {COMPARE: 1, POST: 1}),
    "merge of two": (lambda there: there.merge(there.open(2), "merge"), {COMPARE: 1, COMMIT: 2, POST: 1}),
    "merge of twenty": (lambda there: there.merge(there.open(20), "merge"), {COMPARE: 1, COMMIT: 20, POST: 1}),
    "rebase of two": (lambda there: there.merge(there.open(2), "rebase"), {COMMIT: 2, POST: 1}),
    "rebase of nine": (lambda there: there.merge(there.open(9), "rebase"), {COMMIT: 9, POST: 1}),
    "push of one": (lambda there: there.push(), {COMMIT: 1, POST: 1}),
    "push of two": (lambda there: there.push(2), {COMMIT: 2, POST: 2}),
    "push of ten": (lambda there: there.push(10), {COMMIT: 10, POST: 10}),
    "push of thirty": (lambda there: there.push(30), {COMMIT: 30, POST: 1}),
    "merge bot": (by_bot, {COMMIT: 1, POST: 1}),
}
"""a way to land, and all that it may cost"""
PACE = WorkerPace(concurrency=2, poll_every=0.02)
QUICK = ("squash of four", "merge of one", "merge of two", "rebase of two", "push of two", "merge bot")


@contextlib.asynccontextmanager
async def shop(github: Simulator, data: Path, *, settle: timedelta | None = None) -> AsyncIterator[Shop]:
    """The organisation `acme` with `acme/app`; the bot's SQLite is in `data`."""
    clock = Clock()
    owner = github.organisation("acme")
    ada, mara = github.account("ada", name="Ada Example"), github.account("mara", name="Mara Example")
    app = github.register_app("almanac-test", owner)
    repository = github.create_repository(
        "acme/app", at=NOW - timedelta(days=90), files={"README.md": b"# app\n"}, by=mara
    )
    repository.permissions = {"mara": "maintain", "ada": "write"}
    async with _listening(github, app, repository, data, Timing(clock=clock, work=PACE, settle=settle)) as bot:
        found = Shop(github, bot, app, owner, github.install(app, owner), repository, clock, ada, mara)
        found.push()
        await found.cost()
        yield found


@contextlib.asynccontextmanager
async def again(before: Shop, data: Path) -> AsyncIterator[Shop]:
    """The bot, restarted on what is in `data`."""
    timing = Timing(clock=before.clock, work=PACE)
    async with _listening(before.github, before.app, before.repository, data, timing) as bot:
        yield replace(before, bot=bot)


@contextlib.asynccontextmanager
async def _listening(
    github: Simulator, app: SimApp, repository: SimRepository, data: Path, timing: Timing
) -> AsyncIterator[Bot]:
    settings = settings_for(github, World(github, app, {}, {"app": repository}, []), data)
    async with build(settings, timing) as bot, serve_http(bot, "127.0.0.1", 0) as port:
        app.webhook_url = f"http://127.0.0.1:{port}/webhook"
        yield bot
