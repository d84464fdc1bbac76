"""Which facts may fold together? Those of one island: the repositories of one installation, or clones given together.

Nobody can change another installation's numbers by writing text in a repository of their own. The one bridge is the
relation of a fork and its parent, as GitHub states it: a commit of the fork that the parent has as well, itself or as a
copy, belongs to the parent's island, where it does not count. Nothing else that it says goes with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from bot.landing.same_work.copies import SAME_PATCH
from bot.landing.same_work.fork_networks import with_current_names
from bot.landing.same_work.keys import current_name
from bot.model.commit import Repository
from bot.model.fact import Fact

Islands = Mapping[str, int]
"""the island of each repository, by full name; all repositories without one are one island"""


def split_by_island(
    facts: Iterable[Fact], repositories: Mapping[str, Repository], islands: Islands
) -> list[Sequence[Fact]]:
    """The facts of each island, with those of forks elsewhere that belong to it."""
    named = with_current_names(facts, repositories)
    found: dict[int | None, list[Fact]] = defaultdict(list)
    bridges = _parents_elsewhere(repositories, islands)
    identities = {
        parent: {key for fact in named if fact.repository == parent for key in _identities(fact)}
        for parent in set(bridges.values())
    }
    for fact in named:
        parent = bridges.get(fact.repository)
        shared = _identities(fact) & identities[parent] if parent is not None else set()
        if parent is not None and shared:
            found[islands.get(parent)].append(replace(fact, keys=tuple(sorted(shared)), reverts=(), relands=()))
        else:
            found[islands.get(fact.repository)].append(fact)
    return list(found.values())


def _parents_elsewhere(repositories: Mapping[str, Repository], islands: Islands) -> dict[str, str]:
    """By fork: its parent, if that is on another island."""
    pairs = {
        one.full_name: current_name(one.parent, repositories)
        for one in repositories.values()
        if one.fork and one.parent and one.parent.lower() != one.full_name.lower()
    }
    known = {one.full_name for one in repositories.values()}
    return {
        fork: parent for fork, parent in pairs.items() if parent in known and islands.get(parent) != islands.get(fork)
    }


def _identities(fact: Fact) -> set[str]:
    return {f"commit:{fact.commit}", *(key for key in fact.keys if key.startswith(SAME_PATCH))}
