"""A small organisation on the simulated GitHub with the bot at work, for tests of what the bot answers and posts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from bot.app import Bot, Timing, build, serve_http
from bot.configuration.settings import WriterSettings
from bot.queue.worker import WorkerPace
from bot.services.digests.publishing import close_months
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.state import Comment, Issue, SimAccount, SimApp, SimInstallation, SimPullRequest, SimRepository
from simulator.work import NewPullRequest, Step
from simulator.world import World
from tests.databases import fresh_database

NO_MODEL = WriterSettings()
NOW = datetime(2031, 5, 20, 12, tzinfo=UTC)


@dataclass
class Clock:
    """Time that passes only on request."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Town:
    """`ada` writes code, `bea` helps, `mara` maintains, `sid` is a stranger who can read."""

    github: Simulator
    bot: Bot
    app: SimApp
    repository: SimRepository
    installation: SimInstallation
    clock: Clock
    people: dict[str, SimAccount] = field(default_factory=dict)
    turn: int = 0

    async def drained(self) -> None:
        """All deliveries attempted, all jobs done."""
        await self.github.wait_until_idle()
        while await self.bot.queue.drain():
            await self.github.wait_until_idle()

    async def land(
        self,
        title: str,
        *,
        by: str = "ada",
        repo: SimRepository | None = None,
        body: str = "",
        at: datetime | None = None,
    ) -> SimPullRequest:
        """A pull request of one file, merged by the maintainer's button."""
        self.turn += 1
        here, when = repo or self.repository, at or self.clock.now
        text = f"def part_{self.turn}():\n    return {self.turn}\n"
        step = Step(f"{title}\n\n{body}", {f"part_{self.turn}.py": text.encode()})
        work = NewPullRequest(title, self.people[by], [step], f"topic-{self.turn}")
        pull = self.github.open_pull(here, work, at=when)
        self.github.merge(here, pull, "squash", by=self.people["mara"], at=when)
        await self.drained()
        return pull

    async def write(self, path: str, text: str, *, repo: SimRepository | None = None) -> None:
        """A file, pushed to the default branch by the maintainer."""
        step = Step(f"Write {path}", {path: text.encode()})
        self.github.push(repo or self.repository, "main", [step], by=self.people["mara"], at=self.clock.now)
        await self.drained()

    async def say(self, issue: Issue, text: str, *, by: str, repo: SimRepository | None = None) -> Comment:
        """A comment, and whatever the bot makes of it."""
        self.clock.now += timedelta(minutes=20)
        found = self.github.comment(repo or self.repository, issue, text, by=self.people[by], at=self.clock.now)
        await self.drained()
        return found

    async def second_repository(self, name: str, *, private: bool = False) -> SimRepository:
        """Another repository of the organisation, which the installation reaches."""
        made = self.github.create_repository(
            f"acme/{name}", at=NOW - timedelta(days=60), files={"README.md": b"# more\n"}, by=self.people["mara"]
        )
        made.private = private
        made.permissions = dict(self.repository.permissions)
        number = self.installation.id
        with self.bot.store.transaction() as connection:
            self.bot.queue.defer(connection, "update_installation", f'{{"installation":{number}}}')
        await self.drained()
        return made

    async def month_over(self, month: int = 6) -> None:
        """Move the clock to the second day of this month of 2031, and post the digests that are due."""
        self.clock.now = datetime(2031, month, 2, tzinfo=UTC)
        await close_months(self.bot.context)
        await self.drained()

    def checks(self, name: str = "Almanac") -> dict[str, dict[str, str]]:
        """The title and summary of our check runs by commit."""
        runs = [run.fields for run in self.repository.checks.values() if run.fields["name"] == name]
        return {run["head_sha"]: run["output"] for run in runs}

    def preview_in(self, repo: SimRepository) -> str:
        """The preview of a digest in this repository; empty if there is none."""
        shown = (run.fields for run in repo.checks.values() if run.fields["name"] == "Almanac: digest preview")
        return next((run["output"]["summary"] for run in shown), "")

    def ours(self, issue: Issue) -> list[str]:
        """What we wrote below an issue or pull request."""
        return [comment.body for comment in issue.comments if comment.app is self.app]

    def digests(self, repo: SimRepository | None = None) -> list[str]:
        """The comments on our digest issues."""
        here = repo or self.repository
        issues = [issue for issue in here.issues.values() if issue.app is self.app]
        return [body for issue in issues for body in self.ours(issue)]


def reactions(comment: Comment) -> list[str]:
    return [entry.content for entry in comment.reactions]


def _database(folder: Path) -> str:
    """A copy of one file with all tables, because creating them takes longer than most tests here."""
    with fresh_database("sqlite", folder) as url:
        return url


@contextlib.asynccontextmanager
async def town(
    github: Simulator,
    data: Path,
    *,
    settings: str | None = None,
    writer: WriterSettings = NO_MODEL,
    backfill: bool = False,
    database: str = "",
) -> AsyncIterator[Town]:
    """The organisation `acme` with `acme/app`, whose settings file says `settings`.

    The bot's SQLite is in `data`, unless another database is given.
    """
    clock = Clock()
    owner = github.organisation("acme")
    people = {login: github.account(login, name=f"{login.title()} Example") for login in ("ada", "bea", "mara", "sid")}
    app = github.register_app("almanac-test", owner)
    files = {"README.md": b"# app\n"} | ({".github/almanac.yml": settings.encode()} if settings else {})
    repository = github.create_repository("acme/app", at=NOW - timedelta(days=90), files=files, by=people["mara"])
    repository.permissions = {"mara": "maintain", "ada": "read", "bea": "read", "sid": "read"}
    world = World(github, app, people, {"app": repository}, [])
    timing = Timing(clock=clock, work=WorkerPace(concurrency=2, poll_every=0.02))
    url = database or await asyncio.to_thread(_database, data)
    given = replace(settings_for(github, world, data, backfill=backfill), writer=writer, database_url=url)
    async with build(given, timing) as bot, serve_http(bot, "127.0.0.1", 0) as port:
        app.webhook_url = f"http://127.0.0.1:{port}/webhook"
        found = Town(github, bot, app, repository, github.install(app, owner), clock, people)
        await found.drained()
        yield found
