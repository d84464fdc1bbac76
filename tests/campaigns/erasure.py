"""Is an erased person gone from every byte that Almanac stores, and from all that it posted, for good?

    python -m tests.campaigns.erasure [HISTORIES] [FIRST SEED]

Each history is random: landings by button, reverts, co-authors, changelogs, reviews, triage, commands, digests. At a
random point one person, whose name, login, address and titles are canaries, is erased: by command, by the operator, or
on the settings page. Every file of the data folder is searched while the bot runs, and every row, unpacked. Then the
history goes on, all deliveries arrive again (also under other ids), the history is read from a clone, everything is
rebuilt, and both are searched again.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from sqlalchemy import Connection, LargeBinary, select

from bot.model.ids import PersonKey, RepositoryId
from bot.services.backfill.steps import open_backfills
from bot.services.digests.publishing import close_months
from bot.services.privacy import erasure
from bot.services.pruning import ask_to_prune
from bot.services.recording.rebuild import rebuild
from bot.store.schema import TABLES
from simulator.server import Simulator
from simulator.state import SimPullRequest, SimRepository
from simulator.web_host import noreply_domain
from simulator.work import NewPullRequest, Step
from tests.services.landed import NOW, Town, town

LOGIN, NAME, ADDRESS, TITLE = "vexquill-77", "Zorvath Quimberley", "zq.private@canary.example", "xylograph"
CANARIES = (LOGIN, NAME, ADDRESS, TITLE)
SETTINGS = (
    "first_digest: post\n",
    "first_digest: post\non_merge: comment\n",
    "first_digest: post\ndigest: discussion\n",
    "",
)
WAYS = ("command", "operator", "settings page")


class Outcome(Struct):
    """What was searched, and where canaries were found after the erasure."""

    histories: int = 0
    searched: int = 0
    """bytes"""
    steps: int = 0
    unseen: list[str] = []
    """canaries that were nowhere before the erasure: the search would prove nothing"""
    found: list[str] = []

    @property
    def complete(self) -> bool:
        return self.histories > 0 and not self.found and not self.unseen


class History:
    """One random history in one town."""

    def __init__(self, there: Town, data: Path, seed: int) -> None:
        self.there, self.data, self.random = there, data, random.Random(seed)
        self.github = there.github
        self.person = there.github.account(LOGIN, name=NAME, email=ADDRESS)
        there.people["canary"] = self.person
        there.repository.permissions[LOGIN] = "write"
        self.landed: list[SimPullRequest] = []
        self.turn = 0
        self.at = NOW - timedelta(days=50)

    def _moment(self) -> datetime:
        self.at = min(self.at + timedelta(hours=self.random.randrange(4, 60)), self.there.clock.now)
        return self.at

    def _others(self) -> str:
        return self.random.choice(("ada", "bea"))

    async def step(self, who: str | None = None) -> None:
        """Something that happens; `who` lands if it is a landing."""
        self.turn += 1
        await self.random.choice(self._deeds())()
        await self.there.drained()

    def _deeds(self) -> list[Callable[[], Awaitable[None]]]:
        return [
            self.land_own,
            self.land_own,
            self.land_with,
            self.revert,
            self.review,
            self.changelog,
            self.speak,
            self.speak,
        ]

    async def land_own(self) -> None:
        title = f"feat: carve a {TITLE} of {self.turn} parts"
        self._land(title, "canary", f"By {NAME}, see @{LOGIN}.\n")

    async def land_with(self) -> None:
        credit = f"Co-authored-by: {NAME} <{self.random.choice((ADDRESS, self._noreply()))}>"
        self._land(f"fix: oil part {self.turn}", self._others(), f"Helps {self.turn}.\n\n{credit}")

    def _noreply(self) -> str:
        return f"{self.person.id}+{LOGIN}@{noreply_domain()}"

    def _land(self, title: str, by: str, body: str) -> None:
        here, at, author = self.there.repository, self._moment(), self.there.people[by]
        files = {f"part_{self.turn}.py": f"def part_{self.turn}():\n    return {self.turn}\n".encode()}
        steps = [Step(f"{title}\n\n{body}", files)]
        if self.random.random() < 0.3:
            more = {f"more_{self.turn}.py": b"MORE = 1\n"}
            other = self.there.people["canary" if by != "canary" else self._others()]
            said = (
                f"feat: polish the {TITLE} {self.turn}" if other is self.person else f"fix: sharpen knife {self.turn}"
            )
            steps.append(Step(f"{said}\n", more, author=other.signature))
        pull = self.github.open_pull(here, NewPullRequest(title, author, steps, f"topic-{self.turn}", body), at=at)
        how = self.random.choice(("squash", "merge", "rebase"))
        self.github.merge(here, pull, how, by=self.there.people["mara"], at=at)
        self.landed.append(pull)

    async def revert(self) -> None:
        pulls = [one for one in self.landed if one.landed and not one.issue.title.startswith("Revert")]
        if not pulls:
            return
        pull = self.random.choice(pulls)
        self.landed.remove(pull)
        at = self._moment()
        undo = self.github.revert(self.there.repository, pull, by=self.there.people["bea"], at=at)
        self.github.merge(self.there.repository, undo, "squash", by=self.there.people["mara"], at=at)

    async def review(self) -> None:
        if self.landed:
            pull, by = self.random.choice(self.landed), self.random.choice(("canary", "ada"))
            said = ("APPROVED", f"Well carved, {NAME}")
            self.github.review(self.there.repository, pull, said, by=self.there.people[by], at=self._moment())
            issue = self.github.open_issue(
                self.there.repository, f"The {TITLE} is loud", by=self.person, at=self.at, body=NAME
            )
            self.github.comment(
                self.there.repository, issue, f"Right, @{LOGIN}", by=self.there.people["ada"], at=self.at
            )

    async def changelog(self) -> None:
        text = f"# Changelog\n\n## {self.turn}.0\n\n- Oil the wheel (#{self.turn}), thanks to {NAME} (@{LOGIN})\n"
        step = Step(f"docs: tell of {self.turn}.0, by @{LOGIN}", {"CHANGELOG.md": text.encode()})
        self.github.push(self.there.repository, "main", [step], by=self.there.people["mara"], at=self._moment())

    async def speak(self) -> None:
        if not self.landed:
            return
        pull = self.random.choice(self.landed)
        by, text = self.random.choice(
            (
                ("canary", "/almanac me"),
                ("canary", f"/almanac dispute the {TITLE} is older"),
                ("canary", "/almanac why commits"),
                ("mara", f"/almanac why {pull.number}"),
                ("mara", "/almanac classify fix"),
                ("mara", "/almanac digest preview"),
            )
        )
        await self.there.say(pull.issue, text, by=by)

    async def months_end(self) -> None:
        await close_months(self.there.bot.context)
        await self.there.drained()

    async def forget(self, way: str) -> None:
        """Erase the person, and finish all jobs."""
        there = self.there
        key = PersonKey(f"u:{self.person.id}")
        if way == "command":
            issue = self.landed[0].issue if self.landed else next(iter(there.repository.issues.values()))
            await there.say(issue, "/almanac forget-me", by="canary")
        else:
            there.clock.now += timedelta(minutes=20)
            await there.bot.store.write(erasure.forget, there.bot.context, key, there.clock.now)
            if way == "operator":
                await there.bot.store.write(erasure.erase, there.bot.context, key)
        await there.drained()
        await self.later(minutes=11)

    async def later(self, **span: float) -> None:
        """Time passes, and what is due by then is done."""
        self.there.clock.now += timedelta(**span)
        await ask_to_prune(self.there.bot.context)
        await self.there.drained()

    async def repeat_everything(self) -> None:
        """All deliveries again, also under other ids; the history from a clone; everything rebuilt."""
        for delivery in list(self.github.deliveries.log):
            again = self.github.deliveries.copy_of(delivery)
            self.github.deliveries.queue(again)
            other = self.github.deliveries.copy_of(delivery)
            other.guid = f"{self.random.getrandbits(128):032x}"
            self.github.deliveries.queue(other)
        await self.there.drained()
        number, here = self.there.installation.id, self.there.repository
        if self.there.bot.context.clones is not None:
            await self.there.bot.store.write(
                lambda connection: open_backfills(
                    connection,
                    self.there.bot.context,
                    number,
                    [RepositoryId(here.id)],
                    again=True,  # type: ignore[arg-type]
                )
            )
            await self.there.drained()
        await rebuild(self.there.bot.store, number, self.there.bot.context.zone)  # type: ignore[arg-type]
        await self.months_end()
        await self.later(hours=2)
        await self.later(minutes=11)

    # --- searching ---

    async def places(self) -> dict[str, list[str]]:
        """Where each canary is: files by name, rows unpacked, and what stands at GitHub in our name."""
        places: dict[str, list[str]] = {canary: [] for canary in CANARIES}
        rows = await self.there.bot.store.read(lambda connection: list(unpacked_rows(connection)))
        posts = [("post", text) for text in our_texts(self.there)]
        files = [(path.name, path.read_bytes()) for path in sorted(self.data.rglob("*")) if path.is_file()]
        for canary in CANARIES:
            low = canary.lower()
            places[canary] += [f"file {name}" for name, content in files if low.encode() in content.lower()]
            places[canary] += sorted(
                {f"{where}: {_around(text, low)}" for where, text in (*rows, *posts) if low in text.lower()}
            )
        return places


def _around(text: str, canary: str) -> str:
    at = text.lower().index(canary)
    return " ".join(text[max(at - 120, 0) : at + 60].split())


def unpacked_rows(connection: Connection) -> Iterator[tuple[str, str]]:
    """Each row as text, with packed columns unpacked."""
    for table in TABLES:
        packed = {
            column.name
            for column in table.columns
            if isinstance(getattr(column.type, "impl", column.type), LargeBinary)
        }
        for row in connection.execute(select(table)).mappings():
            yield (
                f"row {table.name}",
                " ".join(_unpacked(value) if name in packed and value else str(value) for name, value in row.items()),
            )


def _unpacked(value: bytes) -> str:
    try:
        return zlib.decompress(value).decode("utf-8", "replace")
    except zlib.error:
        return value.decode("utf-8", "replace")


def our_texts(there: Town) -> Iterator[str]:
    """Every text of ours at GitHub, with all revisions that readers can open."""
    here: SimRepository = there.repository
    for issue in here.issues.values():
        for comment in issue.comments:
            if comment.app is there.app:
                yield from (comment.body, *comment.revisions)
    for discussion in here.discussions:
        for one in discussion.comments:
            yield from (one.body, *one.revisions)
    for run in here.checks.values():
        yield str(run.fields)


async def one_history(folder: Path, seed: int, outcome: Outcome, *, steps: int = 14, database: str = "") -> None:
    """Play one history with an erasure at a random point, on SQLite in the folder or on another database."""
    chance = random.Random(seed)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    settings = chance.choice(SETTINGS)
    async with (
        Simulator() as github,
        town(github, folder, settings=settings, backfill=True, database=database) as there,
    ):
        there.repository.has_discussions = True
        history = History(there, folder, seed)
        await history.land_own()
        await there.drained()
        await history.land_with()
        await there.drained()
        for _ in range(chance.randrange(steps)):
            await history.step()
            outcome.steps += 1
            if chance.random() < 0.2:
                await history.months_end()
        await history.months_end()
        before = await history.places()
        outcome.unseen += [f"{seed}: {canary}" for canary, found in before.items() if not found]
        await history.forget(chance.choice(WAYS))
        _note(outcome, f"{seed}, after", await history.places(), folder)
        for _ in range(chance.randrange(4)):
            await history.step()
        await history.repeat_everything()
        _note(outcome, f"{seed}, at the end", await history.places(), folder)
    outcome.histories += 1


def _note(outcome: Outcome, when: str, places: dict[str, list[str]], folder: Path) -> None:
    outcome.found += [f"{when}: {canary} in {place}" for canary, found in places.items() for place in found]
    outcome.searched += sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def erasures(histories: int, first: int = 1, *, steps: int = 14) -> Outcome:
    """Play so many histories, with the seeds from `first` on."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="erasure-") as folder:
        for seed in range(first, first + histories):
            await one_history(Path(folder) / str(seed), seed, outcome, steps=steps)
    return outcome


def main() -> int:
    given = [int(word) for word in sys.argv[1:]]
    begun = time.monotonic()
    outcome = asyncio.run(erasures(*(given or [20])))
    for line in (*outcome.unseen, *outcome.found):
        print(line)
    print(
        f"{outcome.histories} histories, {outcome.steps} steps before the erasures, {outcome.searched / 1e6:.0f} MB "
        f"searched in {time.monotonic() - begun:.0f} s: {len(outcome.found)} canaries found"
    )
    return 0 if outcome.complete else 1


if __name__ == "__main__":
    raise SystemExit(main())
