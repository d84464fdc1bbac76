"""Which landed commits are copies of other landed work: cherry-picks, backports and commits that a merge brought again?

A copy is a commit like any other, but its work and its lines are those of the original. The pull request that brought a
copy says nothing about the original: where it brought copies of several works, as a branch does into which the default
branch was merged by cherry-picks, each copy belongs to its original, and the pull request has the other commits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from bot.landing.same_work.disjoint import Disjoint
from bot.landing.same_work.fork_networks import ForkNetworks
from bot.landing.same_work.keys import pull_key
from bot.model.fact import Fact

SAME_PATCH = ("commit:", "copy:", "patch:")
_PORTED_WITHIN = 2 * 365 * 86_400
"""seconds between a commit and its backport of the same title"""


def may_be_ported(fact: Fact, port: Fact) -> bool:
    """Whether a commit may be the original of a backport with the same title."""
    near = abs(port.landed_at - fact.landed_at) < _PORTED_WITHIN
    return near and fact.repository == port.repository and not set(fact.paths).isdisjoint(port.paths)


class Copies:
    """The copies among some facts, which are identified by their index.

    `holders` has, for each strong key of several facts, those that have it, oldest first; `ported` has the candidates
    that a backport names without proof.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        patches: Disjoint[int],
        holders: Mapping[str, Sequence[int]],
        ported: Mapping[int, Sequence[int]],
        networks: ForkNetworks,
    ) -> None:
        self._facts = facts
        self._networks = networks
        self._patches = patches
        self._holders = holders
        self._owners = self._owners_of_pulls(holders)
        self._ports = {index: self._closest(index, found) for index, found in ported.items() if found}
        self._stated = self._find_stated()
        self._repeated = self._find_repeated()
        self._spread: set[tuple[int, str]] = set()

    def join(self, groups: Disjoint[int]) -> None:
        """Join the facts that are the same work."""
        copies = self._stated.keys() | self._repeated
        for key, indexes in self._holders.items():
            own = [index for index in indexes if not (index in copies and self._brings(index, key))]
            for other in own[1:]:
                groups.join(own[0], other)
        for index, original in self._ports.items():
            groups.join(original, index)
        brought: dict[str, list[int]] = defaultdict(list)
        for index in sorted(copies):
            number = self._facts[index].pull_request
            if number is not None:
                brought[pull_key(self._facts[index].repository, number)].append(index)
        while sum(self._join_whole(groups, key, found) for key, found in brought.items()):
            pass
        for key, found in brought.items():
            roots = {groups.find(index) for index in self._owners.get(key, found)}
            if len(roots) > 1:
                rest = {groups.find(index) for index in self._owners.get(key, found) if index not in copies}
                self._spread.update((index, key) for index in found if groups.find(index) not in rest)

    def _join_whole(self, groups: Disjoint[int], key: str, copies: Sequence[int]) -> bool:
        """Join what names a pull request that only has copies of one work; returns whether anything was joined."""
        owners = self._owners.get(key, copies)
        if len(owners) > len(copies) or len({groups.find(index) for index in owners}) > 1:
            return False
        root = groups.find(copies[0])
        others = [index for index in self._holders.get(key, ()) if groups.find(index) != root]
        for index in others:
            groups.join(copies[0], index)
        return bool(others)

    def is_copy(self, index: int) -> bool:
        return index in self._stated or index in self._repeated

    def is_spread(self, index: int, key: str) -> bool:
        """Whether that key is of a pull request that brought the copy among other work."""
        return (index, key) in self._spread

    def number(self, index: int) -> int | None:
        """The pull request that brought the commit; None for a copy that it brought among other work."""
        fact = self._facts[index]
        if self._spread and fact.pull_request is not None:
            return None if self.is_spread(index, pull_key(fact.repository, fact.pull_request)) else fact.pull_request
        return fact.pull_request

    def copies_of_live(self, live: Collection[int]) -> set[int]:
        """Those of the live commits of one work whose lines another one has brought already."""
        first: dict[int, int] = {}
        for index in sorted(live, key=lambda index: (self.is_copy(index), index)):
            first.setdefault(self._patches.find(index), index)
        repeated = {index for index in live if first[self._patches.find(index)] != index}
        originals = [index for index in live if index not in self._stated]
        ports = sorted(index for index in live if index in self._stated)
        if not originals and ports:
            number = self._facts[ports[0]].pull_request
            ports = [index for index in ports[1:] if number is None or self._facts[index].pull_request != number]
        return repeated.union(ports)

    def _brings(self, index: int, key: str) -> bool:
        number = self._facts[index].pull_request
        return number is not None and key == pull_key(self._facts[index].repository, number)

    def _owners_of_pulls(self, holders: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
        """By key of a pull request: the commits that it brought."""
        found = {
            key: [index for index in indexes if self._brings(index, key)]
            for key, indexes in holders.items()
            if key.startswith("pr:")
        }
        return {key: owners for key, owners in found.items() if owners}

    def _find_stated(self) -> dict[int, int]:
        """The commits that say that they bring a landed pull request or commit again, each with one original.

        Where the original never landed here, that is the first commit that brought it.
        """
        found = dict(self._ports)
        for key, indexes in self._holders.items():
            if not key.startswith("pr:"):
                continue
            first = self._owners.get(key, indexes)[0]
            at_home = key.startswith(f"pr:{self._facts[first].repository.lower()}#")
            for index in indexes if key in self._owners or at_home else ():
                if not self._brings(index, key) and not self._same_pull(index, first):
                    found.setdefault(index, first)
        return found

    def _same_pull(self, index: int, other: int) -> bool:
        one, two = self._facts[index], self._facts[other]
        return index == other or (one.pull_request is not None and one.pull_request == two.pull_request)

    def _closest(self, index: int, candidates: Sequence[int]) -> int:
        when = self._facts[index].landed_at
        return min(candidates, key=lambda other: (abs(self._facts[other].landed_at - when), other))

    def _find_repeated(self) -> set[int]:
        """The commits with the patch of another one, without the original of each patch."""
        found: set[int] = set()
        for same in self._patches.groups().values():
            ids = {self._facts[index].commit for index in same}
            if len(ids) > 1:
                original = min(same, key=lambda index: self._rank(index, ids))
                number = self._facts[original].pull_request
                found.update(
                    index
                    for index in same
                    if self._facts[index].commit != self._facts[original].commit
                    and (number is None or self._facts[index].pull_request != number)
                )
        return found

    def _rank(self, index: int, ids: Collection[str]) -> tuple[bool, bool, bool, int]:
        fork = self._networks.is_fork(self._facts[index].repository)
        return self._picks_from(index, ids), fork, index in self._stated, index

    def _picks_from(self, index: int, ids: Collection[str]) -> bool:
        own = self._facts[index].commit
        return any(key[:7] == "commit:" and key[7:] != own and key[7:] in ids for key in self._facts[index].keys)
