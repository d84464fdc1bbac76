"""Do deliveries and clones give one record of work from a merge bot, forks and mirrors?"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.app import Bot
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.landing.identity.credit import People, person_key
from bot.metrics.line_fates import own_commits
from bot.model.commit import Person
from bot.model.commit import Repository as Known
from bot.model.fact import Fact
from bot.model.ids import InstallationId, PersonKey
from bot.model.profile import Profile
from bot.narrative.profile import ProfileContext, ProfileScope
from bot.narrative.profile import build as build_profile
from bot.store import installations, ledger, lines, records
from simulator import web_host
from simulator.imported import Imported, advance, close_unmerged, import_clone, pushes
from simulator.server import Simulator
from simulator.state import SimAccount, SimApp
from simulator.web_host import noreply_domain, web
from simulator.world import World
from tests.comparing import same_from_anywhere
from tests.history.repository import Repository
from tests.path.requests import YEAR_3000
from tests.path.running import running

SHARED = Path(__file__).parents[3] / "shared" / "replay"
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
BOT = ("Acme MergeBot", f"acmemergebot@{noreply_domain()}")
MINA = ("Mina Orlov", "mina@example.org")


@dataclass
class Replay:
    """Clones by full name, which of them are forks, who is looked at, and what was closed unmerged upstream."""

    clones: dict[str, Path]
    upstream: str
    forks: set[str]
    who: str
    closed: list[tuple[int, str, str]] = field(default_factory=list)
    """number, title, head commit"""


def shared_replay(out: Path) -> Replay:
    script = [sys.executable, str(SHARED / "make_replay.py"), str(SHARED / "landings_nautsimon.json"), str(out)]
    subprocess.run(script, check=True, capture_output=True)
    manifest = json.loads((out / "manifest.json").read_text())
    rows = manifest["repositories"]
    found = Replay(
        {row["full_name"]: out / row["folder"] for row in rows},
        next(row["full_name"] for row in rows if row["role"] == "upstream"),
        {row["full_name"] for row in rows if row["role"] == "fork"},
        "nautsimon",
    )
    landed = [row for row in manifest["landed"] if row["repository"] == found.upstream and row["pr"]]
    for row in [*landed, *manifest["not_landed"]]:
        title = subprocess.run(
            ["git", "-C", str(found.clones[found.upstream]), "show", "-s", "--format=%s", row["commit"]],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        found.closed.append((row["pr"], title.removesuffix(f" (#{row['pr']})"), row["commit"]))
    return found


def small_replay(out: Path) -> Replay:
    """A landing, its revert and its return through a merge bot; a fork with the same commits and one of its own."""
    up = Repository(out / "up", f"{web()}/acme/rocket.git")
    up.commit("Start", {"a.py": "a = 1\n"})
    told = f"Add a parser (#7)\n\nText.\n\nPull Request resolved: {web()}/acme/rocket/pull/7\n"
    first = up.commit(told, {"b.py": "b = 1\nc = 2\n"}, author=MINA)
    up.commit(
        f'Revert "Add a parser (#7)"\n\nThis reverts commit {first}.\n\n'
        f"Reverted {web()}/acme/rocket/pull/7 on behalf of {web()}/otto\n",
        {"b.py": None},
        author=BOT,
        days=40,
    )
    up.commit(told, {"b.py": "b = 1\nc = 2\n"}, author=MINA, days=40)
    fork = Repository(out / "fork", f"{web()}/moss/rocket.git")
    fork.git("fetch", "-q", str(up.folder), "main:main", "--update-head-ok")
    fork.git("reset", "-q", "--hard", "main")
    fork.now = up.now
    fork.commit("Only here", {"d.py": "d = 1\n"}, author=MINA)
    clones = {"acme/rocket": out / "up", "moss/rocket": out / "fork"}
    return Replay(clones, "acme/rocket", {"moss/rocket"}, "Mina Orlov", [(7, "Add a parser", first)])


def events_of(profile: Profile) -> dict[str, Any]:
    """The profile's JSON without what only GitHub knows: an account, and the grade of credit."""
    found = same_from_anywhere(profile)
    found.pop("contributor")
    for change in found["changes"]:
        change.pop("grade")
    return found


def scope_of(persons: tuple[Person, ...], keys: frozenset[PersonKey]) -> ProfileScope:
    return ProfileScope(person=persons[0], keys=keys, zone=ZoneInfo("UTC"), now=NOW)


def from_clones(replay: Replay) -> dict[str, Any]:
    record = CloneRecord(open_clones(list(replay.clones.values())), cache=False, now=YEAR_3000)
    record.refresh()
    persons = record.people.find(replay.who)
    scope = scope_of(persons, record.keys_of(persons))
    changes = record.changes_of(persons)
    lines = own_commits(changes, record.line_record(), scope.zone)
    built = build_profile(changes, scope, ProfileContext(lines))
    record.close()
    return events_of(built)


