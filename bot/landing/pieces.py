"""Which landed commits carry the same piece of work?"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from bot.landing.disjoint import Disjoint
from bot.landing.families import Families, at_today
from bot.landing.keys import is_strong, renamed
from bot.model import Fact, Repository

_SAME_PATCH = ("commit:", "copy:", "patch:")


class Pieces:
    """All facts, oldest first and each once, and the pieces of work that their identities make of them.

    A commit that several repositories hold has one home; only there do its keys count, because a number in its subject
    or a merge that brought it elsewhere speaks of another repository's pull requests. Facts are meant by their place
    in `facts`.
    """

    def __init__(self, facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> None:
        self.facts = distinct(facts, repositories)
        self.families = Families(self.facts, repositories)
        self.homes = self._find_homes()
        self._pieces: Disjoint[int] = Disjoint()
        self._patches: Disjoint[int] = Disjoint()
        self.by_key: dict[str, list[int]] = defaultdict(list)
        self._carried: dict[str, list[int]] = defaultdict(list)
        self._ids: dict[str, int] = {}
        for place, fact in enumerate(self.facts):
            self._enter(place, fact, repositories)
        self._sorted_ids = sorted(self._ids)

    def _find_homes(self) -> list[int]:
        holders: dict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(self.facts):
            holders[fact.commit].append(place)
        homes = list(range(len(self.facts)))
        for places in holders.values():
            if len(places) > 1:
                name = self.families.home(self.facts[place] for place in places)
                home = next(place for place in places if self.facts[place].repository == name)
                for place in places:
                    homes[place] = home
        return homes

    def _enter(self, place: int, fact: Fact, repositories: Mapping[str, Repository]) -> None:
        home = self.homes[place]
        self._carried[fact.carrier].append(home)
        if home != place:
            self._pieces.join(home, place)
            self._patches.join(home, place)
            return
        self._ids[fact.commit] = place
        for key in (f"commit:{fact.commit}", *fact.keys):
            key = renamed(key, repositories) if repositories else key
            there = self.by_key[key]
            if there and is_strong(key):
                self._pieces.join(there[0], place)
                if key.startswith(_SAME_PATCH):
                    self._patches.join(there[0], place)
            if not there or there[-1] != place:
                there.append(place)

    def piece(self, place: int) -> int:
        return self._pieces.find(place)

    def patch(self, place: int) -> int:
        """What is equal for landings of one and the same patch."""
        return self._patches.find(place)

    def join(self, one: int, other: int) -> None:
        self._pieces.join(one, other)

    def groups(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for place in range(len(self.facts)):
            found[self.piece(place)].append(place)
        return found

    def commits(self, name: str) -> Sequence[int]:
        """The commit of that id, full or abbreviated without doubt, else those that a merge of that id brought."""
        if name in self._ids:
            return (self._ids[name],)
        if name in self._carried:
            return self._carried[name]
        at = bisect_left(self._sorted_ids, name)
        near = [sha for sha in self._sorted_ids[at : at + 2] if sha.startswith(name)]
        return (self._ids[near[0]],) if len(near) == 1 else ()


def distinct(facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> list[Fact]:
    """Each fact once, oldest first; where the same commit was measured twice, the fuller account of it."""
    best: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        fact = at_today(fact, repositories)
        other = best.setdefault((fact.repository, fact.commit), fact)
        if other is not fact and other != fact:
            best[fact.repository, fact.commit] = max(fact, other, key=_fullness)
    return sorted(best.values(), key=lambda fact: (fact.landed_at, fact.authored_at, fact.commit, fact.repository))


def _fullness(fact: Fact) -> tuple[bool, bool, int, int, int, str]:
    known = fact.author.user_id is not None
    return fact.pull_request is not None, not fact.partial, len(fact.keys), known, -fact.landed_at, repr(fact)
