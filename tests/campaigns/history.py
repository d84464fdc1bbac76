"""Does a history of thousands of pull requests survive kills completely, and what does it cost?

    python -m tests.campaigns.history CLONE [PULLS] [KILLS] [SEED]

A public history (a bare clone) is imported into the simulated GitHub with PULLS closed pull requests: those that its
commits name, and others that never landed. `almanac serve` is installed on it and killed with SIGKILL while it reads
the history and the newest part is still being pushed. A second, undisturbed run reads everything in one go. Both
records must be identical, byte for byte, and the profiles must equal those of the command line on the clone.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec.structs import replace
from sqlalchemy import func, select

from bot.github.graphql import PAGE
from bot.history.clone import Clone
from bot.history.log import landings
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.history.walk import arrivals
from bot.landing.changes import fold
from bot.landing.conventions.recognition import recognise
from bot.landing.identity.credit import person_key
from bot.model.commit import Person, Signature
from bot.model.fact import Fact
from bot.model.ids import InstallationId, PersonKey
from bot.narrative.profile import ProfileScope
from bot.narrative.profile import build as build_profile
from bot.store import backfills, installations, ledger, records
from bot.store.backfills import BACKFILL, Backfill
from bot.store.dump import dump_lines
from bot.store.engine import Store
from bot.store.jobs import JOB
from simulator.git import GitRepository, TreeEntry, run_git
from simulator.imported import Imported, advance, import_clone, trees_of
from simulator.server import Simulator
from simulator.state import Issue, SimAccount, SimPullRequest
from simulator.world import World
from tests.campaigns.kill_storm import Victim
from tests.comparing import same_from_anywhere

NUMBER = re.compile(r"^Merge pull request #(\d+) |\(#(\d+)\)$")
FIXED = 5
"""requests for the repository, its account's settings, machines, and addresses that did not fit into a page's query"""
NEWEST = 20
"""first-parent commits that are pushed while the history is read"""


class LazyTree(Mapping[str, TreeEntry]):
    """The files of a commit, read on first access: a history has millions."""

    def __init__(self, git: GitRepository, tree: str) -> None:
        self._git, self._tree = git, tree
        self._known: Mapping[str, TreeEntry] | None = None

    def _files(self) -> Mapping[str, TreeEntry]:
        if self._known is None:
            self._known = trees_of(self._git, [self._tree])[self._tree]
        return self._known

    def __getitem__(self, path: str) -> TreeEntry:
        return self._files()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files())

    def __len__(self) -> int:
        return len(self._files())


def lazily(git: GitRepository, trees: Iterable[str]) -> dict[str, LazyTree]:
    return {tree: LazyTree(git, tree) for tree in trees}


@dataclass
class Outcome:
    """The result of a run."""

    pulls: int
    commits: int
    rows: list[Backfill]
    graphql: int
    rest: int
    points: int
    seconds: float
    record: list[str]

    def told(self, name: str) -> str:
        row = self.rows[0]
        per = self.spent / max(self.pulls, 1)
        return (
            f"{name}: {self.pulls} pull requests and {self.commits} commits in {self.seconds:.0f} s; "
            f"the history took {self.spent} requests ({per:.4f} a pull request) and {row.points} points; all in all "
            f"there were {self.graphql} GraphQL requests ({self.points} points) and {self.rest} of REST"
        )

    @property
    def spent(self) -> int:
        """Requests of the backfill itself, as its row counts them."""
        return sum(row.requests for row in self.rows)

    @property
    def is_cheap(self) -> bool:
        """Whether it took one request per hundred pull requests, plus a few that every history needs."""
        return self.spent <= math.ceil(self.pulls / PAGE) + FIXED


def only_branch(clone: Path, folder: Path) -> Path:
    """A copy of the clone with nothing but its default branch."""
    run_git(folder, "clone", "-q", "--bare", "--single-branch", clone.resolve().as_uri(), "history.git")
    return folder / "history.git"


def populate(github: Simulator, clone: Path, pulls: int) -> tuple[Imported, list[SimPullRequest]]:
    """The clone as `acme/history` with its pull requests; its default branch still lacks the newest part."""
    branch = (clone / "HEAD").read_text().strip().removeprefix("ref: refs/heads/")
    found = import_clone(github, clone, "acme/history", branch=branch, read=lazily)
    git, late, proved = found.repository.git, [], proved_numbers(clone)
    for position, sha in enumerate(found.line):
        draft = git.commits[sha].draft
        subject, _, body = draft.message.partition("\n")
        named = NUMBER.search(subject.rstrip())
        if named is None or int(named[1] or named[2]) in found.repository.issues:
            continue
        if int(named[1] or named[2]) not in proved[sha]:
            continue  # GitHub would know more than any clone, so the profiles would rightly differ
        title = body.strip().split("\n")[0] if named[1] else subject[: named.start()].strip()
        parents = git.commits[sha].parents
        if not parents or not title:
            continue
        pull = _pull(github, found, int(named[1] or named[2]), title, (parents[-1] if named[1] else sha, parents[0]))
        if position < len(found.line) - NEWEST:
            pull.merged_at, pull.merge_commit, pull.landed = draft.committed_at, sha, sha
        else:
            pull.issue.closed_at = None
            late.append(pull)
            pull.landed = sha
    number = max(found.repository.issues, default=0)
    while len(found.repository.issues) < pulls:
        number += 1
        head = found.line[number % (len(found.line) - NEWEST)]
        _pull(github, found, number, f"Never landed, {number}", (head, head))
    git.set_ref("refs/heads/main", found.line[-1 - NEWEST])
    return found, late


def proved_numbers(folder: Path) -> Mapping[str, set[int]]:
    """The pull requests that a clone proves, by the commit that brought them in."""
    clone = called("acme/history", open_clones([str(folder)])[0])
    found: dict[str, set[int]] = defaultdict(set)
    for landing in landings(clone, list(arrivals(clone)), patches=False):
        number = recognise(landing).pull_request
        if number is not None:
            found[landing.merge_commit.id].add(number)
    return found


def called(full_name: str, clone: Clone) -> Clone:
    return replace(clone, repository=replace(clone.repository, full_name=full_name))


def _pull(github: Simulator, found: Imported, number: int, title: str, ends: tuple[str, str]) -> SimPullRequest:
    head, base = ends
    at = found.repository.git.commits[head].draft.committed_at
    issue = Issue(github.state.new_id(), number, title, "", None, at, at, closed_at=at)
    found.repository.issues[number] = issue
    issue.pull = SimPullRequest(issue, "main", f"topic-{number}", found.repository, head, base)
    return issue.pull


async def push_newest(github: Simulator, found: Imported, late: list[SimPullRequest], by: SimAccount) -> None:
    """Push the rest of the branch commit by commit, and close each commit's pull request."""
    landing = {pull.landed: pull for pull in late}
    for sha in found.line[-NEWEST:]:
        advance(github, found, sha, by=by)
        if pull := landing.get(sha):
            at = found.repository.git.commits[sha].draft.committed_at
            pull.merged_at, pull.merge_commit = at, sha
            github.close(found.repository, pull, by=by, at=at)
        await github.wait_until_idle()
        await asyncio.sleep(0.2)


