"""Under which name does work show its people?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from bot.landing.identity.credit import HELPED_OUTSIDER, change_credits, is_machine, person_key
from bot.model.change import Change
from bot.model.commit import Signature
from bot.model.fact import Fact
from bot.model.ids import Grade, PersonKey


class SignedName(NamedTuple):
    """The name that a person signs with in some work; `machine` if all of it is signed as one."""

    name: str
    machine: bool


def signed_names(changes: Iterable[Change], keys: Collection[PersonKey]) -> dict[PersonKey, SignedName]:
    """The name that each of these people uses most in this work: in what is proved, else in what is attributed.

    A claim names nobody, and neither does an outsider's pull request.
    """
    found: dict[PersonKey, dict[Grade, Counter[Signature]]] = defaultdict(lambda: defaultdict(Counter))
    for change in changes:
        for commit, parts in change_credits(change):
            signed = {person_key(sig): sig for sig in reversed(signatures_of(commit.fact))}
            for part in parts:
                if part.person in keys and part.grade != "claimed" and part.why != HELPED_OUTSIDER:
                    found[part.person][part.grade][signed[part.person]] += 1
    return {key: _signed_name(by_grade) for key, by_grade in found.items()}


def signatures_of(fact: Fact) -> tuple[Signature, ...]:
    """The author and the co-authors."""
    return (fact.author, *fact.co_authors)


def _signed_name(by_grade: dict[Grade, Counter[Signature]]) -> SignedName:
    counts = by_grade.get("proved") or by_grade["attributed"]
    names: Counter[str] = Counter()
    for sig, times in counts.items():
        names[sig.name.strip()] += times
    name = min((one for one in names if one), key=lambda one: (-names[one], one), default="")
    return SignedName(name, all(is_machine(sig) for found in by_grade.values() for sig in found))
