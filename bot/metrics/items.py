"""Which of a contributor's changes of one month form one feature, one bug fix, or one other item?"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache

from bot.landing.lines import linguist
from bot.landing.lines.paths import NO_RULES, own_part
from bot.landing.same_work.disjoint import Disjoint
from bot.metrics.item_edges import Edge, edges
from bot.metrics.item_titles import plain_title
from bot.metrics.kind_features import file_category
from bot.metrics.links import scope_of
from bot.model.change import Change, Item
from bot.model.ids import STATED, ChangeId, ItemKind, State

_SUPPORTING = frozenset({"docs", "tests", "ci", "bench", "log", "meta"})
"""places where features and fixes do not affect users"""
_EXAMPLE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|playgrounds?)/", re.IGNORECASE)
_SUPPORTING_SCOPES = frozenset(
    ("readme", "docs", "doc", "changelog", "examples", "example", "tests", "test", "ci", "deps", "deps-dev", "bench")
)


def group(changes: Sequence[Change]) -> tuple[Item, ...]:
    """One contributor's changes of one month as items, oldest first; the input order does not matter.

    Rules and thresholds are those of docs/metrics.md; every edge is kept as (one, other, rule).
    """
    ordered = sorted({change.id: change for change in changes}.values(), key=_order)
    found = edges(ordered)
    groups = join_groups(len(ordered), found)
    group_of = {index: number for number, members in enumerate(groups) for index in members}
    because: dict[int, list[tuple[ChangeId, ChangeId, str]]] = defaultdict(list)
    for edge in found:
        if group_of[edge.one] == group_of[edge.other]:
            because[group_of[edge.one]].append((ordered[edge.one].id, ordered[edge.other].id, edge.rule))
    return tuple(
        _item([ordered[index] for index in members], tuple(because.get(number, ())))
        for number, members in enumerate(groups)
    )


def _order(change: Change) -> tuple[int, int, str]:
    return change.landed_at, change.pull_request or 0, change.id


def _item(members: Sequence[Change], because: tuple[tuple[ChangeId, ChangeId, str], ...]) -> Item:
    kind, certain = item_kind(members)
    ids = tuple(member.id for member in members)
    return Item(kind, _title(members, kind), _state(members), ids, because, certain)


def _state(members: Sequence[Change]) -> State:
    states = {member.state for member in members}
    if states == {"reverted"}:
        return "reverted"
    return "relanded" if "relanded" in states else "landed"


def _title(members: Sequence[Change], kind: ItemKind) -> str:
    """The title of the leading member: of those that decide the kind, the one with most lines, then the oldest."""
    leading = members[0]
    if len(members) > 1:
        unreverted = [member for member in members if member.state != "reverted"] or members
        deciding = [member for member in unreverted if counted_kind(member) == kind] or unreverted
        leading = max(deciding, key=_weight)
    return plain_title(leading.title) or leading.id


def _weight(change: Change) -> tuple[int, int, str]:
    return sum(commit.lines.code for commit in change.counted), -change.landed_at, change.id


def item_kind(members: Sequence[Change]) -> tuple[ItemKind, bool]:
    """The kind of an item, and whether it is certain.

    A feature if a member certainly is one, else a bug fix if a member certainly is one; only where none is, what a
    member may be decides. Reverted members do not count unless all are.
    """
    unreverted = [member for member in members if member.state != "reverted"] or members
    kinds = {(counted_kind(member), is_kind_certain(member)) for member in unreverted}
    return next(kind for kind in _DECIDING if kind in kinds)


_DECIDING: tuple[tuple[ItemKind, bool], ...] = (
    ("feature", True),
    ("bug_fix", True),
    ("feature", False),
    ("bug_fix", False),
    ("other", True),
    ("other", False),
)


def is_kind_certain(change: Change) -> bool:
    """Whether the kind that a change counts as is certain; what it touches can show that it is other work."""
    return change.certain or _is_supporting(change)


def counted_kind(change: Change) -> ItemKind:
    """The kind that a change counts as: what is stated, else a fix of only the README, or a feature of the tests, is
    other work."""
    if change.kind not in ("feature", "bug_fix") or (change.probability < STATED and _is_supporting(change)):
        return "other"
    return "feature" if change.kind == "feature" else "bug_fix"


def _is_supporting(change: Change) -> bool:
    """Whether its scope, or each file it is known to touch, is documentation, tests, examples or similar."""
    if scope_of(change.title) in _SUPPORTING_SCOPES:
        return True
    facts = [commit.fact for commit in change.commits]
    if any(fact.lines.generated or fact.lines.vendored for fact in facts):  # their files are not among the paths
        return False
    paths = [path for fact in facts for path in fact.paths]
    return bool(paths) and all(map(_is_supporting_file, paths))


@lru_cache(maxsize=2048)
def _is_supporting_file(path: str) -> bool:
    if _EXAMPLE.search(path):
        return True
    return file_category(path, own_part(path, linguist.language(path), NO_RULES)) in _SUPPORTING


def count_unreverted(items: Iterable[Item]) -> Counter[ItemKind]:
    """How many items are certainly of each kind and not reverted: these count as features and bug fixes."""
    return Counter(item.kind for item in items if item.certain and item.state != "reverted")


@lru_cache(maxsize=4096)
def item_id(changes: tuple[ChangeId, ...]) -> str:
    """An id for the item that these changes form: the same wherever and whenever it is computed."""
    return "item:" + hashlib.sha256("\n".join(sorted(changes)).encode()).hexdigest()[:12]


# --- groups ----------------------------------------------------------------------------------------------------------

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
