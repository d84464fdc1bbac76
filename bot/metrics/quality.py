"""How sound is a piece of landed work, and a contributor's work as a whole?

A change or an item is scored by itself (`scores_of`, `item_scores`); a contributor's scores are the mean of the
items, weighted by their size and drawn to the middle while few are rated (`rate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from operator import itemgetter

from msgspec.structs import replace

from bot.metrics import kind_rules
from bot.metrics.hotspots import (
    MONTH,
    NO_HISTORY,
    NO_PAST,
    STATED,
    FileHistory,
    fix_weight,
    pull_request_names,
    source_paths,
)
from bot.metrics.scores import (
    EVERY_CHANGE,
    FORMULAS,
    LIVE_SIGNALS,
    NOTHING,
    KnownOutcome,
    Rating,
    ScoredWork,
    coefficients,
    correctness,
    is_rated,
    reason_text,
)
from bot.metrics.signals import entropy, module_of, signals
from bot.model.change import Change, CountedCommit, Item
from bot.model.fact import Fact
from bot.model.ids import ChangeId
from bot.model.profile import LiveScore, Quality, Score, ScoreEvidence

__all__ = ["QUALITIES", "item_scores", "known_since", "rate", "scores_of", "signals"]

QUALITIES = ("correctness", "maintainability", "architecture", "performance")
MOST_EVIDENCE = 100
"""rows of a contributor's score: those that moved it most"""

_PSEUDO_ITEMS = 3
_EIGHTY_PERCENT = 1.2816
_DAY = 86_400
_HOUR = 3600
_GUESSED_FEATURE = 0.35
_SUMMED_APART = frozenset({"entropy", "files", "modules", "new_files"})
_PURPOSES = frozenset({"feature", "bug_fix", "refactor", "perf"})


def _commits(changes: Iterable[Change]) -> list[CountedCommit]:
    """The counted commits of where each change lives; an export elsewhere is no second piece of work."""
    found: list[CountedCommit] = []
    for change in changes:
        counted = change.counted
        found += [commit for commit in counted if commit.fact.repository == change.repository]
        found += () if counted else change.commits
    return found


def _spread(facts: Sequence[Fact]) -> float:
    """Entropy over the files of all commits, by the chain rule: exact where they touch different files, else more."""
    lines = [fact.lines.authored for fact in facts]
    whole = sum(lines)
    if not whole:
        return 0.0
    within = sum(size / whole * fact.signals.get("entropy", 0) / 1000 for size, fact in zip(lines, facts, strict=True))
    return entropy(lines) + within


def _waited(fact: Fact) -> int:
    """Seconds from the writing of a commit to its landing."""
    return max(0, fact.landed_at - fact.authored_at)


def _as_feature(change: Change) -> float:
    """How much of a feature it is: its author's word counts whole, the guess of a model a third."""
    if change.kind != "feature":
        return 0.0
    stated = kind_rules.title_kind(change.title)
    return 1.0 if stated and stated[0] == "feature" else _GUESSED_FEATURE


def work_of(changes: Sequence[Change], history: FileHistory = NO_HISTORY) -> ScoredWork:
    """The changes as one piece of work, with the past of its files when the first of them landed."""
    facts = [commit.fact for commit in _commits(changes)]
    return _work(changes, facts, _sum_signals(facts), history)


def _sum_signals(facts: Iterable[Fact]) -> dict[str, int]:
    total: dict[str, int] = {}
    for fact in facts:
        for name, count in fact.signals.items():
            if name not in _SUMMED_APART:
                total[name] = total.get(name, 0) + count
    return total


def _work(
    changes: Sequence[Change], facts: Sequence[Fact], total: Mapping[str, int], history: FileHistory
) -> ScoredWork:
    paths = _paths(facts)
    first = min([fact.landed_at for fact in facts], default=0)
    bits = min(_spread(facts), math.log2(len(paths))) if paths else 0.0
    return ScoredWork(
        signals=total,
        entropy=bits,
        files=len(paths),
        modules=len({module_of(path) for path in paths}),
        fix=max(map(fix_weight, facts), default=0) / STATED,
        feature=max(map(_as_feature, changes), default=0.0),
        waited=max(map(_waited, facts), default=0) / _HOUR,
        mixed=len(facts) > 1 and len({fact.kind for fact in facts if fact.certain} & _PURPOSES) > 1,
        past=history.past(changes[0].repository, paths, first) if changes else NO_PAST,
    )


