"""How did one number of a profile come about? Its value, its definition, and every change it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import get_args

from msgspec import Struct

from bot.metrics.claimed import CLAIMED
from bot.metrics.credit_reason import explain_credit
from bot.metrics.item_reason import explain_item
from bot.metrics.kind_reason import explain_kind
from bot.metrics.metric import Definition, Metric
from bot.metrics.non_code_activity import CHANGE_FIELDS, GITHUB_FIELDS, combine_activity
from bot.metrics.quality_sentences import quality_sentences
from bot.metrics.registry import METHOD_VERSION, METRICS, definitions, metric_called
from bot.model.change import Item
from bot.model.ids import ChangeId, Grade
from bot.model.profile import Part, Profile, Score, Trace

_MOST_CHANGES = 5
"""changes named for a language"""


class NoSuchMetricError(Exception):
    """The name is none of those that can be explained; the text says which is near."""


class Explanation(Struct, frozen=True):
    """`rows` are (what it is about, how it entered the number), in the order in which they are shown."""

    name: str
    value: str
    metric: Definition
    rows: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """Plain lines."""
        head = [
            f"{self.name}: {self.value}",
            f"What it is: {self.metric.definition}",
            f"Formula: {self.metric.formula}",
            f"Version {self.metric.version} of {self.metric.key}, of definitions {METHOD_VERSION}",
            f"Evidence, {len(self.rows)} rows:" if self.rows else "Evidence: none",
        ]
        return "\n".join([*head, *(f"  {about}  {detail}" for about, detail in self.rows)])

    def as_object(self) -> dict[str, object]:
        """For programs."""
        return {
            "name": self.name,
            "value": self.value,
            "definition": self.metric.definition,
            "formula": self.metric.formula,
            "version": self.metric.version,
            "definitions": METHOD_VERSION,
            "evidence": [{"about": about, "detail": detail} for about, detail in self.rows],
        }


def names() -> tuple[str, ...]:
    """Everything that can be explained."""
    return tuple(dict.fromkeys((*(metric.key for metric in METRICS), *_SECTIONS)))


def check_name(name: str) -> str:
    """The name, where it can be explained. Raises NoSuchMetricError with the nearest one."""
    if name in names():
        return name
    near = get_close_matches(name.lower().replace("-", "_"), names(), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(names())}"
    raise NoSuchMetricError(f"no metric is called {name!r}; {hint}")


def explain(profile: Profile, name: str) -> Explanation:
    """Raises NoSuchMetricError."""
    metric = metric_called(check_name(name))
    if metric is not None:
        value = metric.figure(profile.overall.numbers.get(name))
        if metric is CLAIMED:
            return Explanation(name, value, metric, tuple(_credits(profile, {"claimed"})))
        return Explanation(name, value, metric, tuple(_by_month(profile, metric)))
    value, rows = _SECTIONS[name](profile, name)
    definition = next(one for one in definitions() if one.key == name)
    return Explanation(name, value, definition, rows)


_Rows = tuple[tuple[str, str], ...]


def _by_month(profile: Profile, metric: Metric) -> Iterator[tuple[str, str]]:
    """Each month in which it is not zero, and what it rests on there."""
    titles = {change.id: change.title for change in profile.changes}
    for month in profile.months:
        parts, value = month.parts.get(metric.key, ()), month.numbers.get(metric.key)
        if not parts and not value:
            continue
        yield month.month, metric.figure(value)
        items = {item.changes: item for item in month.items}
        for part in parts:
            yield "  " + ", ".join(part.changes), _said(part, metric, items, titles)


def _said(
    part: Part, metric: Metric, items: Mapping[tuple[ChangeId, ...], Item], titles: Mapping[ChangeId, str]
) -> str:
    """An item's title with what joins its changes, else those of the changes; the value where it is not simply one."""
    item = items.get(part.changes)
    title = item.title if item else ", ".join(titles.get(key, key) for key in part.changes)
    joined = f". {explain_item(item)}" if item and item.edges else ""
    return f"{title}{joined}" if part.value == 1 else f"{title}{joined}: {metric.figure(part.value)}"


def _score(profile: Profile, name: str) -> tuple[str, _Rows]:
    score: Score = getattr(profile.quality, name)
    rows = [(f"{row.change} by {row.by}" if row.by else row.change, row.signal) for row in score.evidence]
    return " ".join(quality_sentences(name, score)), tuple(rows)


