"""Which repositories are forks of one another, and to which of them does a work group belong?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from bot.landing.same_work.disjoint import Disjoint
from bot.landing.same_work.keys import current_name
from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId


class ForkNetworks:
    """How repositories are related, as described by GitHub or inferred from the facts.

    GitHub's fork flag and parent are trusted. Repositories without a description (clones) form one fork network if they
    share commit ids; its root is the one that messages name as the home of pull requests, else the one where shared
    commits landed first.
    """

    def __init__(self, facts: Sequence[Fact], repositories: Mapping[str, Repository]) -> None:
        self._known = {name: repositories[name] for name in repositories}
        self._roots: dict[str, str] = {}
        self._forks: set[str] = set()
        network: Disjoint[str] = Disjoint()
        for repository in self._known.values():
            if repository.fork:
                self._forks.add(repository.full_name)
            if repository.parent:
                network.join(repository.full_name, current_name(repository.parent, self._known))
        described = {repository.full_name for repository in self._known.values()}
        self._guess([fact for fact in facts if fact.repository not in described], network)
        self._network = network

    def is_fork(self, name: str) -> bool:
        return name in self._forks

    def same_network(self, one: str, other: str) -> bool:
        """Whether both are the same repository or belong to one fork network."""
        return one == other or self._network.find(one) == self._network.find(other)

    def home(self, facts: Iterable[Fact]) -> str:
        """The repository to which the work of these facts belongs.

        Preferred in this order: most named in the others' messages, not a fork, first landing, name.
        """
        everything = list(facts)
        names = {fact.repository for fact in everything}
        if len(names) == 1:
            return names.pop()
        landed = {name: min(fact.landed_at for fact in everything if fact.repository == name) for name in names}
        votes = _votes(everything, landed)
        return min(landed, key=lambda name: (-votes[name], name in self._forks, landed[name], name.lower(), name))

    def _guess(self, facts: Sequence[Fact], network: Disjoint[str]) -> None:
        votes: Counter[str] = Counter()
        first: Counter[str] = Counter()
        names: set[str] = set()
        for indexes in shared_commits(facts):
            holders = [facts[index] for index in indexes]
            votes.update(_votes(holders, {fact.repository: 0 for fact in holders}))
            first.update(_earliest(holders))
            names.update(fact.repository for fact in holders)
            for fact in holders[1:]:
                network.join(holders[0].repository, fact.repository)
        networks: dict[str, list[str]] = defaultdict(list)
        for name in sorted(names):
            networks[network.find(name)].append(name)
        for members in networks.values():
            root = min(members, key=lambda name: (-votes[name], -first[name], name.lower(), name))
            self._forks.update(name for name in members if name != root)


def shared_commits(facts: Sequence[Fact]) -> Iterable[Sequence[int]]:
    """The indexes of the facts for each commit that more than one fact contains."""
    if len({fact.repository for fact in facts}) < 2:
        return ()
    first: dict[CommitId, int] = {}
    found: dict[int, list[int]] = {}
    for index, fact in enumerate(facts):
        other = first.setdefault(fact.commit, index)
        if other != index:
            found.setdefault(other, [other]).append(index)
    return found.values()


def _votes(facts: Iterable[Fact], names: Mapping[str, int]) -> Counter[str]:
    """How often messages in one repository name another one as the home of their pull request."""
    lower = {name.lower(): name for name in names}
    return Counter(
        name
        for fact in facts
        for key in fact.keys
        if key.startswith("pr:") and (name := lower.get(key[3 : key.rfind("#")], fact.repository)) != fact.repository
    )


def _earliest(holders: Sequence[Fact]) -> list[str]:
    """The repository where a commit landed first; empty on a tie."""
    when = min(fact.landed_at for fact in holders)
    first = {fact.repository for fact in holders if fact.landed_at == when}
    return sorted(first) if len(first) == 1 else []


def with_current_names(facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> list[Fact]:
    """The facts under their repositories' current names."""
    found = list(facts)
    names = {name: current_name(name, repositories) for name in {fact.repository for fact in found}}
    if all(name == today for name, today in names.items()):
        return found
    return [
        fact if names[fact.repository] == fact.repository else replace(fact, repository=names[fact.repository])
        for fact in found
    ]