def _paths(facts: Sequence[Fact]) -> frozenset[str]:
    return frozenset(chain.from_iterable(map(source_paths, facts)))


def _added(change: Change) -> int:
    """Its added source lines."""
    return sum([commit.fact.signals.get("added", 0) for commit in _commits([change])])


def known_since(change: Change, history: FileHistory, now: int, known: KnownOutcome = NOTHING) -> KnownOutcome:
    """`known` with what the record itself tells by `now` (epoch seconds).

    That is a revert, a fix within 30 days that names the change, and days without a fix of its files.
    """
    paths = _paths([commit.fact for commit in _commits([change])])
    fixed_at = history.next_fix(change.repository, paths, change.landed_at)
    named_at = history.next_fix(change.repository, pull_request_names(change.pull_request), change.landed_at)
    end = now if fixed_at is None else min(now, fixed_at)
    return KnownOutcome(
        checks=known.checks,
        approved=known.approved,
        fixed=int(named_at is not None and named_at <= min(now, change.landed_at + MONTH)),
        quiet_days=max(0, end - change.landed_at) // _DAY if paths else None,
        reverted=change.state == "reverted",
        relanded=change.state == "relanded",
    )


def _at_landing(known: KnownOutcome) -> KnownOutcome:
    """What was known when it landed."""
    return KnownOutcome(checks=known.checks, approved=known.approved)


def _ratings(work: ScoredWork, known: KnownOutcome) -> dict[str, Rating]:
    if not is_rated(work.signals):
        return {}
    return {"correctness": correctness(work, known)} | {name: formula(work) for name, formula in FORMULAS.items()}


def _scored(ratings: Mapping[str, Rating], change: ChangeId) -> dict[str, Score]:
    return {
        name: Score(
            round(ratings[name].score, 2),
            1,
            None,
            tuple(
                ScoreEvidence(change, reason_text(reason), round(points, 2)) for reason, points in ratings[name].reasons
            ),
        )
        if name in ratings
        else Score()
        for name in QUALITIES
    }


def scores_of(
    change: Change, history: FileHistory = NO_HISTORY, *, frozen: bool = False, known: KnownOutcome = NOTHING
) -> dict[str, Score]:
    """The four scores of one change with their evidence; a score is None where it has no source lines.

    `frozen` keeps out whatever was not known when it landed. Effects are points, and sum to score - 100.
    """
    ratings = _ratings(work_of([change], history), _at_landing(known) if frozen else known)
    return _scored(ratings, change.id)


def item_scores(
    item: Item, changes: Mapping[ChangeId, Change], history: FileHistory = NO_HISTORY, *, known: KnownOutcome = NOTHING
) -> tuple[dict[str, Score], int]:
    """The scores of an item as one piece of work, and its added source lines.

    Evidence names the member with most source lines. Members that are not in `changes`, and reverts, are left out.
    """
    members = _members(item, changes)
    if not members:
        return {name: Score() for name in QUALITIES}, 0
    work = work_of(members, history)
    return _scored(_ratings(work, known), _leading(members)), work["added"]


def _members(item: Item, changes: Mapping[ChangeId, Change]) -> list[Change]:
    return [changes[name] for name in item.changes if name in changes and changes[name].kind != "revert"]


def _leading(members: Sequence[Change]) -> ChangeId:
    """The member with most source lines."""
    return members[0].id if len(members) == 1 else max((_added(change), change.id) for change in members)[1]


Rated = tuple[float, ChangeId, Rating]
"""weight of an item, the change that stands for it, and how it was rated"""


