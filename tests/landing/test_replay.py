"""Do clones of an upstream, its forks and a mirror give the same record in every order of reading?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from landing_clones import as_fact, landings

from bot.landing.changes import fold
from bot.landing.identity.credit import People
from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.fact import Fact

REPLAY = Path(__file__).parents[3] / "shared" / "replay"
BOT = ("PyTorch MergeBot", "pytorchmergebot@users.noreply.github.com")
EXPORTER = ("Facebook GitHub Bot", "facebook-github-bot@users.noreply.github.com")
MINA = ("Mina Orlov", "mina@example.org")
OTTO = ("Otto Lind", "otto@example.net")
UP, FORK, PICKS, MIRROR = "acme/rocket", "aaa/rocket-fork", "Beta/rocket", "acme/engine"


class Clone:
    """A repository written one commit at a time."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.tip, self.lines = folder, name, "", 0
        self.git("init", "-q", "-b", "main", str(folder))
        self.git("config", "remote.origin.url", f"https://github.com/{name}.git")

    def git(self, *arguments: str, **variables: str) -> str:
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **variables}
        self.folder.mkdir(exist_ok=True)
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message: str, day: str, *, who=MINA, by=BOT, written: str = "", other: str = "") -> str:
        self.lines += 1
        (self.folder / f"{self.name[-3:]}{self.lines}.txt").write_text(f"{self.lines}\nof {self.name}\n")
        self.git("add", "-A")
        names = dict(zip(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"), who, strict=True))
        names |= dict(zip(("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"), by, strict=True))
        dates = {"GIT_AUTHOR_DATE": f"{written or day}T10:00:00Z", "GIT_COMMITTER_DATE": f"{day}T10:00:00Z"}
        parents = [part for parent in (self.tip, other) if parent for part in ("-p", parent)]
        self.tip = self.git("commit-tree", self.git("write-tree"), *parents, "-m", message, **names, **dates)
        self.git("update-ref", "refs/heads/main", self.tip)
        return self.tip


def landed(title: str, number: int) -> str:
    return f"{title} (#{number})\n\nText.\n\nPull Request resolved: https://github.com/{UP}/pull/{number}"


def write_clones(out: Path) -> list[Path]:
    """Two landings, one reverted and landed again, in an upstream; the same in two forks; a slice in a mirror."""
    up = Clone(out / "up", UP)
    up.commit("Start", "2025-01-02", who=OTTO, by=OTTO)
    fork = Clone(out / "fork", FORK)
    up.git("push", "-q", str(fork.folder), "main:refs/heads/base")
    fork.tip = up.tip
    first = up.commit(landed("Add a parser", 7), "2025-03-31", written="2025-03-02")
    up.commit(f'Revert "Add a parser (#7)"\n\nThis reverts commit {first}.', "2025-04-01", who=BOT)
    up.commit(landed("Add a parser", 7), "2025-05-02", written="2025-03-02")
    up.commit(landed("Fix the loop", 8), "2025-05-03")
    up.git("update-ref", "refs/remotes/origin/gh/mina/1/orig", up.tip)
    up.git("push", "-q", str(fork.folder), "main:refs/heads/upstream")
    fork.commit("Merge branch 'acme:main' into main", "2025-05-20", who=OTTO, by=OTTO, other=up.tip)
    picks = Clone(out / "picks", PICKS)
    picks.commit(landed("Add a parser", 7), "2025-06-02", written="2025-03-02", by=OTTO)
    picks.commit("Only here (#7)", "2025-06-03", who=OTTO, by=("GitHub", "noreply@github.com"))
    mirror = Clone(out / "mirror", MIRROR)
    link = f"Summary:\nX-link: https://github.com/{UP}/pull/8\n\nfbshipit-source-id: {'0' * 40}"
    mirror.commit(f"Fix the loop (#8)\n\n{link}", "2025-05-04", by=EXPORTER)
    return [clone.folder for clone in (up, fork, picks, mirror)]


def read(folders: list[Path]) -> list[Fact]:
    return [as_fact(landing) for folder in folders for landing in landings(folder, "main")]


def commits_by_month(changes: tuple[Change, ...], who: str) -> Counter[tuple[str, str]]:
    people = People.of(commit.fact.author for change in changes for commit in change.commits)
    wanted = {person.key for person in people.find(who)}
    counted = (commit.fact for change in changes for commit in change.counted)
    return Counter(
        (fact.repository, month_of(fact.landed_at, ZoneInfo("UTC")))
        for fact in counted
        if people.person(fact.author).key in wanted
    )


def outcomes(changes: tuple[Change, ...], email: str) -> list[str]:
    return [c.id for c in changes if c.outcome and any(commit.fact.author.email == email for commit in c.counted)]


def test_upstream_work_counts_once_and_not_in_its_forks(tmp_path):
    changes = fold(read(write_clones(tmp_path)))
    assert commits_by_month(changes, "mina") == {(UP, "2025-03"): 1, (UP, "2025-05"): 2, (MIRROR, "2025-05"): 1}
    assert outcomes(changes, MINA[1]) == [f"{UP}#7", f"{UP}#8"]
    parser, loop = (next(c for c in changes if c.id == f"{UP}#{number}") for number in (7, 8))
    assert (parser.state, month_of_utc(parser), parser.also_in) == ("relanded", "2025-05", (PICKS, FORK))
    assert (loop.state, loop.also_in, loop.lines.mirrored) == ("landed", (FORK, MIRROR), 2)
    assert outcomes(changes, OTTO[1]) == [f"{UP}@{read_first(changes)}", f"{PICKS}#7"]


def month_of_utc(change: Change) -> str:
    return datetime.fromtimestamp(change.landed_at, UTC).strftime("%Y-%m")


def read_first(changes: tuple[Change, ...]) -> str:
    return next(change for change in changes if change.title == "Start").counted[0].fact.commit


def test_the_order_of_the_clones_makes_no_difference(tmp_path):
    folders = write_clones(tmp_path)
    read_once = {folder: read([folder]) for folder in folders}
    results = {repr(fold(fact for folder in order for fact in read_once[folder])) for order in permutations(folders)}
    assert len(results) == 1


@pytest.fixture(scope="module")
def shared_replay(tmp_path_factory):
    if not REPLAY.is_dir():
        pytest.skip(f"no replay of public landings at {REPLAY}; the clones written above stand in for it")
    out = tmp_path_factory.mktemp("replay") / "out"
    script = [sys.executable, str(REPLAY / "make_replay.py"), str(REPLAY / "landings_nautsimon.json"), str(out)]
    subprocess.run(script, check=True, capture_output=True)
    manifest = json.loads((out / "manifest.json").read_text())
    return manifest, read([out / repository["folder"] for repository in manifest["repositories"]])


@pytest.mark.parametrize("who", ["nautsimon", "nautsimon@example.com", "Sam Mahns"])
def test_the_replay_of_public_landings_counts_each_landing_once(shared_replay, who):
    changes = fold(shared_replay[1])
    name = "pytorch/pytorch"
    assert commits_by_month(changes, who) == {(name, "2025-01"): 2, (name, "2025-06"): 10, (name, "2025-07"): 3}


def test_the_replay_holds_the_landings_of_its_manifest_and_no_draft(shared_replay):
    manifest, facts = shared_replay
    changes = fold(facts)
    mine = outcomes(changes, "nautsimon@example.com")
    assert sorted(mine) == sorted(f"{landed['repository']}#{landed['pr']}" for landed in manifest["landed"])
    drafts = {item["commit"] for item in manifest["not_landed"]}
    assert not drafts & {commit.fact.commit for change in changes for commit in change.commits}
    since_may = [c for c in changes if c.id in mine and c.landed_at >= 1_746_057_600]
    assert (len(since_may), sum(change.lines.total for change in since_may)) == (13, 60)


def test_re_lands_of_the_replay_are_one_outcome_in_the_month_of_the_re_land(shared_replay):
    changes = {change.id: change for change in fold(shared_replay[1])}
    again = changes["pytorch/pytorch#152777"]
    assert (again.state, month_of_utc(again)) == ("relanded", "2025-05")
    mirrored = [change for change in changes.values() if change.repository == "pytorch/benchmark" and change.elsewhere]
    assert [(change.state, change.outcome) for change in mirrored] == [
        ("landed", False),
        ("relanded", False),
        ("landed", False),
    ]
