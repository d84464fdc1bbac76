"""Does a GitHub that hesitates and lies change what the bot records and posts?

    python -m tests.campaigns.lies [LANDINGS] [SEED] [CHANCE]

The same organisation is played twice on a virtual clock: once GitHub is calm, once 20 % of its answers are faulty or
false, deliveries get lost, come twice or in another order, and the installation is suspended and a repository removed
for hours. Ledger, totals, posts and pages must be the same, no post may be missing or stand twice, and no request may
be sent before a pause that GitHub demanded is over.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import aiohttp
from sqlalchemy import Connection

from bot.app import Bot
from bot.model.ids import InstallationId, PersonKey
from bot.store import people
from bot.store.dump import dump_lines
from bot.store.links import Link, mint
from bot.store.visibility import subject_of_person
from simulator.faults import HESITATIONS, Kind
from simulator.server import Simulator
from tests.campaigns.lying_world import END, GAP, LyingWorld, build
from tests.campaigns.manners import Manners
from tests.campaigns.passing import Passing, VirtualClock, passing

AFTERWARDS = timedelta(days=5)
"""so that the month is closed, and what was put off for a day is done"""
ABSENT_FOR, MOST_ABSENCES = timedelta(hours=6), 12
LAST_CALM = timedelta(days=2)
"""at the end GitHub tells the truth again"""


@dataclass(frozen=True)
class Trouble:
    """What GitHub does. The default is nothing."""

    chance: float = 0.0
    kinds: Sequence[Kind] = HESITATIONS
    deliveries: float = 0.0
    """the share that is lost, comes twice or late"""
    absences: int = 0
    """suspensions, and removals of a repository"""
    afterwards: timedelta = AFTERWARDS


CALM = Trouble()
STORM = Trouble(chance=0.2, deliveries=0.1, absences=6)


@dataclass
class Outcome:
    """What a run leaves behind."""

    record: list[str]
    posts: list[str]
    pages: list[str]
    too_early: list[str]
    left_over: list[str]
    """jobs that are dead or parked"""
    requests: int
    faults: Counter[str]
    seconds: float
    problems: list[str] = field(default_factory=list)

    def compare(self, calm: Outcome) -> list[str]:
        """What differs from a calm run, and what no run may do."""
        found = [f"too early: {one}" for one in self.too_early] + [f"left over: {one}" for one in self.left_over]
        for name in ("record", "posts", "pages"):
            here, there = Counter(getattr(self, name)), Counter(getattr(calm, name))
            found += [f"missing of {name}: {row}" for row in (there - here)]
            found += [f"too much in {name}: {row}" for row in (here - there)]
        return found

    def describe(self, name: str) -> str:
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        share = 100 * sum(self.faults.values()) / max(self.requests, 1)
        return (
            f"{name}: {self.requests} requests, {sum(self.faults.values())} faults ({share:.0f} %), {len(self.posts)} "
            f"posts, {len(self.record)} rows, {len(self.pages)} pages in {self.seconds:.0f} s\n  {faults}"
        )


async def play(landings: int, trouble: Trouble, *, seed: int = 1, repositories: int = 8) -> Outcome:
    """The organisation's landings under this trouble."""
    began, chance = time.monotonic(), random.Random(seed)
    start = END - landings * GAP - ABSENT_FOR * max(trouble.absences, MOST_ABSENCES)
    clock = VirtualClock(start, random.Random(seed))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with Simulator(clock=clock) as github:
            there, manners = build(github, repositories, start), Manners(github.state)
            github.faults.slow = 0.6
            within = 0.4 if "slow" in trouble.kinds and trouble.chance else 30.0
            async with passing(there.world, Path(folder), clock, answered_within=within) as bot:
                manners.watch(bot.bot)
                there.world.installation = github.install(there.world.app, there.world.app.owner)
                await bot.work()
                if trouble.chance:
                    github.faults.at_random(trouble.chance, seed=seed, kinds=trouble.kinds)
                absent = set(chance.sample(range(1, landings), min(trouble.absences, landings - 1)))
                for number in range(landings):
                    await bot.until(max(there.at(number), clock.now))
                    disturb_deliveries(github, trouble.deliveries, chance)
                    there.land(number)
                    if number in absent:
                        await go_away(there, bot, chance)
                    github.deliveries.release()
                    await bot.work()
                end = END + trouble.afterwards
                await bot.until(max(end, clock.now))
                github.faults.calm()
                await bot.until(max(end + LAST_CALM, clock.now))
                clock.now = max(clock.now, END + timedelta(days=21))  # pages say how long ago things were
                return await outcome(there, bot, manners, began)


