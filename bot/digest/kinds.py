"""How are a month's bug fixes and its other changes told?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from bot.digest.clauses import Clause
from bot.digest.facts import Told, placed
from bot.digest.joining import joined, shared_scope
from bot.digest.telling import Telling, evidence_of, parts_of, predicate, tally, tell
from bot.digest.words import counted, listed, number, phrases, say, sentence_case
from bot.model import Kind, Month, Sentence

MANY = 6
"""from so many changes on a second sentence names more of them"""
PLACED_SHARE = 5
"""the places are told where at least one in this many other changes went to one of them"""


def _variant(table: str, key: str, month: Month) -> str:
    """One of the variants, another one each month."""
    variants: Sequence[str] = phrases()[table][key]
    return variants[(int(month[:4]) * 12 + int(month[5:7])) % len(variants)]


def fix_sentence(items: Sequence[Told], month: Month) -> Sentence:
    """The month's bug fixes: what was wrong where a title says so, what the fix did where it says that."""
    return Sentence(
        sentence_case(_one_fix(items, month) if len(items) == 1 else _fixes(items, month)), evidence_of(items)
    )


def _one_fix(items: Sequence[Told], month: Month) -> str:
    telling, fixes = tell(items), tally(items, "fix")
    if not telling.clauses:
        return say("fixes", "only", fixes=fixes)
    clause = telling.clauses[0]
    if clause.base is None:
        return say("fixes", "one_title", fixes=fixes, titles=clause.text)
    if clause.base == "fix":
        return _variant("fixes", "one_object", month).format(fixes=fixes, object=clause.object)
    return say("fixes", "one_act", fixes=fixes, clauses=clause.text)


def _fixes(items: Sequence[Told], month: Month) -> str:
    telling = tell(items, 4)
    values = {"fixes": tally(items, "fix")}
    objects = [clause.object for clause in telling.clauses if clause.base == "fix"]
    acts = tuple(clause for clause in telling.clauses if clause.base not in ("fix", None))
    quoted = any(clause.base is None for clause in telling.clauses)
    if not telling.clauses:
        key = "only"
    elif acts and not objects and not quoted and telling.whole:
        return _acts(acts, values["fixes"])
    elif quoted or not objects:
        return _variant("fixes", _whole("acts", telling), month).format(parts=parts_of(telling), **values)
    elif acts:
        key = _whole("objects_and_acts", telling)
    else:
        key = "all_objects" if telling.whole else "some_objects"
    return _variant("fixes", key, month).format(objects=listed(objects), clauses=joined(acts, subject=True), **values)


def _whole(key: str, telling: Telling) -> str:
    """The template for a sentence that names everything: it does not say "including"."""
    return f"{key}_whole" if telling.whole else key


def _acts(acts: Sequence[Clause], fixes: str) -> str:
    """All of the fixes by what they did; a scope that they share stands once, before the verbs."""
    scope = shared_scope(acts)
    if not scope:
        return say("fixes", "all_acts", fixes=fixes, clauses=joined(acts, subject=True))
    bare = joined([replace(clause, scope="") for clause in acts])
    return say("fixes", "all_acts_in", fixes=fixes, scope=scope, clauses=bare)


def other_sentence(items: Sequence[Told], month: Month) -> Sentence:
    """Everything else: in full where it is little, else its number, its places and the weightiest of it."""
    places = {kind: count for kind, count in placed(items).items() if count > 1}
    if len(items) > 3 and PLACED_SHARE * sum(places.values()) >= len(items):
        text = _by_place(items, places, month)
    else:
        text = _others(items)
    return Sentence(sentence_case(text), evidence_of(items))


def more_sentence(items: Sequence[Told], month: Month) -> Sentence | None:
    """The next weightiest of many changes, after those that the first sentence of the month tells."""
    told = set(tell(items).proofs)
    rest = [item for item in items if not told.intersection(item.evidence)]
    telling = tell(rest)
    if len(items) < MANY or not telling.clauses:
        return None
    verbal = all(clause.base for clause in telling.clauses)
    template = _variant("others", "more" if verbal else "more_named", month)
    parts = "" if verbal else parts_of(telling)
    text = template.format(clauses=joined(telling.clauses, subject=True) if verbal else "", parts=parts)
    return Sentence(sentence_case(text), tuple(dict.fromkeys(telling.evidence)))


def _others(items: Sequence[Told]) -> str:
    telling = tell(items, 2)
    verbal = all(clause.base for clause in telling.clauses)
    counts = counted(len(items), "other")
    if not telling.clauses:
        return say("others", "only", others=counts)
    if telling.whole and verbal:
        return say("others", "one" if len(items) == 1 else "all", clauses=next(iter(predicate(telling, subject=True))))
    if telling.whole and len(items) == 1:
        return say("others", "one_title", titles=telling.clauses[0].text)
    return say("others", "whole" if telling.whole else "some", others=counts, parts=parts_of(telling))


def _by_place(items: Sequence[Told], places: Mapping[Kind, int], month: Month) -> str:
    """How many went to documentation, tests, CI and the build, where certain, and the weightiest of the rest."""
    names = phrases()["places"]
    others = counted(len(items), "other")
    for kind, count in places.items():
        if count == len(items):
            return say("others", "went_all", others=others, place=names[kind])
    told = [
        say("others", "placed" if at else "placed_first", count=number(count), place=names[kind])
        for at, (kind, count) in enumerate(sorted(places.items(), key=lambda row: (-row[1], row[0])))
    ]
    rest = tell([item for item in items if not placed([item])], 2)
    values = {"others": others, "placed": listed(told), "parts": parts_of(rest)}
    return _variant("others", "went_and" if rest.clauses else "went", month).format(**values)
