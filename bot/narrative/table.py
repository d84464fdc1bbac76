"""Which numbers, months, repositories and names may a text about these facts state, and with which changes?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch

from msgspec import Struct, field

from bot.model.change import Change
from bot.model.ids import ChangeId, Month
from bot.narrative.facts import ItemFacts, MonthFacts, ProfileFacts, certainty_counts, changes_in, upkeep_counts
from bot.narrative.gathering import DigestFacts
from bot.narrative.timeline import Evidence, Turn


class FactTable(Struct, frozen=True):
    """The named fields that a checker binds a text to."""

    changes: Mapping[ChangeId, Change]
    numbers: Mapping[str, frozenset[int]]
    """by the key of [nouns], or `place:docs`"""
    months: frozenset[Month]
    month: Month | None
    """the month that a text's prefix must name"""
    repositories: frozenset[str]
    names: frozenset[str]
    """people who may be named"""
    terms: Mapping[str, Evidence]
    """languages and skills, and organisations without evidence"""
    items: tuple[ItemFacts, ...] = ()
    turns: tuple[Turn, ...] = ()
    required_reverts: tuple[Turn, ...] = ()
    """turns that a whole text may not leave out"""
    counts: Mapping[str, int] = field(default_factory=dict)


def _upkeep_numbers(items: Iterable[ItemFacts]) -> dict[str, set[int]]:
    return {f"place:{kind}": {count} for kind, count in upkeep_counts(items).items()}


def _by_kind(items: Sequence[ItemFacts]) -> dict[str, set[int]]:
    """Items by what they are called, those that only may be such apart, and the changes that make them."""
    kinds = {"feature": "feature", "fix": "bug_fix"}
    found: dict[str, set[int]] = {"change": {changes_in(items)}}
    for noun, kind in kinds.items():
        sure, unsure = certainty_counts([item for item in items if item.kind == kind])
        found |= {noun: {sure}, f"maybe_{noun}": {unsure}}
    others = sum(item.kind == "other" for item in items)
    return found | {"bug": found["fix"], "other": {others}, "piece": {others, len(items)}}


def _numbers(rows: Mapping[str, set[int]]) -> dict[str, frozenset[int]]:
    return {noun: frozenset(values - {0}) for noun, values in rows.items()}


@singledispatch
def fact_table(facts: object) -> FactTable:
    """The table of one kind of facts."""
    raise TypeError(f"no fact table for {type(facts).__name__}")


@fact_table.register
def _of_month(facts: MonthFacts) -> FactTable:
    numbers: dict[str, set[int]] = defaultdict(set)
    numbers["commit"] |= {facts.commits, facts.co_authored, facts.previous[1] if facts.previous else 0}
    numbers |= _by_kind(facts.items)
    numbers["review"] |= {facts.reviews}
    numbers["repository"] |= {len(facts.repositories)}
    months = {facts.month} | {turn.month for turn in facts.turns if turn.month}
    return FactTable(
        changes=facts.changes,
        numbers=_numbers({**numbers, **_upkeep_numbers(facts.others)}),
        months=frozenset(months | ({facts.previous[0]} if facts.previous else set())),
        month=facts.month,
        repositories=frozenset(facts.repositories),
        names=frozenset({facts.person}),
        terms={**dict.fromkeys(facts.languages, ()), **facts.new_languages, **facts.new_skills},
        items=facts.items,
        turns=facts.turns,
        required_reverts=facts.turns,
    )


@fact_table.register
def _of_profile(facts: ProfileFacts) -> FactTable:
    items, overall = facts.items, facts.overall
    numbers = {
        "commit": {overall.commits, overall.co_authored},
        **_by_kind(items),
        "change": {changes_in(items), overall.outcomes},
        "month": {overall.active_months},
        "repository": {len(facts.repository_names), max(0, len(facts.repository_names) - 2)},
    }
    return FactTable(
        changes=facts.changes,
        numbers=_numbers(numbers),
        months=frozenset({facts.first_month, facts.last_month}),
        month=None,
        repositories=frozenset(facts.repository_names),
        names=frozenset({facts.person}),
        terms={**facts.languages, **facts.skills},
        items=items,
        turns=facts.turns,
    )


@fact_table.register
def _of_digest(facts: DigestFacts) -> FactTable:
    items = facts.items
    numbers = {
        **_by_kind(items),
        "contributor": {sum(bool(month.items) for month in facts.contributors), len(facts.newcomers)},
        "repository": {len(facts.repositories)},
    }
    return FactTable(
        changes=facts.changes,
        numbers=_numbers(numbers),
        months=frozenset({facts.month} | {turn.month for turn in facts.turns if turn.month}),
        month=facts.month,
        repositories=frozenset({facts.name, *facts.repositories}),
        names=frozenset(facts.newcomers),
        terms={},
        items=items,
        turns=facts.turns,
        required_reverts=facts.turns,
    )
