"""By which keys does a fact meet others: those that it offers, and those that it asks for?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

from bot.landing.same_work.keys import offered_keys, sought_keys
from bot.model.fact import Fact

OFFERS, ASKS = "offers", "asks"
DUPLICATE = ("commit", "title:", "slice:")
"""how keys begin that a fact may offer without asking for them; of any other it offers, no row says that it asks"""


class KeyedFact(NamedTuple):
    """A fact, and the keys that it offers and asks for."""

    fact: Fact
    offered: tuple[str, ...]
    asked: tuple[str, ...]

    @classmethod
    def of(cls, fact: Fact) -> Self:
        return cls(fact, offered_keys(fact), sought_keys(fact))

    def rows(self, number: int) -> list[tuple[str, str, int]]:
        """What stands in the ledger for these keys."""
        offered = self.offered
        rows = [(key, OFFERS, number) for key in offered]
        return rows + [(key, ASKS, number) for key in self.asked if key not in offered or key.startswith(DUPLICATE)]


def with_keys(facts: Mapping[int, Fact]) -> dict[int, KeyedFact]:
    return {number: KeyedFact.of(fact) for number, fact in facts.items()}


def unconnected(facts: Mapping[int, KeyedFact]) -> set[int]:
    """Those of these that have to do with no other of them: none asks for what another one offers."""
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
