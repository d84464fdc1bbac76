"""Do two months on the emulator result in one issue with two comments, the first edited after a late revert?

Commits of other months are created through the emulator's git interface with backdated committers; the bot runs in this
process with a clock that is moved forward.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.app import Bot, Timing, build, serve_http
from bot.configuration.settings import Settings
from bot.configuration.values import GitHubAddress
from bot.queue.worker import WorkerPace
from bot.services.digests.publishing import close_months
from tests.acceptance.emulator import APP_ID, REPOSITORY, Person
from tests.acceptance.gaps import PREFIX, Proxy


@dataclass
class Clock:
    now: datetime = field(default_factory=lambda: datetime(2026, 6, 20, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now


async def push(author: Person, path: str, text: str | None, *, message: str, at: str) -> str:
    """Create one commit on main with the committer date `at`; `text` None removes the file."""
    here = f"/repos/{REPOSITORY}/git"
    tip = (await author.ask("GET", f"{here}/ref/heads/main"))["object"]["sha"]
    base = (await author.ask("GET", f"{here}/commits/{tip}"))["tree"]["sha"]
    entry: dict[str, Any] = {"path": path, "mode": "100644", "type": "blob"}
    entry |= {"sha": None} if text is None else {"content": text}
    tree = await author.ask("POST", f"{here}/trees", base_tree=base, tree=[entry])
    who = {"name": "Rowan Ashdown", "email": "rowan@example.org", "date": at}
    made = await author.ask(
        "POST", f"{here}/commits", message=message, tree=tree["sha"], parents=[tip], author=who, committer=who
    )
    await author.ask("PATCH", f"{here}/refs/heads/main", sha=made["sha"])
    return str(made["sha"])


async def comments_of(author: Person) -> list[list[str]]:
    """The comments on each of the App's issues."""
    issues = await author.ask("GET", f"/repos/{REPOSITORY}/issues?state=all")
    ours = [one for one in issues if "almanac:digests:" in (one["body"] or "")]
    found = []
    for one in ours:
        rows = await author.ask("GET", f"/repos/{REPOSITORY}/issues/{one['number']}/comments")
        found.append([row["body"] for row in rows])
    return found


async def two_months(author: Person, key: str, secret: str, proxy: Proxy) -> tuple[list[str], list[str]]:
    """The comments after two months, and after a late revert of the first month's work. Raises AssertionError."""
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="acceptance-months-") as folder:
        address = GitHubAddress(web=proxy.url, api=proxy.url + PREFIX, graphql=f"{proxy.url}/api/graphql")
        settings = Settings(
            app_id=str(APP_ID),
            private_key=key,
            webhook_secrets=(secret,),
            database_url=f"sqlite:///{folder}/almanac.db",
            data=Path(folder),
            github=address,
            write_gap=0.0,
        )
        timing = Timing(clock=clock, work=WorkerPace(concurrency=2, poll_every=0.05))
        async with build(settings, timing) as bot, serve_http(bot, "127.0.0.1", 0) as port:
            before, proxy.hook = proxy.hook, f"http://127.0.0.1:{port}/webhook"
            try:
                return await _pass(author, bot, (clock, proxy))
            finally:
                proxy.hook = before


async def _pass(author: Person, bot: Bot, world: tuple[Clock, Proxy]) -> tuple[list[str], list[str]]:
    clock, proxy = world
    title = "feat: say how deep the harbour is"
    async with _delivered(proxy):
        await author.write(".github/almanac.yml", "first_digest: post\n", branch="main", message="Configure")
    async with _delivered(proxy):
        first = await push(author, "src/depth.py", "DEPTH = 7\n", message=title, at="2026-06-15T12:00:00Z")
    await _over(bot, clock, datetime(2026, 7, 2, tzinfo=UTC))
    clock.now = datetime(2026, 7, 15, 13, tzinfo=UTC)
    async with _delivered(proxy):
        await push(author, "src/tide.py", "TIDE = 2\n", message="fix: stop at low tide", at="2026-07-15T12:00:00Z")
    await _over(bot, clock, datetime(2026, 8, 2, tzinfo=UTC))
    (told,) = await comments_of(author)
    reverting = f'Revert "{title}"\n\nThis reverts commit {first}.\n'
    clock.now = datetime(2026, 8, 3, 13, tzinfo=UTC)
    async with _delivered(proxy):
        await push(author, "src/depth.py", None, message=reverting, at="2026-08-03T12:00:00Z")
    await _over(bot, clock, datetime(2026, 8, 4, tzinfo=UTC))
    (edited,) = await comments_of(author)
    assert len(told) == len(edited) == 2, (told, edited)
    assert ["June 2026" in told[0], "July 2026" in told[1]] == [True, True], told
    assert ["reverted" in told[0], "reverted" in edited[0]] == [False, True], edited
    assert told[1] == edited[1], edited
    return told, edited


@asynccontextmanager
async def _delivered(proxy: Proxy) -> AsyncIterator[None]:
    """Wait until the push made in the block has reached the bot."""

    def pushes() -> int:
        return sum(event == "push" for event, _, _ in proxy.handled)

    before = pushes()
    yield
    async with asyncio.timeout(30):
        while pushes() <= before:  # noqa: ASYNC110  # the proxy has no event to wait for
            await asyncio.sleep(0.05)


async def _over(bot: Bot, clock: Clock, now: datetime) -> None:
    """Finish all jobs, move the clock to `now`, and post the digests that are due."""
    await bot.queue.drain()
    clock.now = now
    await close_months(bot.context)
    await bot.queue.drain()
