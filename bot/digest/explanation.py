"""How did one number of a profile come about? Its value, its definition, and every change it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches

from bot.frozen import frozen
from bot.metrics.beside_code import CHANGES_BESIDE, SEEN, together
from bot.metrics.registry import BY_NAME, METHOD_VERSION, Metric
from bot.model import Change, ChangeId, ItemKind, MonthRecord, Profile, Trace

NUMBERS: Mapping[str, str] = {
    "commits": "Commits that reached the default branch, merges left out, each counted once across forks.",
    "features": "Items whose kind is feature and that were not reverted; changes of one month that belong together "
    "are one item.",
    "bugs": "Items whose kind is bug fix and that were not reverted; changes of one month that belong together are "
    "one item.",
    "other": "Items that are neither feature nor bug fix and that were not reverted.",
    "outcomes": "Changes that landed and stand: no reverts, nothing that was reverted.",
    "lines": "Lines of code changed: additions and deletions in authored code, tests, documentation and "
    "configuration; generated, vendored, moved and reverted lines are left out.",
    "months": "Calendar months with a commit of one's own.",
}
"""how each number that `why` and `explain` tell of is made"""
_METRIC_OF = {"features": "items", "bugs": "items", "other": "items", "months": "commits"}
_ITEM_KINDS: Mapping[str, ItemKind] = {"features": "feature", "bugs": "bug_fix", "other": "other"}


class NoSuchMetricError(Exception):
    """The name is none of those that can be explained; the text says which is near."""


@frozen
class Explanation:
    """`rows` are (what it is about, how it entered the number), in the order in which they are told."""

    name: str
    value: str
    metric: Metric
    definition: str
    rows: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """Plain lines."""
        head = [
            f"{self.name}: {self.value}",
            f"What it is: {self.definition}",
            f"Formula: {self.metric.formula}",
            f"Version {self.metric.version} of {self.metric.name}, of definitions {METHOD_VERSION}",
            f"Evidence, {len(self.rows)} rows:" if self.rows else "Evidence: none",
        ]
        return "\n".join([*head, *(f"  {about}  {said}" for about, said in self.rows)])


def names() -> tuple[str, ...]:
    """Everything that can be explained."""
    return tuple(dict.fromkeys((*NUMBERS, *_TOLD)))


def check_name(name: str) -> str:
    """The name, where it can be explained. Raises NoSuchMetricError with the nearest one."""
    if name in names():
        return name
    near = get_close_matches(name.lower().replace("-", "_"), names(), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(names())}"
    raise NoSuchMetricError(f"no metric is called {name!r}; {hint}")


def count_of(record: MonthRecord, name: str, changes: Mapping[ChangeId, Change]) -> int:
    """One of `NUMBERS` for one month."""
    if name == "lines":
        return record.lines.code
    if name == "months":
        return int(record.commits > 0)
    if name == "outcomes":
        return sum(1 for item in record.items for key in item.changes if changes[key].outcome)
    return int(getattr(record, name))


def explain(profile: Profile, name: str) -> Explanation:
    """Raises NoSuchMetricError."""
    told = _TOLD.get(check_name(name))
    metric = BY_NAME[_METRIC_OF.get(name, name)]
    if told is not None:
        value, rows = told(profile, name)
        return Explanation(name, value, metric, metric.definition, rows)
    return Explanation(name, _whole(profile, name), metric, NUMBERS[name], tuple(_by_month(profile, name)))


_Rows = tuple[tuple[str, str], ...]


def _whole(profile: Profile, name: str) -> str:
    overall = profile.overall
    special = {"lines": overall.lines_of_code, "months": overall.active_months}
    return str(special[name] if name in special else getattr(overall, name))


def _by_month(profile: Profile, name: str) -> Iterator[tuple[str, str]]:
    changes = {change.id: change for change in profile.changes}
    for month in profile.months:
        number = count_of(month, name, changes)
        if not number:
            continue
        yield month.month, str(number)
        kind = _ITEM_KINDS.get(name)
        if name == "months":
            continue
        for item in month.items:
            if kind is None or (item.kind == kind and item.state != "reverted"):
                joined = "".join(f"; {one} with {other}: {rule}" for one, other, rule in item.edges)
                yield "  " + ", ".join(item.changes), f"{item.title}{joined}"


_REST = "what every change loses, the pull of three items of the usual score, and smaller effects; from 100"


def _score(profile: Profile, name: str) -> tuple[str, _Rows]:
    score = getattr(profile.quality, name)
    if score.score is None:
        return "not rated: no source lines", ()
    between = f", 80 % interval {score.interval[0]} to {score.interval[1]}" if score.interval else ""
    provisional = ", provisional" if score.rated < 3 else ""
    value = f"{score.score} over {score.rated} items{between}{provisional}"
    rows = [(row.change, f"{row.effect:+.2f} {row.signal}") for row in score.evidence]
    rest = score.score - 100 - sum(row.effect for row in score.evidence)
    rows.append(("the rest", f"{rest:+.2f} {_REST}"))
    if score.live is not None:
        value += f"; {score.live.score} with what GitHub shows of checks and reviews"
        rows += [(row.change, f"{row.effect:+.2f} {row.signal} (only GitHub shows it)") for row in score.live.evidence]
    return value, tuple(rows)


def _ai(profile: Profile, _: str) -> tuple[str, _Rows]:
    usage = profile.ai_usage
    value = f"declared {usage.declared}, detected {usage.detected}, unknown {usage.unknown} commits"
    facts = [(change.id, commit.fact) for change in profile.changes for commit in change.counted]
    rows = [(name, f"level {mark.level} {mark.tool}: {mark.source}") for name, fact in facts for mark in fact.ai]
    return value, tuple(dict.fromkeys(rows))


def _languages(profile: Profile, _: str) -> tuple[str, _Rows]:
    rows = tuple((one.name, f"{one.lines} lines since {one.first_month}") for one in profile.languages)
    return str(len(rows)), rows


def _skills(profile: Profile, _: str) -> tuple[str, _Rows]:
    rows = tuple((one.name, f"weight {one.weight}: {', '.join(one.evidence)}") for one in profile.technical)
    return str(len(rows)), rows


def _kinds(profile: Profile, _: str) -> tuple[str, _Rows]:
    rows = tuple(
        (change.id, f"{change.kind}{'' if change.certain else ', uncertain'}: {change.why}")
        for change in profile.changes
    )
    return f"{len({kind for _, kind in rows})} reasons over {len(rows)} changes", rows


def _beside(profile: Profile, name: str) -> tuple[str, _Rows]:
    """Everything of one sort of work beside code, by month."""
    months = sorted((*profile.months, *profile.beside_months), key=lambda record: record.month)
    rows = [(record.month, one) for record in months for one in getattr(record.beside, name)]
    every = getattr(together(record.beside for record in months), name)
    value = "none seen, which does not mean none" if name in SEEN and not every else str(len(every))
    return value, tuple((month, _place(one)) for month, one in rows)


def _place(one: Trace | ChangeId) -> str:
    if isinstance(one, Trace):
        return f"{one.repository}{'' if one.name.startswith('#') else ' '}{one.name}: {', '.join(one.did)}"
    return one


_TOLD: Mapping[str, Callable[[Profile, str], tuple[str, _Rows]]] = {
    "kind": _kinds,
    "correctness": _score,
    "maintainability": _score,
    "architecture": _score,
    "performance": _score,
    "ai_usage": _ai,
    "languages": _languages,
    "skills": _skills,
    **dict.fromkeys((*CHANGES_BESIDE, *SEEN), _beside),
}
