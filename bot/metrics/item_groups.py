"""Which edges become groups? Stated links always do; likeness joins no long chains and no large groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set

from bot.landing.same_work.disjoint import Disjoint
from bot.metrics.item_edges import Edge

MOST_BY_LIKENESS = 10
"""changes of a group that likeness holds together"""


def join_groups(count: int, found: Sequence[Edge]) -> list[tuple[int, ...]]:
    """The indexes 0 to `count` - 1 by group, each in order; groups in the order of their first members."""
    stated: Disjoint[int] = Disjoint()
    for edge in found:
        if edge.strong:
            stated.join(edge.one, edge.other)
    sizes: dict[int, int] = defaultdict(int)
    for index in range(count):
        sizes[stated.find(index)] += 1
    weak = sorted((edge for edge in found if not edge.strong), key=lambda edge: (edge.rule[:2], -edge.likeness, edge))
    pairs = [(stated.find(edge.one), stated.find(edge.other)) for edge in weak]
    joined = _join_alike([pair for pair in pairs if pair[0] != pair[1]], sizes)
    groups: dict[int, list[int]] = defaultdict(list)
    for index in range(count):
        part = stated.find(index)
        groups[joined.get(part, part)].append(index)
    return [tuple(members) for members in groups.values()]


def _join_alike(pairs: Sequence[tuple[int, int]], sizes: Mapping[int, int]) -> dict[int, int]:
    """The group of each part that looks like another one, most alike first."""
    near: dict[int, set[int]] = defaultdict(set)
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    members: dict[int, set[int]] = {part: {part} for part in near}
    group = {part: part for part in near}
    for one, other in pairs:
        mine, theirs = group[one], group[other]
        if mine == theirs or not _may_join(members[mine], members[theirs], near, sizes):
            continue
        members[mine] |= members[theirs]
        for part in members.pop(theirs):
            group[part] = mine
    return group


def _may_join(mine: Set[int], theirs: Set[int], near: Mapping[int, Set[int]], sizes: Mapping[int, int]) -> bool:
    """Whether the two are few enough, and each part of one at most two steps from each part of the other."""
    both = mine | theirs
    if sum(sizes[part] for part in both) > MOST_BY_LIKENESS:
        return False
    return all(other in near[one] or near[one] & near[other] & both for one in mine for other in theirs)
