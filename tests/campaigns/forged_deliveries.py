"""Can anybody write a record about somebody else through GitHub's own deliveries? Worlds with and without a forger.

The whole bot runs against the simulated GitHub, so that what the forger writes arrives as webhooks, is read again and
is posted: trailers, authors, committers, dates, numbers, reverts, forks, settings, mailmaps, people files and commands.
Everything that the forger must not reach is compared byte for byte with the same world without them.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import ClientSession
from msgspec.structs import replace
from sqlalchemy import select

from bot.app import Bot, Timing, build, serve_http
from bot.model.ids import PersonKey
from bot.queue.worker import WorkerPace
from bot.services.digests.publishing import close_months
from bot.store import totals, visibility
from bot.store.people import PERSON
from bot.store.visibility import subject_of_person
from simulator.demo import settings_for
from simulator.git import GitSignature
from simulator.server import Simulator
from simulator.state import Issue, SimAccount, SimPullRequest, SimRepository
from simulator.work import Button, NewPullRequest, Step
from simulator.world import World
from tests.campaigns.forgery import FORGERS, Forger, unreachable_part
from tests.databases import put_tables

START = datetime(2031, 5, 20, 12, tzinfo=UTC)
VICTIMS = ("ada", "odo", "mira")
NAMES = {"ada": "Ada Vance", "odo": "Odo Kessler", "mira": "Mira Holt", "mallory": "Mallory Quill"}
HOMES = {"acme/app": "ada", "birch/lib": "odo", "cedar/tool": "mira", "den/site": "mallory", "den/app": "mallory"}
"""each repository with the person who may write to it; den/app is a fork of acme/app"""
HONEST = tuple(name for name in HOMES if not name.startswith("den/"))
REACHED: dict[Forger, frozenset[str]] = {
    "stranger": frozenset(),
    "outsider": frozenset(("acme/app",)),
    "writer": frozenset(("cedar/tool",)),
}
"""where each forger may change what is posted: the organisation that merges their work, or that they write to"""
SETTINGS = "digest: issue\nfirst_digest: post\non_merge: {}\n"
COMMANDS = (
    *("accept", "reject", "anonymise", "public on", "public off", "opt-out", "forget-me", "human", "me"),
    *("classify fix", "classify other", "dispute I wrote this", "recount", "digest preview", "pause", "why 1"),
)
DATES = (datetime(1970, 1, 2, tzinfo=UTC), datetime(2038, 1, 19, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC), START)


@dataclass
class Town:
    """Three organisations with honest people, and one of the forger; the bot is installed in all four."""

    github: Simulator
    bot: Bot
    people: dict[str, SimAccount]
    repositories: dict[str, SimRepository]
    url: str
    now: datetime = START
    turn: int = 0
    pulls: dict[str, list[SimPullRequest]] = field(default_factory=dict)
    landed: list[tuple[str, str, str]] = field(default_factory=list)
    """(repository, commit, its author's login) of the honest people"""

    def clock(self) -> datetime:
        return self.now

    async def drained(self) -> None:
        await self.github.wait_until_idle()
        while await self.bot.queue.drain():
            await self.github.wait_until_idle()

    def step(self, who: str, message: str, *, author: GitSignature | None = None, at: datetime | None = None) -> Step:
        """A commit of one new file, which nobody else writes."""
        self.turn += 1
        text = "".join(f"{who}_{self.turn}_{n} = {n}\n" for n in range(4))
        return Step(message, {f"src/{who}_{self.turn}.py": text.encode()}, author=author, at=at)

    def push(self, where: str, step: Step, *, by: str) -> None:
        self.now += timedelta(minutes=7)
        self.github.push(self.repositories[where], "main", [step], by=self.people[by], at=self.now)

    def merge(self, where: str, title: str, step: Step, way: Button, *, by: str) -> SimPullRequest:
        """A pull request of one commit, merged by the person who may write there."""
        self.now += timedelta(minutes=7)
        here, branch = self.repositories[where], f"topic-{by}-{self.turn}"
        pull = self.github.open_pull(
            here, NewPullRequest(title, self.people[by], [step], branch), at=self.now - timedelta(minutes=1)
        )
        self.github.merge(here, pull, way, by=self.people[HOMES[where]], at=self.now)
        return pull


@contextlib.asynccontextmanager
async def town(data: Path) -> AsyncIterator[Town]:
    """The world before anybody works; its database is in `data`."""
    async with Simulator() as github:
        people = {login: github.account(login, name=name) for login, name in NAMES.items()}
        owners = [github.organisation(name.split("/")[0]) for name in HOMES if name != "den/app"]
        app = github.register_app("almanac-test", owners[0])
        begun, repositories = START - timedelta(days=90), dict[str, SimRepository]()
        for number, (name, writer) in enumerate(HOMES.items()):
            if name == "den/app":
                made = github.fork(repositories["acme/app"], owners[-1], at=begun)
            else:
                text = SETTINGS.format(("check", "comment")[number % 2])
                files = {"README.md": b"# A project\n", ".github/almanac.yml": text.encode()}
                made = github.create_repository(name, at=begun, files=files, by=people[writer])
            made.permissions = {login: "write" if login == writer else "read" for login in people}
            repositories[name] = made
        world = World(github, app, people, repositories, [])
        await asyncio.to_thread(put_tables, data)
        links = b"links of the forgery campaign, always the same"
        settings = replace(settings_for(github, world, data), links_keys=(links,))
        found: list[Town] = []
        timing = Timing(clock=lambda: found[0].now if found else START, work=WorkerPace(concurrency=1, poll_every=0.02))
        async with build(settings, timing) as bot, serve_http(bot, "127.0.0.1", 0) as port:
            app.webhook_url = f"http://127.0.0.1:{port}/webhook"
            found.append(Town(github, bot, people, repositories, f"http://127.0.0.1:{port}"))
            for owner in owners:
                github.install(app, owner)
            await found[0].drained()
            yield found[0]


# --- honest work -----------------------------------------------------------------------------------------------------


async def work_honestly(there: Town, source: random.Random, where: tuple[str, ...]) -> None:
    """Everybody pushes, or has a pull request merged, in each of these repositories; some of it is reverted."""
    for name in where:
        for login in VICTIMS:
            title = source.choice(("feat: add", "fix: mend", "Rename")) + f" the {login} part {there.turn}"
            if HOMES[name] == login and source.random() < 0.6:
                there.push(name, there.step(login, title), by=login)
            else:
                way: Button = source.choice(("squash", "merge", "rebase"))
                pull = there.merge(name, title, there.step(login, title), way, by=login)
                there.pulls.setdefault(name, []).append(pull)
            there.landed.append((name, there.repositories[name].git.branches["main"], login))
    await there.drained()


# --- forgeries -------------------------------------------------------------------------------------------------------


@dataclass
class Forgery:
    """One forger in one world. Everything follows from `source`, which honest work does not use."""

    there: Town
    forger: Forger
    source: random.Random

    async def act(self, acts: int = 4) -> None:
        """Some forgeries, whatever the forger may do; half of them are commands in comments."""
        ways = {"stranger": self._at_home, "outsider": self._pull_request, "writer": self._with_write_access}
        for _ in range(acts):
            ways[self.forger]()
            self._say_commands()
            await self.there.drained()

    def _author(self, victim: str) -> GitSignature:
        account = self.there.people[victim]
        number, domain = account.id, account.signature.email.partition("@")[2]
        addresses = (account.signature.email, f"{number}+x[bot]@{domain}", f"{number}+x@{domain}", f"{victim}@{domain}")
        names = (NAMES[victim], "Someone Else", "x[bot]", "renovate[bot]", "Claude", victim)
        return GitSignature(self.source.choice(names), self.source.choice(addresses))

    def _message(self, victim: str) -> str:
        """A text that lies about the victim's work."""
        where, commit, _ = self.source.choice([one for one in self.there.landed if one[2] == victim])
        author, number = self._author(victim), self.source.randrange(1, 5)
        trailer = f"Co-authored-by: {author.name} <{author.email}>"
        lies = (
            f'Revert "the {victim} part"\n\nThis reverts commit {commit}.',
            f"Reverts {where}#{number}\n\n{trailer}",
            f"fix: mend the {victim} part\n\n(cherry picked from commit {commit})",
            f"Merge pull request #{number} from {victim}/topic\n\n{trailer}",
            f"fix: everything ({where}#{number}) (#{number})\n\n{trailer}\n{trailer}",
            f"Reland the {victim} part\n\nReland of {commit}\nThis reverts commit {commit}.\n\n{trailer}",
        )
        return self.source.choice(lies)

    def _step(self) -> Step:
        victim, moment = self.source.choice(VICTIMS), self.source.choice(DATES)
        return self.there.step("mallory", self._message(victim), author=self._author(victim), at=moment)

    def _files(self) -> Step:
        """The files with which a repository speaks about machines, people and identities."""
        there, victim = self.there, self.source.choice(VICTIMS)
        own, address = NAMES["mallory"], there.people[victim].signature.email
        mine = there.people["mallory"].signature.email
        listed = f"machines:\n  add: [{', '.join(VICTIMS)}, '{address}']\n  people: [mallory]\n"
        files = {
            ".mailmap": f"{own} <{mine}> <{address}>\nSomeone Else <{mine}> {NAMES[victim]} <{address}>\n",
            ".github/almanac.yml": SETTINGS.format("comment") + listed + f"landing:\n  bots: [{victim}]\n",
            ".github/almanac-people.yml": f"people:\n  - {victim}\n  - mallory\n",
        }
        return Step(f"Configure {there.turn}", {name: text.encode() for name, text in files.items()})

    def _at_home(self) -> None:
        where = self.source.choice(("den/site", "den/site", "den/app"))
        turn = self.source.random()
        if turn < 0.3:
            self.there.push(where, self._files(), by="mallory")
        elif turn < 0.5:
            self.there.merge(where, self._message(self.source.choice(VICTIMS)), self._step(), "squash", by="mallory")
        elif turn < 0.6:
            self._copy()
        else:
            self.there.push(where, self._step(), by="mallory")

    def _copy(self) -> None:
        """Push an honest commit itself to the forger's fork."""
        there, fork = self.there, self.there.repositories["den/app"]
        name, commit, _ = self.source.choice(there.landed)
        fork.git.adopt(there.repositories[name].git, [commit])
        there.github.force_push(fork, "main", commit, by=there.people["mallory"])

    def _pull_request(self) -> None:
        step = self._files() if self.source.random() < 0.1 else self._step()
        way: Button = self.source.choice(("squash", "merge", "rebase"))
        title = self._message(self.source.choice(VICTIMS)).splitlines()[0]
        self.there.merge("acme/app", title, step, way, by="mallory")

    def _with_write_access(self) -> None:
        if self.source.random() < 0.2:
            self.there.push("cedar/tool", self._files(), by="mallory")
        else:
            self.there.push("cedar/tool", self._step(), by="mallory")

    def _say_commands(self) -> None:
        """Commands below other people's pull requests and digests, where anybody may comment."""
        there, where = self.there, self.source.choice(("acme/app", "birch/lib"))
        issues = [issue for issue in there.repositories[where].issues.values() if issue.user or issue.app]
        issue = self.source.choice(issues)
        text = "\n".join(f"/almanac {self.source.choice(COMMANDS)}" for _ in range(3))
        there.now += timedelta(minutes=7)
        said = f"/almanac accept @{self.source.choice(VICTIMS)}\n{text}"
        there.github.comment(there.repositories[where], issue, said, by=there.people["mallory"], at=there.now)


# --- what is compared ------------------------------------------------------------------------------------------------


async def outcome(seed: int, forger: Forger | None, data: Path) -> dict[str, str]:
    """Everything that a forger of any kind might change, as text."""
    async with town(data) as there:
        source, forged = random.Random(f"{seed} honest"), random.Random(f"{seed} forged")
        await work_honestly(there, source, HONEST)
        with there.bot.store.transaction() as connection:
            for login in VICTIMS:
                subject = subject_of_person(_key(there, login))
                visibility.publish(connection, subject, public=True, now=START)
        forgery = None if forger is None else Forgery(there, forger, forged)
        if forgery:
            await forgery.act()
        there.now, there.turn = START + timedelta(days=2), 1000
        await work_honestly(there, source, ("birch/lib",))
        there.now = datetime(2031, 6, 2, tzinfo=UTC)
        await close_months(there.bot.context)
        await there.drained()
        if forgery:
            await forgery.act(1)
        there.now = datetime(2031, 6, 3, tzinfo=UTC)
        await close_months(there.bot.context)
        await there.drained()
        return await _found(there)


def _key(there: Town, login: str) -> PersonKey:
    return PersonKey(f"u:{there.people[login].id}")


async def _found(there: Town) -> dict[str, str]:
    found, keys = {}, [_key(there, login) for login in VICTIMS]
    columns = (PERSON.c.key, PERSON.c.user_id, PERSON.c.login, PERSON.c.name, PERSON.c.bot, PERSON.c.opted_out_at)
    with there.bot.store.snapshot() as connection:
        rows = connection.execute(select(*columns).where(PERSON.c.key.in_(keys)))
        found["accounts"] = repr(sorted(map(tuple, rows)))
        for name in HONEST:
            number = there.repositories[name].id
            query = select(totals.TOTALS).where(totals.TOTALS.c.repository_id == number)
            own = connection.execute(query.where(totals.TOTALS.c.person_key.in_(keys))).mappings()
            found[f"sums in {name}"] = repr(sorted(repr(dict(row)) for row in own))
    for name in HONEST:
        found[f"posts in {name}"] = "\n".join(sorted(_posts(there, there.repositories[name])))
    async with ClientSession(there.url) as session:
        for login in VICTIMS:
            for form in ("", ".json"):
                async with session.get(f"/@{login}{form}") as answer:
                    found[f"page of {login}{form}"] = f"{answer.status} {await answer.text()}"
    return found


def _posts(there: Town, repo: SimRepository) -> Iterator[str]:
    """All that we posted there, but for answers below the forger's own comments."""
    for run in repo.checks.values():
        shown = {name: value for name, value in run.fields.items() if name not in ("started_at", "completed_at")}
        yield f"check {shown}"
    for issue in repo.issues.values():
        yield from _words_on(there, issue, {one.id for one in issue.comments if one.user is there.people["mallory"]})


def _words_on(there: Town, issue: Issue, answered: set[int]) -> Iterator[str]:
    if issue.app:
        yield f"issue {issue.title} {issue.body}"
    for one in issue.comments:
        first = one.body.split("\n", 1)[0]
        if one.app and not any("reply:" in first and f":{number} " in first for number in answered):
            yield f"comment on #{issue.number} {one.body}"


def compared(before: Mapping[str, str], after: Mapping[str, str], forger: Forger) -> Iterator[str]:
    """The names of what differs and must not."""
    for name, text in before.items():
        where = name.partition(" in ")[2]
        if where in REACHED[forger] and (name.startswith("posts") or forger == "writer"):
            continue
        if forger == "writer" and name.startswith("page"):
            if name.endswith(".json") and _own_proof(text) != _own_proof(after[name]):
                yield name
        elif after[name] != text:
            yield name


def _own_proof(page: str) -> str:
    """What somebody who writes to a repository must not change of a page, given as `_found` has it."""
    status, _, body = page.partition(" ")
    return unreachable_part(body, "writer") if status == "200" else status


async def forged_differences(seed: int, data: Path, *, forgers: tuple[Forger, ...] = FORGERS) -> list[str]:
    """What each forger changed in the world of this seed and must not have."""
    plain = await outcome(seed, None, data / "plain")
    found = []
    for forger in forgers:
        forged = await outcome(seed, forger, data / forger)
        found += [f"seed {seed} by webhooks, {forger}: {name}" for name in compared(plain, forged, forger)]
    return found
