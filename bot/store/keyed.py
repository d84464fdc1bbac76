"""By which keys does a fact meet others: those that it offers, and those that it asks for?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self

from bot.landing.keys import asks, offers
from bot.model import Fact

OFFERS, ASKS = "offers", "asks"
SAID_TWICE = ("commit", "title:", "slice:")
"""how keys begin that a fact may offer without asking for them; of any other it offers, no row says that it asks"""


class Keyed(NamedTuple):
    """A fact, and the keys that it offers and asks for."""

    fact: Fact
    offered: tuple[str, ...]
    asked: tuple[str, ...]

    @classmethod
    def of(cls, fact: Fact) -> Self:
        return cls(fact, offers(fact), asks(fact))

    def rows(self, number: int) -> Iterator[tuple[str, str, int]]:
        """What stands in the ledger for these keys."""
        own = set(self.offered)
        yield from [(key, OFFERS, number) for key in self.offered]
        yield from [(key, ASKS, number) for key in self.asked if key not in own or key.startswith(SAID_TWICE)]


def keyed(facts: Mapping[int, Fact]) -> dict[int, Keyed]:
    return {number: Keyed.of(fact) for number, fact in facts.items()}


def apart(facts: Mapping[int, Keyed]) -> set[int]:
    """Those of these that have to do with no other of them: none asks for what another one offers."""
    offered = Counter(key for one in facts.values() for key in one.offered)
    asked = Counter(key for one in facts.values() for key in one.asked)
    return {number for number, one in facts.items() if _meets_itself_alone(one, offered, asked)}


def _meets_itself_alone(one: Keyed, offered: Mapping[str, int], asked: Mapping[str, int]) -> bool:
    own = set(one.offered).intersection(one.asked)
    return all(offered.get(key, 0) == (key in own) for key in one.asked) and all(
        asked.get(key, 0) == (key in own) for key in one.offered
    )
