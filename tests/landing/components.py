"""Which facts fold together? The plain search that the queries of the stores are held against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from bot.landing.same_work.keys import NO_REPOSITORIES, offered_keys, sought_keys
from bot.model.commit import Repository
from bot.model.fact import Fact


def component(
    start: Fact, facts: Iterable[Fact], repositories: Mapping[str, Repository] = NO_REPOSITORIES
) -> tuple[Fact, ...]:
    """All facts that must be folded together with `start`, which a store's query has to find."""
    offering: dict[str, list[Fact]] = defaultdict(list)
    asking: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        for key in offered_keys(fact, repositories):
            offering[key].append(fact)
        for key in sought_keys(fact, repositories):
            asking[key].append(fact)
    found, queue = {id(start): start}, [start]
    while queue:
        fact = queue.pop()
        near = [other for key in sought_keys(fact, repositories) for other in offering.pop(key, ())]
        near += [other for key in offered_keys(fact, repositories) for other in asking.pop(key, ())]
        queue += (other for other in near if id(other) not in found)
        found.update((id(other), other) for other in near)
    return tuple(found.values())
