"""What score do the signals of one piece of work earn, and for which reasons?

Four formulas over a patch, its files' past and what is known since; each point lost or gained is a row. No signal of
trouble ever raises a score, and what is unknown leaves it as it is.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

from msgspec import Struct

from bot.configuration.package_files import read_text
from bot.metrics.hotspots import NO_PAST, Past

Reason = tuple[str, tuple[float, ...]]
"""what is told of a signal: a template and its numbers, as most are told nobody"""
Reasons = tuple[tuple[Reason, float], ...]
"""(reason, points): what each signal of trouble, or its absence, does to the score"""
EVERY_CHANGE: Reason = ("every change", ())

CHECKS_FAILED = "checks of its head failed"
NOT_APPROVED = "merged without an approval"
LIVE_SIGNALS = frozenset({CHECKS_FAILED, NOT_APPROVED})
"""what only GitHub tells: no clone has it"""

_LEAST = 0.005
"""points below which a reason is not told"""
_DAMPED = 10
"""lines at which half of the weight of a habit counts: a tiny patch shows none"""
_USUAL_DENSITY = 0.14
"""branch words a line of ordinary code has"""
_USUAL_FUNCTION = 30
"""lines of a function that is not long"""
_LONGEST_WAIT = 720
"""hours after which waiting for the landing spares no more fixes"""


class ScoredWork(Struct, frozen=True):
    """One piece of work as the formulas read it: summed signals, how much of it is a fix, and how it is spread."""

    signals: Mapping[str, int]
    entropy: float = 0.0
    """bits"""
    files: int = 0
    modules: int = 0
    fix: float = 0.0
    feature: float = 0.0
    """1 where its title states one, less where its words make it likely"""
    waited: float = 0.0
    """hours from the writing of its first part to the landing"""
    mixed: bool = False
    """features, fixes or refactoring in one"""
    past: Past = NO_PAST

    def __getitem__(self, name: str) -> int:
        return self.signals.get(name, 0)

    @property
    def damping(self) -> float:
        added = self.signals.get("added", 0)
        return added / (added + _DAMPED) if added else 0.0

    def share(self, name: str) -> float:
        """Of the added lines."""
        added = self.signals.get("added", 0)
        return self.signals.get(name, 0) / added if added else 0.0


class KnownOutcome(Struct, frozen=True):
    """What only GitHub or the time since tells; the defaults say that nothing is known."""

    checks: Literal["passed", "failed", "unknown"] = "unknown"
    approved: bool | None = None
    fixed: int = 0
    """fixes within 30 days that name this work"""
    quiet_days: int | None = None
    """days that its files have seen no fix since"""
    reverted: bool = False
    relanded: bool = False


NOTHING = KnownOutcome()


class Rating(Struct, frozen=True):
    """0-100 and the reasons, which sum to the distance from 100."""

    score: float
    reasons: Reasons = ()


@cache
def coefficients() -> dict[str, Any]:
    return tomllib.loads(read_text("bot.metrics", "quality.toml"))


_ONE_OF_MANY = re.compile(r"(?<![\d.])1 ((?:[a-z]+ ){0,2}?[a-z]+?)(?:(?<=x)es|(?<=ch)es|s)\b")


def reason_text(reason: Reason) -> str:
    """A reason as it is read: its templates speak of many, and one is one."""
    template, numbers = reason
    text = template.format(*numbers)
    return _ONE_OF_MANY.sub(r"1 \1", text) if "1 " in text else text


def is_rated(signals: Mapping[str, int]) -> bool:
    """Whether there are source lines in it."""
    return signals.get("added", 0) + signals.get("removed", 0) > 0


def risks(work: ScoredWork) -> dict[str, float]:
    """What the chance of a fix is estimated from, in the order it is told: trouble, but for `waited`."""
    past = work.past
    rewritten = min(work["removed"], work["added"])
    return {
        "size": math.log2(1 + work["added"] + rewritten / 2),
        "fix_share": math.log2((past.fixes + 0.5) / (max(past.visits, past.fixes) + 3)),
        "repository_fixes": math.log2(past.repository_fixes + 3),
        "lately": math.log2(1 + past.lately),
        "fix": work.fix,
        "feature": work.feature,
        "waited": math.log2(1 + min(work.waited, _LONGEST_WAIT)),
    }


def _chance(odds: float) -> float:
    return odds / (1 + odds)


@cache
def _without() -> tuple[dict[str, float], float]:
    """(risks, log odds of a fix) of work that nothing speaks against."""
    model, risk = coefficients()["correctness"], risks(ScoredWork({}))
    return risk, model["intercept"] + sum(model[name] * value for name, value in risk.items())


def correctness(work: ScoredWork, known: KnownOutcome = NOTHING) -> Rating:
    """100 (1 - p), where p is the chance that the work needs a fix within 30 days."""
    model = coefficients()["correctness"]
    without, logit = _without()
    chance = _chance(math.exp(logit))
    reasons = [(EVERY_CHANGE, -100 * chance)]
    for name, value in risks(work).items():
        if value != without[name]:
            logit += model[name] * (value - without[name])
            before, chance = chance, _chance(math.exp(logit))
            if abs(points := 100 * (before - chance)) >= _LEAST:
                reasons.append((_TOLD[name](work), points))
    for reason, then in _outcomes(model, known):
        before, chance = chance, then(chance)
        if abs(points := 100 * (before - chance)) >= _LEAST:
            reasons.append(((reason, ()), points))
    return Rating(100 * (1 - chance), tuple(reasons))


_TOLD: Mapping[str, Callable[[ScoredWork], Reason]] = {
    "size": lambda work: ("{} source lines added, {} removed", (work["added"], work["removed"])),
    "fix_share": lambda work: (
        "{:.3g} fixes of a file in a year, {} commits",
        (work.past.fixes, work.past.visits),
    ),
    "repository_fixes": lambda work: (
        "{:.3g} fixes in the repository's last 100 commits",
        (work.past.repository_fixes,),
    ),
    "lately": lambda work: ("{} commits on a file in the last 30 days", (work.past.lately,)),
    "fix": lambda work: ("itself a fix", ()),
    "feature": lambda work: ("a feature" if work.feature == 1 else "a feature by its words", ()),
    "waited": lambda work: ("{:.0f} hours from writing to landing", (work.waited,)),
}


def _outcomes(model: Mapping[str, Any], known: KnownOutcome) -> Iterator[tuple[str, Callable[[float], float]]]:
    odds, chances = model["odds"], model["chance"]

    def times(factor: float, most: float = 1.0) -> Callable[[float], float]:
        return lambda p: (
            max(p, min(most, _chance(factor * p / (1 - p)))) if factor > 1 else _chance(factor * p / (1 - p))
        )

    if known.checks == "failed":
        yield CHECKS_FAILED, times(odds["checks_failed"])
    if known.approved is False:
        yield NOT_APPROVED, times(odds["not_approved"])
    if known.fixed:
        yield "a fix within 30 days names it", times(odds["fixed"], chances["fixed_most"])
    elif known.quiet_days is not None and known.quiet_days >= 30 and not (known.reverted or known.relanded):
        days = 90 if known.quiet_days >= 90 else 30
        yield f"no fix of its files in {days} days", times(odds[f"quiet_{days}"])
    if known.reverted:
        yield "reverted", lambda p: max(p, chances["reverted"])
    elif known.relanded:
        yield "reverted and landed again", lambda p: max(p, chances["relanded"])


@cache
def _costs(name: str) -> tuple[float, Mapping[str, tuple[float, float, bool]]]:
    """(the top, signal -> (points lost where it is full, where it is full, whether tiny patches are spared))."""
    costs = dict(coefficients()[name])
    top = costs.pop("top")
    return top, {signal: (cost["points"], cost["full"], bool(cost.get("damped"))) for signal, cost in costs.items()}


Sign = tuple[float, str] | tuple[float, str, float] | tuple[float, str, float, float]
"""how much there is of a signal, and how that is told: a template and its numbers"""


def _rubric(name: str, work: ScoredWork, signs: Mapping[str, Sign]) -> Rating:
    """The top less the points of each signal times how full it is; habits are damped in tiny patches."""
    top, costs = _costs(name)
    damping = work.damping
    lost = [top - 100.0]
    reasons: list[tuple[Reason, float]] = [(EVERY_CHANGE, top - 100.0)] if top != 100 else []
    for signal, (value, told, *numbers) in signs.items():
        if value > 0:
            points, full, damped = costs[signal]
            effect = -points * (damping if damped else 1.0) * min(1.0, value / full)
            lost.append(effect)
            if abs(effect) >= _LEAST:
                reasons.append(((told, tuple(numbers)), effect))
    return Rating(min(100.0, max(0.0, 100.0 + sum(lost))), tuple(reasons))


def maintainability(work: ScoredWork) -> Rating:
    """How easily the added code is read and changed, by its shape."""
    count, share = work.signals.get, work.share
    a_function = work["added"] / work["functions"] if work["functions"] else 0.0
    branches = count("branches", 0)
    fewer = max(0, count("branches_removed", 0) - branches)
    signs: dict[str, Sign] = {
        "deep": (share("deep"), "{} deeply indented lines", count("deep", 0)),
        "branches": (share("branches") - _USUAL_DENSITY, "{} branches added", branches),
        "repeated": (share("repeated"), "{} repeated lines", count("repeated", 0)),
        "long_functions": (a_function - _USUAL_FUNCTION, "{:.0f} lines a new function", a_function),
        "wide": (share("wide"), "{} long lines", count("wide", 0)),
        "suppressions": (share("suppressions"), "{} warnings suppressed", count("suppressions", 0)),
        "todo": (share("todo"), "{} notes of work left", count("todo", 0)),
        "big_files": (count("big_files", 0), "{} big new files", count("big_files", 0)),
        "simpler": (fewer, "{} branches fewer", fewer),
    }
    return _rubric("maintainability", work, signs)


def architecture(work: ScoredWork) -> Rating:
    """How contained the work is: its spread, what it ties together, and how many others meet in its files."""
    count, traffic = work.signals.get, work.past.traffic
    imports, functions, added = count("imports", 0), count("functions", 0), count("added", 0)
    private, tests = count("private_imports", 0), count("test_imports", 0)
    signs: dict[str, Sign] = {
        "entropy": (work.entropy, "spread of {:.1f} bits over {} files", work.entropy, work.files),
        "modules": (work.modules - 1, "{} modules", work.modules),
        "files": (work.files - 3, "{} source files", work.files),
        "imports": (imports, "{} imports added", imports),
        "functions": (math.log2(1 + functions), "{} functions added", functions),
        "size": (added, "{} source lines added", added),
        "traffic": (math.log2(1 + traffic), "{} commits on its files in 30 days", traffic),
        "private_imports": (private, "{} private names imported", private),
        "test_imports": (tests, "{} imports of tests", tests),
        "mixed": (work.mixed, "several purposes in one"),
    }
    return _rubric("architecture", work, signs)


def performance(work: ScoredWork) -> Rating:
    """What in the added code is known to cost time: loops in loops, costly calls in loops, what must be loaded."""
    count = work.signals.get
    loops, nested, imports, deep = (count(name, 0) for name in ("loops", "nested_loops", "imports", "deep"))
    calls, quadratic, blocking = (count(name, 0) for name in ("loop_calls", "loop_quadratic", "async_blocking"))
    signs: dict[str, Sign] = {
        "nested_loops": (nested, "{} nested loops", nested),
        "loops": (loops, "{} loops", loops),
        "any_loop": (loops, "a loop"),
        "deep_loops": (work.share("deep") if loops else 0.0, "{} deeply indented lines beside loops", deep),
        "imports": (math.log2(1 + imports), "{} imports added", imports),
        "loop_calls": (calls, "{} costly calls in loops", calls),
        "loop_quadratic": (quadratic, "{} quadratic idioms in loops", quadratic),
        "async_blocking": (blocking, "{} blocking calls in asynchronous code", blocking),
    }
    return _rubric("performance", work, signs)


FORMULAS: Mapping[str, Callable[[ScoredWork], Rating]] = {
    "maintainability": maintainability,
    "architecture": architecture,
    "performance": performance,
}
"""the scores of the patch and its files alone; correctness also takes what is known since"""