class Reader(Victim):
    """`almanac serve` with backfill on."""

    def __init__(self, github: Simulator, world: World, data: Path) -> None:
        super().__init__(github, world, data)
        self.environment["ALMANAC_BACKFILL"] = "on"


async def run(
    github: Simulator,
    world: World,
    data: Path,
    *,
    kills: int,
    chance: random.Random,
    live: Coroutine[None, None, None] | None,
) -> Outcome:
    """Install the App, kill and restart the bot while it reads, and wait until no job is left."""
    began, asked, points = time.monotonic(), len(github.requests), sum(github.points.values())
    reader = Reader(github, world, data)
    world.app.webhook_url = f"http://127.0.0.1:{reader.port}/webhook"
    await reader.start()
    world.installation = github.install(world.app, world.app.owner)
    await github.wait_until_idle()
    pushing = asyncio.create_task(live) if live is not None else None
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(1.5, 5.0))
        await reader.end(signal.SIGKILL)
        await reader.start()
    if pushing is not None:
        await pushing
    await _deliver_again(github)
    store = await Store.open(f"sqlite:///{data / 'almanac.sqlite'}", read_only=True)
    await _quiet(store)
    await reader.end(signal.SIGTERM)
    with store.snapshot() as connection:
        ids = list(connection.execute(select(BACKFILL.c.repository_id)).scalars())
        rows = backfills.of(connection, ids)
    lines = [json.loads(line) for line in await store.read(lambda connection: list(dump_lines(connection)))]
    lines = [line for line in lines if line[0] != "observation"]  # only deliveries show these
    await store.close()
    number = world.installation.id
    own = {"installation", "repository"}
    record = [json.dumps([None if line[0] in own and cell == number else cell for cell in line]) for line in lines]
    new = github.requests[asked:]
    graphql = sum(one == "POST /graphql" for one in new)
    done = sum(row.pulls_done for row in rows), sum(row.commits_done for row in rows)
    cost = sum(github.points.values()) - points
    return Outcome(*done, rows, graphql, len(new) - graphql, cost, time.monotonic() - began, record)


async def _deliver_again(github: Simulator) -> None:
    while True:
        good = {one.guid for one in github.deliveries.log if one.status == "OK"}
        bad = {one.guid: one.id for one in github.deliveries.log if one.guid not in good}
        if not bad:
            return
        for number in bad.values():
            github.deliveries.redeliver(number)
        await github.wait_until_idle()


