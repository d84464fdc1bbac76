"""An organisation whose work lands in every way, at times that are written down, so that two runs are the same."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from simulator.server import Simulator
from simulator.state import SimAccount, SimPullRequest, SimRepository
from simulator.work import NewPullRequest, Step
from simulator.world import World

END = datetime(2031, 5, 31, 12, tzinfo=UTC)
"""when the last landing lands; the month is then soon over"""
GAP = timedelta(minutes=5)
"""between two landings of the organisation"""
CONFIGS = {
    "calm": "first_digest: post\n",
    "told": "on_merge: comment\nfirst_digest: post\n",
    "talk": "digest: discussion\nfirst_digest: post\n",
    "bare": "",
}
"""the settings file of each kind of repository"""
WAYS = ("squash", "squash of three", "merge", "rebase", "push", "push of two", "bot", "revert", "comment")
PEOPLE = ("ada", "bea", "cai", "dov", "eli")


@dataclass
class LyingWorld:
    """`mara` merges; five people write. Landing number `n` is the same in every run."""

    world: World
    start: datetime
    people: list[SimAccount] = field(default_factory=list)
    landed: dict[str, list[SimPullRequest]] = field(default_factory=dict)

    @property
    def github(self) -> Simulator:
        return self.world.github

    def at(self, number: int) -> datetime:
        """When landing `number` lands."""
        return self.start + (number + 1) * GAP

    def land(self, number: int) -> None:
        """Landing `number`, at its time."""
        names = sorted(self.world.repositories)
        name = names[number % len(names)]
        repo, at = self.world.repositories[name], self.at(number)
        way = WAYS[(number // len(names) + number) % len(WAYS)]
        author = self.people[number % len(self.people)]
        if way in ("push", "push of two"):
            steps = self._steps(repo, number, 1 + (way == "push of two"), at)
            self.github.push(repo, "main", steps, by=author, at=at)
            return
        if way == "revert" and self.landed[name]:
            pull = self.github.revert(repo, self.landed[name].pop(), by=author, at=at - timedelta(minutes=5))
            self.github.merge(repo, pull, "squash", by=self.world.people["mara"], at=at)
            return
        pull = self._open(repo, number, author, commits={"squash of three": 3, "merge": 2, "rebase": 2}.get(way, 1))
        if way == "bot":
            self.github.land_by_bot(repo, pull, bot=self.github.bot("lander[bot]"), at=at)
            return
        button = way if way in ("merge", "rebase") else "squash"
        self.github.merge(repo, pull, button, by=self.world.people["mara"], at=at)  # type: ignore[arg-type]  # a Button
        self.landed[name].append(pull)
        if way == "comment":
            text = f"/almanac classify {('feature', 'fix', 'other')[number % 3]}"
            self.github.comment(repo, pull.issue, text, by=author, at=at + timedelta(seconds=30))

    def _open(self, repo: SimRepository, number: int, author: SimAccount, *, commits: int) -> SimPullRequest:
        at = self.at(number) - timedelta(minutes=4)
        title = f"{('feat: add', 'fix: mend', 'Describe', 'perf: speed up')[number % 4]} part {number}"
        body = "Co-authored-by: Bea Example <bea@example.org>" if number % 7 == 3 else ""
        work = NewPullRequest(title, author, self._steps(repo, number, commits, at), f"topic-{number}", body)
        return self.github.open_pull(repo, work, at=at)

    def _steps(self, repo: SimRepository, number: int, commits: int, at: datetime) -> list[Step]:
        chance, steps = random.Random(number), []
        for turn in range(commits):
            lines = "".join(f"    total += {chance.randrange(1000)}\n" for _ in range(chance.randrange(1, 12)))
            text = f"def part_{number}_{turn}():\n    total = 0\n{lines}    return total\n"
            path = f"parts/part_{number % 40}_{turn}_{number // 400}.py"
            other = self.people[(number + 1) % len(self.people)]
            author = other.signature if turn == 1 else None
            steps.append(Step(f"Add part {number}.{turn}", {path: text.encode()}, author, at))
        return steps


def build(github: Simulator, repositories: int, start: datetime) -> LyingWorld:
    """The organisation `acme` with so many repositories, a quarter of each kind of settings."""
    owner = github.organisation("acme")
    mara = github.account("mara", name="Mara Example")
    people = [github.account(one, name=f"{one.title()} Example", email=f"{one}@example.org") for one in PEOPLE]
    github.bot("lander[bot]")
    app = github.register_app("almanac-test", owner)
    world = World(github, app, {one.login: one for one in (mara, *people)}, {}, [])
    for number in range(repositories):
        kind = sorted(CONFIGS)[number % len(CONFIGS)]
        name = f"{kind}{number}"
        files = {"README.md": f"# {name}\n"} | ({".github/almanac.yml": CONFIGS[kind]} if CONFIGS[kind] else {})
        repo = github.create_repository(f"acme/{name}", at=start - timedelta(days=90), files=files, by=mara)
        repo.permissions = {one.login: "write" for one in people} | {"mara": "admin"}
        repo.has_discussions = kind == "talk"
        world.repositories[name] = repo
    return LyingWorld(world, start, people, {name: [] for name in world.repositories})
