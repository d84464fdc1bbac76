"""Which landed commits belong to the same work group?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter

from bot.landing.reverts.by_lines import InverseLines
from bot.landing.same_work.copies import SAME_PATCH, Copies, may_be_ported
from bot.landing.same_work.disjoint import Disjoint
from bot.landing.same_work.fork_networks import ForkNetworks, shared_commits, with_current_names
from bot.landing.same_work.keys import PART, PORT, WEAK, Renaming
from bot.landing.same_work.outside_claims import believed_targets, false_claims, repeats
from bot.model.commit import Repository
from bot.model.fact import Fact


class WorkGroups:
    """All facts, oldest first and each once, and the work groups that their identities form.

    A commit that several repositories contain has one home, and its keys count only there: a number in its subject, or
    a merge that brought it elsewhere, refers to another repository's pull requests. Facts are identified by their index
    in `facts`. Most are the only one of their work group: only the others are stored here.
    """

    def __init__(self, facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> None:
        self.facts = distinct_facts(facts, repositories)
        self.networks = ForkNetworks(self.facts, repositories)
        self._renaming = Renaming(repositories)
        self._work_groups: Disjoint[int] = Disjoint()
        self._patches: Disjoint[int] = Disjoint()
        self._homes: dict[int, int] = {}
        self._find_homes()
        self.sources = [index for index, fact in enumerate(self.facts) if fact.reverts or fact.relands]
        """those that state a revert or a re-land"""
        self.inverse_lines = InverseLines(self.facts, (i for i in range(len(self.facts)) if i not in self._homes))
        self._facts_by_key: dict[str, list[int]] = {
            key: [] for index in self.sources for key in self._target_keys(index)
        }
        keys = {index: self._keys(fact) for index, fact in enumerate(self.facts) if index not in self._homes}
        self.inverse_lines.find_makers(keys)
        self.copies = self._join_equals(keys)

    def _find_homes(self) -> None:
        facts = self.facts
        for indexes in shared_commits(facts):
            name = self.networks.home(facts[index] for index in indexes)
            home = next(index for index in indexes if facts[index].repository == name)
            for index in indexes:
                if index != home:
                    self._homes[index] = home
                    self._work_groups.join(home, index)
                    self._patches.join(home, index)

    def _target_keys(self, index: int) -> Iterator[str]:
        """The keys that a commit reverts or relands, except commit ids, which `commits` looks up."""
        fact = self.facts[index]
        for key in (*fact.reverts, *fact.relands):
            plain = key.removeprefix(PART)
            if not plain.startswith("commit:"):
                yield self._renaming.key(plain)

    def _join_equals(self, keys: Mapping[int, Sequence[str]]) -> Copies:
        """Join the facts that share a strong key, and find the facts with a key that a revert or re-land names.

        Nearly all keys belong to one fact only, so keys are counted first and facts with no other key are skipped. The
        pull request that brought a copy does not join the copy's work with its own (`copies.py`).
        """
        counts = Counter(chain.from_iterable(keys.values()))
        shared = {key for key, count in counts.items() if count > 1 and not key.startswith(WEAK)}
        holders: dict[str, list[int]] = defaultdict(list)
        for index, own in keys.items():
            for key in () if shared.isdisjoint(own) else dict.fromkeys(own):
                if key in shared:
                    holders[key].append(index)
        denied = false_claims(self.facts, holders)
        for index, key in denied:
            holders[key].remove(index)
        for key, indexes in holders.items():
            if key.startswith(SAME_PATCH):
                for other in indexes[1:]:
                    self._patches.join(indexes[0], other)
        copies = Copies(self.facts, self._patches, holders, self._ported(keys), self.networks)
        copies.join(self._work_groups)
        watched = self._facts_by_key
        for index, own in keys.items() if watched else ():
            for key in () if watched.keys().isdisjoint(own) else dict.fromkeys(own):
                if key in watched and (index, key) not in denied and not copies.is_spread(index, key):
                    watched[key].append(index)
        return copies

    def _ported(self, keys: Mapping[int, Sequence[str]]) -> dict[int, list[int]]:
        """The commit that each backport names without proof: by its title, or by an abbreviated id."""
        asked = {
            index: [key.removeprefix(PORT) for key in own if key.startswith(PORT)]
            for index, own in keys.items()
            if any(key.startswith(PORT) for key in own)
        }
        titles = {key for wanted in asked.values() for key in wanted if key.startswith("title:")}
        titled: dict[str, list[int]] = defaultdict(list)
        for index, own in keys.items() if titles else ():
            for key in titles.intersection(own):
                titled[key].append(index)
        found: dict[int, list[int]] = {}
        for index, wanted in asked.items():
            port = self.facts[index]
            by_title = [one for key in wanted for one in titled[key] if may_be_ported(self.facts[one], port)]
            by_id = [one for key in wanted if "commit:" in key[:7] for one in self.commits(key.removeprefix("commit:"))]
            named = [one for one in (*by_id, *by_title) if one not in asked]
            found[index] = believed_targets(port, named, self.facts, repeats)
        return found

    def _keys(self, fact: Fact) -> Sequence[str]:
        """The identities of a landed commit, including its own id, under the current names of repositories."""
        own, keys = f"commit:{fact.commit}", self._renaming.keys(fact.keys)
        return keys if own in keys else (own, *keys)

    def home(self, index: int) -> int:
        """The index of the same commit in its home repository: nearly always the same index."""
        return self._homes.get(index, index)

    def is_home(self, index: int) -> bool:
        return index not in self._homes

    def facts_with_key(self, key: str) -> Sequence[int]:
        """The facts with this key, oldest first, if a revert or re-land names it."""
        return self._facts_by_key.get(self._renaming.key(key), ())

    def group_root(self, index: int) -> int:
        return self._work_groups.find(index)

    def patch(self, index: int) -> int:
        """A number that is equal for landings of the same patch."""
        return self._patches.find(index)

    def join(self, one: int, other: int) -> None:
        self._work_groups.join(one, other)

    def groups(self) -> dict[int, list[int]]:
        """The work groups of more than one fact, each with its facts, oldest first."""
        return self._work_groups.groups()

    def commits(self, name: str) -> Sequence[int]:
        """The commit with that id, full or unambiguously abbreviated, else those that the merge of that id brought."""
        if name in self._ids:
            return (self._ids[name],)
        if name in self._by_merge_commit:
            return self._by_merge_commit[name]
        at = bisect_left(self._sorted_ids, name)
        near = [sha for sha in self._sorted_ids[at : at + 2] if sha.startswith(name)]
        return (self._ids[near[0]],) if len(near) == 1 else ()

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {fact.commit: index for index, fact in enumerate(self.facts) if self.is_home(index)}

    @cached_property
    def _sorted_ids(self) -> list[str]:
        return sorted(self._ids)

    @cached_property
    def _by_merge_commit(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index, fact in enumerate(self.facts):
            found.setdefault(fact.merge_commit, []).append(self.home(index))
        return found


def distinct_facts(facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> list[Fact]:
    """Each fact once, oldest first; if the same commit was measured twice, the more complete fact."""
    found = with_current_names(facts, repositories)
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