def _ai(profile: Profile, _: str) -> tuple[str, _Rows]:
    usage = profile.ai_usage
    value = f"declared {usage.declared}, detected {usage.detected}, unknown {usage.unknown} commits"
    facts = [(change.id, commit.fact) for change in profile.changes for commit in change.counted]
    rows = [(name, f"level {mark.level} {mark.tool}: {mark.source}") for name, fact in facts for mark in fact.ai]
    return value, tuple(dict.fromkeys(rows))


def _items(profile: Profile, _: str) -> tuple[str, _Rows]:
    """Each item of each month: its changes, its title, what it counts as and what joins it."""
    overall = profile.overall.numbers
    counted = [metric_called(key) for key in ("features", "bugs", "other", "unclear")]
    value = ", ".join(metric.quantity(overall.get(metric.key)) for metric in counted if metric)
    items = [(month.month, item) for month in profile.months for item in month.items]
    return value, tuple(
        (f"{month} {', '.join(item.changes)}", f"{item.title}. {explain_item(item)}") for month, item in items
    )


def _languages(profile: Profile, _: str) -> tuple[str, _Rows]:
    """Each language with its lines and the changes that hold most of them."""
    found: dict[str, Counter[ChangeId]] = {one.name: Counter() for one in profile.languages}
    for change in profile.changes:
        for commit in change.counted if change.outcome else ():
            for name in commit.fact.languages.keys() & found.keys():
                found[name][change.id] += commit.fact.languages[name]
    rows = [
        (one.name, f"{one.lines:,} lines since {one.first_month}, most of them in {_most(found[one.name])}")
        for one in profile.languages
    ]
    return str(len(rows)), tuple(rows)


def _most(lines: Counter[ChangeId]) -> str:
    most = sorted(lines, key=lambda key: (-lines[key], key))[:_MOST_CHANGES]
    return ", ".join(most) or "no change of this page"


def _skills(profile: Profile, _: str) -> tuple[str, _Rows]:
    """Each skill with the changes that show it, the heaviest first."""
    total = len(profile.changes)
    rows = [
        (one.name, f"{len(one.evidence)} of {total} changes show it: {', '.join(one.evidence)}. Weight {one.weight}.")
        for one in profile.technical
    ]
    return str(len(rows)), tuple(rows)


def _credit(profile: Profile, _: str) -> tuple[str, _Rows]:
    counts = Counter(part.grade for part in profile.credits.values())
    value = ", ".join(f"{counts[grade]} {grade}" for grade in get_args(Grade))
    return value, tuple(_credits(profile, counts))


def _credits(profile: Profile, grades: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each change in which the person's part has one of these grades, with the evidence."""
    for change in profile.changes:
        part = profile.credits.get(change.id)
        if part is not None and part.grade in grades:
            yield change.id, explain_credit(change, part)


def _kinds(profile: Profile, _: str) -> tuple[str, _Rows]:
    certain = sum(change.certain for change in profile.changes)
    value = f"{certain} of {len(profile.changes)} changes are certain"
    return value, tuple((change.id, explain_kind(change)) for change in profile.changes)


def _non_code(profile: Profile, name: str) -> tuple[str, _Rows]:
    """Everything of one sort of non-code activity, by month."""
    months = sorted((*profile.months, *profile.non_code_months), key=lambda record: record.month)
    rows = [(record.month, one) for record in months for one in getattr(record.non_code, name)]
    every = getattr(combine_activity(record.non_code for record in months), name)
    value = "none seen, which does not mean none" if name in GITHUB_FIELDS and not every else str(len(every))
    return value, tuple((month, _trace_text(one)) for month, one in rows)


def _trace_text(one: Trace | ChangeId) -> str:
    if isinstance(one, Trace):
        return f"{one.repository}{'' if one.name.startswith('#') else ' '}{one.name}: {', '.join(one.did)}"
    return one


_SECTIONS: Mapping[str, Callable[[Profile, str], tuple[str, _Rows]]] = {
    "credit": _credit,
    "kind": _kinds,
    "correctness": _score,
    "maintainability": _score,
    "architecture": _score,
    "performance": _score,
    "ai_usage": _ai,
    "items": _items,
    "languages": _languages,
    "skills": _skills,
    **dict.fromkeys((*CHANGE_FIELDS, *GITHUB_FIELDS), _non_code),
}
