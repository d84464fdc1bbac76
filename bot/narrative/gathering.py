"""Which facts may a text about one repository's or one organisation's month state?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from bot.model.change import Change
from bot.model.ids import ChangeId, Month
from bot.narrative.facts import ItemFacts, MonthFacts
from bot.narrative.timeline import Evidence, Turn


class DigestFacts(Struct, frozen=True, dict=True):
    """One repository's or one organisation's month: the months of its contributors put together."""

    month: Month
    name: str
    """the repository's full name, or the organisation's login"""
    contributors: tuple[MonthFacts, ...]
    """by name, whoever has anything to tell; numbers rank nobody"""
    organisation: bool = False

    @cached_property
    def items(self) -> tuple[ItemFacts, ...]:
        """What stands, weightiest first; an item that two contributors share once."""
        found = {item.evidence: item for month in self.contributors for item in month.items}
        return tuple(sorted(found.values(), key=lambda item: (-item.weight, item.evidence)))

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Each revert and re-land once, though both its people tell it."""
        found = {(turn.course, turn.change.id): turn for month in self.contributors for turn in month.turns}
        reverted = {
            name for turn in found.values() if turn.course in ("reverted", "reverted_now") for name in turn.evidence
        }
        return tuple(turn for (course, name), turn in found.items() if course != "took_back" or name not in reverted)

    @cached_property
    def changes(self) -> Mapping[ChangeId, Change]:
        return {name: change for month in self.contributors for name, change in month.changes.items()}

    @cached_property
    def newcomers(self) -> Mapping[str, Evidence]:
        """People whose first commits in a repository of this digest landed this month, with those."""
        found = {}
        for month in self.contributors:
            ids = [name for repository in month.new_repositories.values() for name in repository]
            if ids and (month.previous is None or not self.organisation):
                found[month.person] = tuple(ids)
        return found

    @cached_property
    def repositories(self) -> tuple[str, ...]:
        """Where what stands landed, most items first."""
        counts = Counter(item.changes[0].repository for item in self.items)
        return tuple(sorted(counts, key=lambda name: (-counts[name], name)))

    def of_kind(self, kind: str) -> tuple[ItemFacts, ...]:
        """Items counted as features, as bug fixes or as neither, those that may be such among them."""
        return tuple(item for item in self.items if item.kind == kind)


def digest_facts(
    month: Month, name: str, contributors: Sequence[MonthFacts], *, organisation: bool = False
) -> DigestFacts:
    """`contributors` are the month's facts of each contributor, for a repository only with the changes of it."""
    active = [facts for facts in contributors if facts.items or facts.turns or facts.helped]
    return DigestFacts(month, name, tuple(_by_name(active)), organisation)


def _by_name(found: Iterable[MonthFacts]) -> list[MonthFacts]:
    return sorted(found, key=lambda facts: (facts.person.lower(), facts.person, tuple(facts.changes)))
