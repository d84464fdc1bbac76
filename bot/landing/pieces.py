"""Which landed commits belong to the same work group?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter

from bot.landing.disjoint import Disjoint
from bot.landing.families import Families, at_today, held_twice
from bot.landing.keys import PART, WEAK, Renaming
from bot.model import Fact, Repository

_SAME_PATCH = ("commit:", "copy:", "patch:")


class Pieces:
    """All facts, oldest first and each once, and the work groups that their identities form.

    A commit that several repositories contain has one home, and its keys count only there: a number in its subject, or
    a merge that brought it elsewhere, refers to another repository's pull requests. Facts are identified by their index
    in `facts`. Most are the only one of their work group: only the others are stored here.
    """

    def __init__(self, facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> None:
        self.facts = distinct(facts, repositories)
        self.families = Families(self.facts, repositories)
        self._today = Renaming(repositories)
        self._pieces: Disjoint[int] = Disjoint()
        self._patches: Disjoint[int] = Disjoint()
        self._homes: dict[int, int] = {}
        self._find_homes()
        self.undoing = [place for place, fact in enumerate(self.facts) if fact.reverts or fact.relands]
        """those that state a revert or a re-land"""
        self._meant: dict[str, list[int]] = {key: [] for place in self.undoing for key in self._named(place)}
        self._join_equals()

    def _find_homes(self) -> None:
        facts = self.facts
        for places in held_twice(facts):
            name = self.families.home(facts[place] for place in places)
            home = next(place for place in places if facts[place].repository == name)
            for place in places:
                if place != home:
                    self._homes[place] = home
                    self._pieces.join(home, place)
                    self._patches.join(home, place)

    def _named(self, place: int) -> Iterator[str]:
        """The keys that a commit reverts or relands, except commit ids, which `commits` looks up."""
        fact = self.facts[place]
        for key in (*fact.reverts, *fact.relands):
            plain = key.removeprefix(PART)
            if not plain.startswith("commit:"):
                yield self._today.key(plain)

    def _join_equals(self) -> None:
        """Join the facts that share a strong key, and find the facts with a key that a revert or re-land names.

        Nearly all keys belong to one fact only, so keys are counted first and facts with no other key are skipped.
        """
        keys = {place: self._keys(fact) for place, fact in enumerate(self.facts) if place not in self._homes}
        counts = Counter(chain.from_iterable(keys.values()))
        shared = {key for key, count in counts.items() if count > 1 and not key.startswith(WEAK)}
        told, first = shared.union(self._meant), dict[str, int]()
        for place, own in keys.items():
            for key in () if told.isdisjoint(own) else dict.fromkeys(own):
                if key in self._meant:
                    self._meant[key].append(place)
                if key in shared and (other := first.setdefault(key, place)) != place:
                    self._pieces.join(other, place)
                    if key.startswith(_SAME_PATCH):
                        self._patches.join(other, place)

    def _keys(self, fact: Fact) -> Sequence[str]:
        """The identities of a landed commit, including its own id, under the current names of repositories."""
        own, keys = f"commit:{fact.commit}", self._today.keys(fact.keys)
        return keys if own in keys else (own, *keys)

    def home(self, place: int) -> int:
        """The index of the same commit in its home repository: nearly always the same index."""
        return self._homes.get(place, place)

    def is_home(self, place: int) -> bool:
        return place not in self._homes

    def meant(self, key: str) -> Sequence[int]:
        """The facts with this key, oldest first, if a revert or re-land names it."""
        return self._meant.get(self._today.key(key), ())

    def piece(self, place: int) -> int:
        return self._pieces.find(place)

    def patch(self, place: int) -> int:
        """A number that is equal for landings of the same patch."""
        return self._patches.find(place)

    def join(self, one: int, other: int) -> None:
        self._pieces.join(one, other)

    def groups(self) -> dict[int, list[int]]:
        """The work groups of more than one fact, each with its facts, oldest first."""
        return self._pieces.groups()

    def commits(self, name: str) -> Sequence[int]:
        """The commit with that id, full or unambiguously abbreviated, else those that the merge of that id brought."""
        if name in self._ids:
            return (self._ids[name],)
        if name in self._carried:
            return self._carried[name]
        at = bisect_left(self._sorted_ids, name)
        near = [sha for sha in self._sorted_ids[at : at + 2] if sha.startswith(name)]
        return (self._ids[near[0]],) if len(near) == 1 else ()

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {fact.commit: place for place, fact in enumerate(self.facts) if self.is_home(place)}

    @cached_property
    def _sorted_ids(self) -> list[str]:
        return sorted(self._ids)

    @cached_property
    def _carried(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, fact in enumerate(self.facts):
            found.setdefault(fact.carrier, []).append(self.home(place))
        return found


def distinct(facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> list[Fact]:
    """Each fact once, oldest first; if the same commit was measured twice, the more complete fact."""
    found = at_today(facts, repositories)
    best = {(fact.repository, fact.commit): fact for fact in found}
    if len(best) < len(found):
        for fact in found:
            other = best[fact.repository, fact.commit]
            if other is not fact and other != fact:
                best[fact.repository, fact.commit] = max(fact, other, key=_fullness)
    return sorted(best.values(), key=attrgetter("landed_at", "authored_at", "commit", "repository"))


def _fullness(fact: Fact) -> tuple[bool, bool, int, int, int, str]:
    known = fact.author.user_id is not None
    return fact.pull_request is not None, not fact.partial, len(fact.keys), known, -fact.landed_at, repr(fact)
