"""Which keys connect a fact with others: which keys does it offer, and which does it ask for?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

from bot.landing.changelogs.evidence import evidence_keys
from bot.landing.same_work.keys import offered_keys, sought_keys
from bot.model.fact import Fact

OFFERS, ASKS, EVIDENCE = "offers", "asks", "evidence"
DUPLICATE = ("commit", "title:", "slice:")
"""prefixes of keys that a fact may offer without asking for them; for other offered keys no row says that it asks"""


class KeyedFact(NamedTuple):
    """A fact with the keys that it offers and asks for."""

    fact: Fact
    offered: tuple[str, ...]
    asked: tuple[str, ...]

    @classmethod
    def of(cls, fact: Fact) -> Self:
        return cls(fact, offered_keys(fact), sought_keys(fact))

    def rows(self, number: int) -> list[tuple[str, str, int]]:
        """The ledger's rows for these keys."""
        offered = self.offered
        rows = [(key, OFFERS, number) for key in offered]
        rows += [(key, ASKS, number) for key in self.asked if key not in offered or key.startswith(DUPLICATE)]
        return rows + [(key, EVIDENCE, number) for key in evidence_keys(self.fact)]


def with_keys(facts: Mapping[int, Fact]) -> dict[int, KeyedFact]:
    return {number: KeyedFact.of(fact) for number, fact in facts.items()}


def unconnected_facts(facts: Mapping[int, KeyedFact]) -> set[int]:
    """The facts that are unrelated to the others: none asks for a key that another offers."""
    if len(facts) == 1:
        return set(facts)
    offering: dict[str, int] = {}
    said_again: dict[str, set[int]] = {}
    for number, one in facts.items():
        for key in one.offered:
            if offering.setdefault(key, number) != number:
                said_again.setdefault(key, {offering[key]}).add(number)
    met: set[int] = set()
    for number, one in facts.items():
        for key in offering.keys() & one.asked:
            others = said_again.get(key) or {offering[key]}
            if others != {number}:
                met |= {number, *others}
    return facts.keys() - met