def rate(
    items: Sequence[Item],
    changes: Mapping[ChangeId, Change],
    history: FileHistory = NO_HISTORY,
    *,
    known: Callable[[Change], KnownOutcome] | None = None,
) -> Quality:
    """The scores of a contributor over these items. `known` tells of a change what the time since showed."""
    found: dict[str, list[Rated]] = {name: [] for name in QUALITIES}
    for item in items:
        members = _members(item, changes)
        facts = [commit.fact for commit in _commits(members)]
        total = _sum_signals(facts)
        if not is_rated(total):
            continue
        since = _since(item, [known(changes[name]) for name in item.changes if name in changes] if known else [])
        weight, leading = math.log2(2 + total.get("added", 0)), _leading(members)
        for name, rating in _ratings(_work(members, facts, total, history), since).items():
            found[name].append((weight, leading, rating))
    return Quality(*(_mean(found[name], *coefficients()["prior"][name]) for name in QUALITIES))


def with_live(plain: Quality, live: Quality) -> Quality:
    """The scores that any clone tells, each with what GitHub alone shows beside it, where that moves it."""
    return Quality(*(_beside(getattr(plain, name), getattr(live, name)) for name in QUALITIES))


def _beside(plain: Score, live: Score) -> Score:
    rows = tuple(row for row in live.evidence if row.signal in LIVE_SIGNALS)
    return plain if live.score is None or not rows else replace(plain, live=LiveScore(live.score, rows))


def changes_score(shown: KnownOutcome) -> bool:
    """Whether what GitHub showed of a change can move a score at all."""
    return shown.checks == "failed" or shown.approved is False


def _since(item: Item, known: Sequence[KnownOutcome]) -> KnownOutcome:
    """What became of an item, and of what is known of its members that which says most trouble."""
    reverted, relanded = item.state == "reverted", item.state == "relanded"
    if not known:
        return KnownOutcome(reverted=reverted, relanded=relanded)
    quiet = [one.quiet_days for one in known]
    checks = {one.checks for one in known}
    return KnownOutcome(
        checks="failed" if "failed" in checks else "passed" if checks == {"passed"} else "unknown",
        approved=False if any(one.approved is False for one in known) else None,
        fixed=sum(one.fixed for one in known),
        quiet_days=None if None in quiet else min(days for days in quiet if days is not None),
        reverted=reverted,
        relanded=relanded,
    )


def _mean(rated: Sequence[Rated], middle: float, spread: float) -> Score:
    """The weighted mean drawn to `middle` as if three items of mean weight had it; 80 % interval likewise."""
    if not rated:
        return Score()
    whole = sum(weight for weight, _, _ in rated)
    pull = _PSEUDO_ITEMS * whole / len(rated)
    values = [(weight, round(rating.score, 2)) for weight, _, rating in rated]
    mean = (sum(weight * value for weight, value in values) + pull * middle) / (whole + pull)
    squares = sum(weight * (value - mean) ** 2 for weight, value in values) + pull * spread**2
    deviation = math.sqrt(squares / (whole + pull) / (len(values) + _PSEUDO_ITEMS))
    half = _EIGHTY_PERCENT * deviation
    interval = (round(max(0.0, mean - half), 1), round(min(100.0, mean + half), 1))
    return Score(round(mean, 1), len(values), interval, _evidence(rated, whole + pull))


def _evidence(rated: Sequence[Rated], whole: float) -> tuple[ScoreEvidence, ...]:
    """What moved the mean most: each effect is the part of it that the item's weight lets through."""
    rows = [
        (-abs(effect), change, reason, effect)
        for weight, change, rating in rated
        for reason, points in rating.reasons
        if reason is not EVERY_CHANGE and (effect := round(round(points, 2) * weight / whole, 2))
    ]
    # Of thousands of reasons a hundred are told, so only those are worded whose effect is among the strongest.
    weakest = max(nsmallest(MOST_EVIDENCE, [row[0] for row in rows]), default=0.0)
    told = [(size, change, reason_text(reason), effect) for size, change, reason, effect in rows if size <= weakest]
    strongest = sorted(told, key=itemgetter(0, 1, 2))[:MOST_EVIDENCE]
    return tuple(ScoreEvidence(change, signal, effect) for _, change, signal, effect in strongest)