async def _quiet(store: Store) -> None:
    """Wait until no job is left."""
    for _ in range(6000):
        with store.snapshot() as connection:
            waiting = select(func.count()).select_from(JOB).where(JOB.c.state.in_(("ready", "running")))
            if not connection.execute(waiting).scalar_one():
                return
        await asyncio.sleep(0.2)
    raise RuntimeError("jobs are left over")


async def profiles_differ(data: Path, world: World, found: Imported, people: int) -> list[str]:
    """Of the busiest people, those whose profile from the ledger differs from the command line's on the clone."""
    clones = open_clones([str(found.repository.git.path)])
    record = CloneRecord(tuple(called("acme/history", one) for one in clones), cache=False)
    record.refresh()
    wrong = []
    assert world.installation is not None
    address = f"sqlite:///{data / 'almanac.sqlite'}"
    async with await Store.open(address, read_only=True) as store:
        with store.snapshot() as connection:
            stored = installations.repositories_of(connection, InstallationId(world.installation.id))
            names = {row.repository.full_name: row.repository for row in stored}
            homes = [row.repository.id for row in stored if row.repository.id]
            facts = [fact for home in homes for fact in ledger.facts_in(connection, home)]
            for person in [one for one in record.people.all() if not one.bot][:people]:
                keys = keys_in_ledger(record, person, facts)
                mine = fold(records.facts_about(connection, sorted(keys), homes).facts(), names)
                scopes = scope_of(person, record.keys_of([person])), scope_of(person, keys)
                local, live = build_profile(record.changes_of([person]), scopes[0]), build_profile(mine, scopes[1])
                if same_from_anywhere(local) != same_from_anywhere(live):
                    wrong.append(person.display)
    record.close()
    return wrong


def keys_in_ledger(record: CloneRecord, person: Person, facts: Iterable[Fact]) -> frozenset[PersonKey]:
    """The ledger's keys of a person in the clone: it does not apply `.mailmap`, but knows accounts.

    The author of a commit in the clone is its author in the ledger, whatever their name is there.
    """
    theirs = {commit.fact.commit: commit.fact for one in record.changes_of([person]) for commit in one.commits}
    keys = record.keys_of([person])
    found: set[PersonKey] = set()
    for fact in facts:
        if (here := theirs.get(fact.commit)) is not None:
            pairs = zip(people_of(here), people_of(fact), strict=False)
            found |= {person_key(there) for mine, there in pairs if person_key(mine) in keys}
    return frozenset(found)


def people_of(fact: Fact) -> tuple[Signature, ...]:
    return fact.author, *fact.co_authors


def scope_of(person: Person, keys: frozenset[PersonKey]) -> ProfileScope:
    return ProfileScope(person=person, keys=keys, zone=ZoneInfo("UTC"), now=datetime(2027, 1, 1, tzinfo=UTC))


async def campaign(clone: Path, *, pulls: int, kills: int, seed: int) -> bool:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with Simulator(rate_limit=10**6) as github:
            owner = github.organisation("acme")
            by = github.account("operator")
            app = github.register_app("almanac", owner)
            found, late = populate(github, only_branch(clone, Path(folder)), pulls)
            world = World(github, app, {}, {"history": found.repository}, [])
            chance = random.Random(seed)
            stormy = await run(
                github,
                world,
                folder_in(folder, "stormy"),
                kills=kills,
                chance=chance,
                live=push_newest(github, found, late, by),
            )
            print(stormy.told(f"killed {kills} times, deliveries meanwhile"), flush=True)
            assert world.installation is not None
            github.uninstall(world.installation)
            calm = await run(github, world, folder_in(folder, "calm"), kills=0, chance=chance, live=None)
            print(calm.told("calm"), flush=True)
            same = calm.record == stormy.record
            print(f"the records are {'the same' if same else 'DIFFERENT'} ({len(calm.record)} rows)", flush=True)
            if not same:
                show_difference(calm.record, stormy.record)
            wrong = await profiles_differ(Path(folder, "calm"), world, found, 25)
            print(f"profiles of the 25 busiest that differ from the command line's: {wrong or 'none'}", flush=True)
            return same and not wrong and calm.is_cheap


def folder_in(folder: str, name: str) -> Path:
    found = Path(folder, name)
    found.mkdir()
    return found


def show_difference(calm: list[str], stormy: list[str]) -> None:
    one, other = set(calm) - set(stormy), set(stormy) - set(calm)
    for sign, rows in (("-", one), ("+", other)):
        for row in sorted(rows)[:8]:
            print(f"{sign} {row[:600]}", flush=True)


def main() -> None:
    given = sys.argv[1:]
    if not given:
        raise SystemExit(__doc__)
    numbers = [int(one) for one in given[1:]] + [2000, 5, 1][len(given) - 1 :]
    sys.exit(0 if asyncio.run(campaign(Path(given[0]), pulls=numbers[0], kills=numbers[1], seed=numbers[2])) else 1)


if __name__ == "__main__":
    main()