async def from_ledger(bot: Bot, installed: list[int], who: str) -> dict[str, Any]:
    facts: list[Fact] = []
    names: dict[str, Known] = {}
    with bot.store.snapshot() as connection:
        for number in installed:
            for row in installations.repositories_of(connection, InstallationId(number)):
                names[row.repository.full_name] = row.repository
                facts += ledger.facts_in(connection, row.repository.id) if row.repository.id else []
    signatures = [sig for fact in facts for sig in (fact.author, *fact.co_authors)]
    people = People.of(signatures)
    persons = people.find(who)
    keys = frozenset(person_key(sig) for sig in signatures if people.person(sig) in persons)
    ids = [row.id for row in names.values() if row.id is not None]
    await lines.bring_up_to_date(bot.store, ids)
    found = await bot.store.read(records.facts_about, keys, ids)
    changes, scope = found.changes(names), scope_of(persons, keys)
    return events_of(build_profile(changes, scope, ProfileContext(found.own_lines(changes, scope.zone))))


def authors_in(replay: Replay) -> set[tuple[str, str]]:
    """The names and addresses of all authors: without an account, what they landed would be claimed, not counted."""
    found: set[tuple[str, str]] = set()
    for folder in replay.clones.values():
        printed = subprocess.run(
            ["git", "-C", str(folder), "log", "--all", "--format=%an%x00%ae"],
            check=True,
            capture_output=True,
            text=True,
        )
        found |= {(name, email) for name, _, email in (line.partition("\0") for line in printed.stdout.splitlines())}
    return found


def arrive(github: Simulator, app: SimApp, replay: Replay) -> tuple[list[int], dict[str, Imported], SimAccount]:
    """The repositories under their owners, an installation on each, forks marked as GitHub marks them."""
    owners = {name.split("/")[0]: github.organisation(name.split("/")[0]) for name in replay.clones}
    imported = {name: import_clone(github, folder, name) for name, folder in replay.clones.items()}
    for name in replay.forks:
        imported[name].repository.fork_of = imported[replay.upstream].repository
    for number, (name, email) in enumerate(sorted(authors_in(replay))):
        github.account(f"author-{number}", name=name, email=email)
    installed = [github.install(app, owner).id for owner in owners.values()]
    return installed, imported, github.account("mergebot-operator")


async def deliveries_of(github: Simulator, replay: Replay, data: Path, *, seed: int) -> dict[str, Any]:
    """The ledger after every push and closed pull request arrived shuffled, every tenth of them twice."""
    chance = random.Random(seed)
    app = github.register_app("almanac", github.organisation(replay.upstream.split("/")[0]))
    installed, imported, by = arrive(github, app, replay)
    world = World(github, app, {}, {name: one.repository for name, one in imported.items()}, [])
    async with running(github, world, data) as there:
        await there.drained()
        github.deliveries.hold()
        for one in imported.values():
            for end in pushes(one.line, [chance.randint(1, 8) for _ in range(5)]):
                advance(github, one, end, by=by)
        for number, title, head in replay.closed:
            close_unmerged(github, imported[replay.upstream], number, title=title, head=head, by=by)
        waiting = github.deliveries.waiting
        waiting += [github.deliveries.copy_of(delivery) for delivery in waiting[::10]]
        github.deliveries.release(shuffle=seed)
        await there.drained()
        return await from_ledger(there.bot, installed, replay.who)


async def test_a_small_replay_is_the_same_from_deliveries_and_from_clones(github: Simulator, tmp_path: Path) -> None:
    replay = small_replay(tmp_path / "clones")
    expected = from_clones(replay)
    assert expected["overall"]["commits"] == 3
    assert await deliveries_of(github, replay, tmp_path / "bot", seed=3) == expected


async def test_the_shared_replay_is_the_same_from_deliveries_and_from_clones(tmp_path: Path) -> None:
    if web_host.HOST != "github.com":
        pytest.skip("NOT RUN: the public landings are github.com's")
    if not SHARED.is_dir():
        pytest.skip(f"NOT RUN: no replay of public landings at {SHARED}; the small replay above stands in for it")
    replay = shared_replay(tmp_path / "clones")
    expected = from_clones(replay)
    months = {row["month"]: row["commits"] for row in expected["months"]}
    assert months == {"2025-01": 2, "2025-06": 10, "2025-07": 3}
    assert [row["full_name"] for row in expected["repositories"]] == [replay.upstream]
    async with Simulator() as github:
        assert await deliveries_of(github, replay, tmp_path / "bot", seed=5) == expected
