"""How are a month's bug fixes and its other changes told?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from bot.model.ids import Kind, Month
from bot.model.profile import Sentence
from bot.narrative.clauses import Clause
from bot.narrative.facts import ItemFacts, upkeep_counts
from bot.narrative.item_clauses import ChosenClauses, choose_clauses, evidence_of, parts_of, predicate, tally
from bot.narrative.joining import join_clauses, shared_scope
from bot.narrative.words import fill_phrase, join_list, number, phrases, quantity, sentence_case

MANY = 6
"""from so many changes on a second sentence names more of them"""
PLACED_SHARE = 5
"""the places are told where at least one in this many other changes went to one of them"""


def _variant(table: str, key: str, month: Month) -> str:
    """One of the variants, another one each month."""
    variants: Sequence[str] = phrases()[table][key]
    return variants[(int(month[:4]) * 12 + int(month[5:7])) % len(variants)]


def fix_sentence(items: Sequence[ItemFacts], month: Month) -> Sentence:
    """The month's bug fixes: what was wrong where a title says so, what the fix did where it says that."""
    return Sentence(
        sentence_case(_one_fix(items, month) if len(items) == 1 else _fixes(items, month)), evidence_of(items)
    )


def _one_fix(items: Sequence[ItemFacts], month: Month) -> str:
    telling, fixes = choose_clauses(items), tally(items, "fix")
    if not telling.clauses:
        return fill_phrase("fixes", "only", fixes=fixes)
    clause = telling.clauses[0]
    if clause.base is None:
        return fill_phrase("fixes", "one_title", fixes=fixes, titles=clause.text)
    if clause.base == "fix":
        return _variant("fixes", "one_object", month).format(fixes=fixes, object=clause.object)
    return fill_phrase("fixes", "one_act", fixes=fixes, clauses=clause.text)


def _fixes(items: Sequence[ItemFacts], month: Month) -> str:
    telling = choose_clauses(items, 4)
    values = {"fixes": tally(items, "fix")}
    objects = [clause.object for clause in telling.clauses if clause.base == "fix"]
    acts = tuple(clause for clause in telling.clauses if clause.base not in ("fix", None))
    quoted = any(clause.base is None for clause in telling.clauses)
    if not telling.clauses:
        key = "only"
    elif acts and not objects and not quoted and telling.complete:
        return _acts(acts, values["fixes"])
    elif quoted or not objects:
        return _variant("fixes", _whole("acts", telling), month).format(parts=parts_of(telling), **values)
    elif acts:
        key = _whole("objects_and_acts", telling)
    else:
        key = "all_objects" if telling.complete else "some_objects"
    return _variant("fixes", key, month).format(
        objects=join_list(objects), clauses=join_clauses(acts, subject=True), **values
    )


def _whole(key: str, telling: ChosenClauses) -> str:
    """The template for a sentence that names everything: it does not say "including"."""
    return f"{key}_whole" if telling.complete else key


def _acts(acts: Sequence[Clause], fixes: str) -> str:
    """All of the fixes by what they did; a scope that they share stands once, before the verbs."""
    scope = shared_scope(acts)
    if not scope:
        return fill_phrase("fixes", "all_acts", fixes=fixes, clauses=join_clauses(acts, subject=True))
    bare = join_clauses([replace(clause, scope="") for clause in acts])
    return fill_phrase("fixes", "all_acts_in", fixes=fixes, scope=scope, clauses=bare)


def other_sentence(items: Sequence[ItemFacts], month: Month) -> Sentence:
    """Everything else: in full where it is little, else its number, its places and the weightiest of it."""
    places = {kind: count for kind, count in upkeep_counts(items).items() if count > 1}
    if len(items) > 3 and PLACED_SHARE * sum(places.values()) >= len(items):
        text = _by_place(items, places, month)
    else:
        text = _others(items)
    return Sentence(sentence_case(text), evidence_of(items))


def more_sentence(items: Sequence[ItemFacts], month: Month) -> Sentence | None:
    """The next weightiest of many changes, after those that the first sentence of the month tells."""
    told = set(choose_clauses(items).proofs)
    rest = [item for item in items if not told.intersection(item.evidence)]
    telling = choose_clauses(rest)
    if len(items) < MANY or not telling.clauses:
        return None
    verbal = all(clause.base for clause in telling.clauses)
    template = _variant("others", "more" if verbal else "more_named", month)
    parts = "" if verbal else parts_of(telling)
    text = template.format(clauses=join_clauses(telling.clauses, subject=True) if verbal else "", parts=parts)
    return Sentence(sentence_case(text), tuple(dict.fromkeys(telling.evidence)))


def _others(items: Sequence[ItemFacts]) -> str:
    telling = choose_clauses(items, 2)
    verbal = all(clause.base for clause in telling.clauses)
    counts = quantity(len(items), "other")
    if not telling.clauses:
        return fill_phrase("others", "only", others=counts)
    if telling.complete and verbal:
        return fill_phrase(
            "others", "one" if len(items) == 1 else "all", clauses=next(iter(predicate(telling, subject=True)))
        )
    if telling.complete and len(items) == 1:
        return fill_phrase("others", "one_title", titles=telling.clauses[0].text)
    return fill_phrase("others", "whole" if telling.complete else "some", others=counts, parts=parts_of(telling))


def _by_place(items: Sequence[ItemFacts], places: Mapping[Kind, int], month: Month) -> str:
    """How many went to documentation, tests, CI and the build, where certain, and the weightiest of the rest."""
    names = phrases()["places"]
    others = quantity(len(items), "other")
    for kind, count in places.items():
        if count == len(items):
            return fill_phrase("others", "went_all", others=others, place=names[kind])
    told = [
        fill_phrase("others", "placed" if at else "placed_first", count=number(count), place=names[kind])
        for at, (kind, count) in enumerate(sorted(places.items(), key=lambda row: (-row[1], row[0])))
    ]
    rest = choose_clauses([item for item in items if not upkeep_counts([item])], 2)
    values = {"others": others, "placed": join_list(told), "parts": parts_of(rest)}
    return _variant("others", "went_and" if rest.clauses else "went", month).format(**values)
