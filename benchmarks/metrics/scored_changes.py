"""What happened to the commits of clones later? The rows that the quality scores are fitted to and evaluated on."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from benchmarks.metrics.blamed import Touched, replay
from bot.history.clone import Clone
from bot.history.git import GitError
from bot.history.log import landings
from bot.history.measuring import rules_of
from bot.history.opening import open_clones
from bot.history.walk import CommitArrival, arrivals
from bot.landing.changes import fold
from bot.metrics.hotspots import History
from bot.metrics.measure import Measure, measure
from bot.metrics.quality import work_of
from bot.metrics.scores import ScoredWork, is_rated
from bot.model.change import Change
from bot.model.fact import Fact, fact_from_json, fact_to_json

DAY = 86_400
_TYPES = "feat|fix|docs?|chore|refactor|perf|tests?|ci|build|style|revert|bugfix|hotfix|deps|feature"
_PREFIX = re.compile(rf"\W{{0,4}}(?:{_TYPES})(?:\([^()\n]{{1,60}}\))?!?:", re.IGNORECASE)
_STATED_FIX = re.compile(r"\W{0,4}(?:fix|bugfix|hotfix)(?:\([^()\n]{1,60}\))?!?:", re.IGNORECASE)
_WORDED_FIX = re.compile(r"\b(?:fix(?:e[sd]|ing)?|bugs?|crash(?:es)?|regression|broken)\b", re.IGNORECASE)
_OUTCOMES = {
    "refactor": re.compile(
        r"\W{0,4}refactor(?:\([^()\n]{1,60}\))?!?:|(?:refactor|clean ?up|simplify|reorgani[sz]e)\b", re.I
    ),
    "perf": re.compile(
        r"\W{0,4}perf(?:\([^()\n]{1,60}\))?!?:|.{0,200}\b(?:speed ?up|faster|performance|optimi[sz]e)", re.I
    ),
}
_WITHIN = {"refactor": 365 * DAY, "perf": 1500 * DAY}
_SOONEST = 3600
"""seconds: a fix within the same hour is part of the change"""


class ScoredChange(Struct, frozen=True):
    """One commit of a change with source lines. `outcomes` lists what later touched its lines, if known."""

    repository: str
    change: Change
    work: ScoredWork
    outcomes: Mapping[str, bool] = field(default_factory=dict)

    @property
    def added(self) -> int:
        return self.work["added"]


def _measure(clone: Clone, rules: Measure, batch: Sequence[CommitArrival]) -> list[Fact]:
    """The facts of a batch, without commits that git cannot show (a clone may lack its largest files)."""
    try:
        return [measure(landing, rules) for landing in landings(clone, batch)]
    except GitError:
        middle = len(batch) // 2
        return _measure(clone, rules, batch[:middle]) + _measure(clone, rules, batch[middle:]) if middle else []


def facts_of(name: str, path: Path, cache: Path | None = None) -> list[Fact]:
    """The facts of a clone under the given name, cached in a file of the cache folder if there is one."""
    kept = cache / f"{name}.facts.jsonl" if cache else None
    if kept and kept.exists():
        return [fact_from_json(json.loads(line)) for line in kept.read_text().splitlines()]
    clone = open_clones([path])[0]
    clone = replace(clone, repository=replace(clone.repository, full_name=name))
    found, rules = list(arrivals(clone)), rules_of(clone)
    facts = [fact for at in range(0, len(found), 100) for fact in _measure(clone, rules, found[at : at + 100])]
    if kept:
        kept.write_text("".join(json.dumps(fact_to_json(fact)) + "\n" for fact in facts))
    return facts


def rated_changes(facts: Sequence[Fact]) -> Iterator[tuple[Change, ScoredWork]]:
    """Every change with source lines, as it looked when it landed."""
    history = History.of(sorted(facts, key=lambda fact: fact.landed_at))
    for change in fold(facts):
        work = work_of([change], history)
        if is_rated(work.signals):
            yield change, work


def stated_labels(path: Path) -> dict[str, dict[str, bool]]:
    """Repository (`owner+name`) -> commit -> whether a fix within 30 days blames it, from a published table."""
    labels: dict[str, dict[str, bool]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            labels.setdefault(row["repo"], {})[row["sha"]] = row["y30"] == "1"
    return labels


def rows_of(name: str, facts: Sequence[Fact], labels: Mapping[str, bool]) -> list[ScoredChange]:
    """The labelled commits, each with the score of its change."""
    return [
        ScoredChange(name, change, work, {"fixed": labels[commit.fact.commit]})
        for change, work in rated_changes(facts)
        for commit in change.commits
        if commit.fact.commit in labels
    ]


def replay_rows(name: str, path: Path, facts: Sequence[Fact]) -> list[ScoredChange]:
    """The first-parent commits with a year of follow-up, labelled by what later touches their lines."""
    touched = list(replay(path))
    if not touched:
        return []
    at = {one.commit: one.at for one in touched}
    end = max(at.values())
    found = _outcomes_by_commit(touched, at)
    rows = []
    for change, work in rated_changes(facts):
        mine = [commit.fact.commit for commit in change.commits if commit.fact.commit in at]
        if mine and work["added"] and change.landed_at <= end - 365 * DAY:
            for commit in mine:
                names = found.get(commit, set())
                rows.append(
                    ScoredChange(name, change, work, {one: one in names for one in ("fixed", "refactor", "perf")})
                )
    return rows


def _outcomes_by_commit(touched: Sequence[Touched], at: Mapping[str, int]) -> dict[str, set[str]]:
    stated = sum(_PREFIX.match(one.subject) is not None for one in touched) > 0.25 * len(touched)
    found: dict[str, set[str]] = {}
    for one in touched:
        fix = _STATED_FIX.match(one.subject) if stated else _WORDED_FIX.search(one.subject)
        names = {name for name, pattern in _OUTCOMES.items() if pattern.match(one.subject)} | (
            {"fixed"} if fix else set()
        )
        for name in names:
            for owner in one.lines:
                if _SOONEST <= one.at - at.get(owner, one.at) <= _WITHIN.get(name, 30 * DAY):
                    found.setdefault(owner, set()).add(name)
    return found


def clones(arguments: Sequence[str]) -> dict[str, Path]:
    """Parse NAME=PATH arguments; without a name, the last parts of the path provide it."""
    found = {}
    for argument in arguments:
        name, _, path = argument.rpartition("=")
        folder = Path(path)
        own = folder.parent.name if folder.name in (".git", "repo") else folder.name
        found[name or own.removesuffix(".git")] = folder
    return found