def disturb_deliveries(github: Simulator, share: float, chance: random.Random) -> None:
    deliveries = github.deliveries
    if chance.random() < share:
        deliveries.drop_next = 1
    if chance.random() < share:
        deliveries.duplicate_next = 1


async def go_away(there: LyingWorld, bot: Passing, chance: random.Random) -> None:
    """For some hours the installation is suspended, or a repository is not selected; what just landed still waits."""
    github, installation = there.github, there.world.installation
    assert installation is not None
    repositories = list(there.world.repositories.values())
    hours = ABSENT_FOR * chance.random()
    if chance.random() < 0.5:
        github.suspend(installation)
        await bot.until(bot.clock.now + hours)
        github.unsuspend(installation)
    else:
        gone = chance.choice(repositories)
        github.select(installation, [one for one in repositories if one is not gone])
        await bot.until(bot.clock.now + hours)
        github.select(installation, repositories)
    await bot.work()


async def outcome(there: LyingWorld, bot: Passing, manners: Manners, began: float) -> Outcome:
    github = there.github
    record = await bot.bot.store.read(lambda connection: list(dump_lines(connection)))
    left = [f"{state}: {job}" for state in ("dead", "parked") for job in bot.jobs(state)]
    return Outcome(
        record=record,
        posts=list(posts_of(there)),
        pages=[text async for text in pages_of(there, bot.bot, bot.url)],
        too_early=manners.ignored,
        left_over=left,
        requests=len(github.requests),
        faults=github.faults.counted,
        seconds=time.monotonic() - began,
    )


def posts_of(there: LyingWorld) -> Iterator[str]:
    """What stands at GitHub from the bot, without numbers that depend on how often it was asked."""
    app = there.world.app
    for name, repo in sorted(there.world.repositories.items()):
        for run in repo.checks.values():
            fields, output = run.fields, run.fields.get("output") or {}
            shown = (fields["name"], fields.get("conclusion"), output.get("title"), output.get("summary"))
            yield f"check in {name} on {fields['head_sha'][:10]}: {shown}"
        for issue in repo.issues.values():
            if issue.app is app:
                yield f"issue in {name}: {issue.title}"
            number = issue.number if issue.app is not app else "digests"
            for comment in issue.comments:
                if comment.app is app:
                    yield f"comment in {name} on {number}: {comment.body}"
                for reaction in comment.reactions:
                    yield f"reaction in {name} on {number}: {reaction.content}"
        for discussion in repo.discussions:
            yield f"discussion in {name}: {discussion.title}"
            yield from (f"comment in a discussion in {name}: {one.body}" for one in discussion.comments)


async def pages_of(there: LyingWorld, bot: Bot, url: str) -> AsyncIterator[str]:
    """Everybody's page."""
    installation = there.world.installation
    assert installation is not None

    def mint_all(connection: Connection) -> list[str]:
        keys = [PersonKey(f"u:{account.id}") for account in there.people]
        known = [key for key in keys if people.person(connection, key) is not None]
        links = [Link(subject_of_person(key), InstallationId(installation.id)) for key in known]
        return [mint(connection, link, secret=bot.pages.secret, now=bot.timing.clock()) for link in links]

    async with aiohttp.ClientSession() as session:
        for token in await bot.store.write(mint_all):
            async with session.get(f"{url}/p/{token}") as answer:
                text = (await answer.text()).replace(token, "TOKEN")
                yield f"{answer.status} " + re.sub(r"127\.0\.0\.1:[0-9]+", "HOST", text)


async def campaign(landings: int, seed: int, chance: float) -> list[str]:
    calm = await play(landings, CALM, seed=seed)
    print(calm.describe("calm"), flush=True)
    stormy = await play(
        landings,
        Trouble(chance=chance, deliveries=0.1, absences=min(max(4, landings // 400), MOST_ABSENCES)),
        seed=seed,
    )
    print(stormy.describe("lying"), flush=True)
    return stormy.compare(calm)


def main() -> None:
    logging.disable(logging.WARNING)
    given = sys.argv[1:]
    landings, seed = int(given[0]) if given else 5000, int(given[1]) if len(given) > 1 else 1
    found = asyncio.run(campaign(landings, seed, float(given[2]) if len(given) > 2 else 0.2))
    for one in found[:40]:
        print(one[:1500], flush=True)
    print(f"{len(found)} differences", flush=True)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
