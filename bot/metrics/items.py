"""Which of a contributor's changes of one month make one feature, one bug fix, or one other piece of work."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from bot.landing.path_parts import is_test
from bot.metrics.hotspots import is_source
from bot.metrics.item_kinds import counted_kind, item_kind
from bot.metrics.links import links, scope_of
from bot.model import Change, ChangeId, Item, ItemKind, State

__all__ = ["group", "item_id", "links", "standing"]

TEMPLATE_DAYS = 21
TEMPLATE_LIKENESS = 0.5
TEXT_LIKENESS = 0.30
FILES_SHARED = 0.3
TEXT_LIKENESS_WITHOUT_CODE = 0.6
"""files such as a README or a manifest are in everybody's hands: sharing one says little"""
BRANCH_MOST = 12
"""a merge that brought more of one person's changes than this is a roll-up of several works"""
_MOST_PAIRS_OF = 250
"""above this many changes in a month (a robot's month under a person's name) only stated links join"""

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]{2,}(?![a-z])|[^\W\d_]{2,}")
_IDENTIFIER = re.compile(r"\S*[._/:()<>`\"'0-9-]\S*|\S*[a-z][A-Z]\S*")
_LEAD = re.compile(r"^(?:\[[^\]\n]{1,60}\]\s{0,3})+|^[A-Za-z]{2,15}(?:\([^()\n]{1,60}\))?!?:\s{0,3}")
_VERSION = re.compile(r"\bv?(\d{1,4}\.\d{1,4}(?:\.\d{1,4}|[ab]\d{1,3}|rc\d{1,3})[\w.-]{0,20})")
_TAIL = re.compile(r"\s{0,3}\(#\d{1,8}\)$")
_STOP = frozenset(
    ("a", "an", "and", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on", "or")
)
_STOP |= {"that", "the", "this", "to", "when", "where", "which", "with", "without"}


@dataclass(frozen=True, slots=True)
class _Read:
    """What of a change is compared."""

    change: Change
    links: frozenset[str]
    """those that change what belongs together"""
    scope: str
    paths: frozenset[str]

    def places(self) -> Iterator[str]:
        """Whatever it has to share with another to belong with it."""
        yield from self.links
        yield from self.paths
        if self.scope:
            yield self.scope + "\0"


def _plain(title: str) -> str:
    return _LEAD.sub("", _TAIL.sub("", title.strip())).strip()


@lru_cache(maxsize=1024)
def _words(title: str) -> frozenset[str]:
    return frozenset(_stem(word.lower()) for word in _WORD.findall(_plain(title)) if word.lower() not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=1024)
def _template(title: str) -> frozenset[str]:
    """The words of a title without its identifiers: what stays the same along a series."""
    kept = " ".join(word for word in _plain(title).split() if not _IDENTIFIER.fullmatch(word))
    return frozenset(_stem(word.lower()) for word in _WORD.findall(kept) if word.lower() not in _STOP)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _cosine(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0


def _read(change: Change) -> _Read:
    facts = [commit.fact for commit in change.commits]
    keys = {key for fact in facts for key in fact.links}
    if change.pull_request is not None:
        # another change may name this one: its own number answers to both spellings
        keys |= {f"issue:{change.repository}#{change.pull_request}", f"own:{change.repository}#{change.pull_request}"}
    # what a merge carried again later (a backport, say) did not land by it
    first = [fact for fact in facts if fact.landed_at == change.landed_at]
    keys |= {f"branch:{fact.carrier}" for fact in first if fact.carrier != fact.commit}
    if change.kind not in _COUNTED:
        keys |= {f"version:{version}" for version in _VERSION.findall(change.title)}
    return _Read(
        change=change,
        links=frozenset(key for key in keys if key.startswith(_STATES)),
        scope=scope_of(change.title),
        paths=frozenset(path for fact in facts for path in fact.paths),
    )


def _stated(one: _Read, other: _Read) -> str | None:
    """The strongest link that both changes state, E1 to E3."""
    shared = one.links & other.links
    for prefix, rule in _STATED if shared else ():
        for key in sorted(shared):
            if key.startswith(prefix):
                return f"{rule} {key}"
    return None


_STATED = (
    ("issue:", "E1"),
    ("ticket:", "E1"),
    ("stack:", "E2"),
    ("branch:", "E2"),
    ("series:", "E3"),
    ("version:", "E3"),
)
_STATES = tuple(prefix for prefix, _ in _STATED)
_COUNTED = frozenset({"feature", "bug_fix"})


def _without_roll_ups(read: Sequence[_Read]) -> list[_Read]:
    """No branch joins more changes than one piece of work has."""
    brought = Counter(key for one in read for key in one.links if key.startswith("branch:"))
    many = frozenset(key for key, count in brought.items() if count > BRANCH_MOST)
    return [replace(one, links=one.links - many) for one in read] if many else list(read)


def _alike(one: _Read, other: _Read) -> str | None:
    """E4 same scope and title template within three weeks; E5 like titles and shared files."""
    apart = abs(one.change.landed_at - other.change.landed_at)
    if one.scope and one.scope == other.scope and apart <= TEMPLATE_DAYS * 86_400:
        likeness = _jaccard(_template(one.change.title), _template(other.change.title))
        if likeness >= TEMPLATE_LIKENESS:
            return f"E4 [{one.scope}] titles {likeness:.2f}"
    files = _jaccard(one.paths, other.paths)
    if files >= FILES_SHARED:
        likeness = _cosine(_words(one.change.title), _words(other.change.title))
        alone = likeness >= TEXT_LIKENESS_WITHOUT_CODE
        if alone or (likeness >= TEXT_LIKENESS and _is_code(one.paths & other.paths)):
            return f"E5 titles {likeness:.2f} files {files:.2f}"
    return None


def _is_code(paths: Iterable[str]) -> bool:
    """Whether a source file or a test is among them."""
    return any(is_source(path) or is_test(path) for path in paths)


def _edges(read: Sequence[_Read]) -> Iterator[tuple[int, int, str]]:
    """Every pair that belongs together, with the rule that says so."""
    few = len(read) <= _MOST_PAIRS_OF
    for i, j in _meeting([one.places() if few else one.links for one in read]):
        one, other = read[i], read[j]
        if "revert" in (one.change.kind, other.change.kind):
            continue
        rule = _stated(one, other) or (_alike(one, other) if few else None)
        if rule:
            yield i, j, rule


def _meeting(places: Sequence[Iterable[str]]) -> list[tuple[int, int]]:
    """The pairs that share a place, in order: all others need not be looked at."""
    met: dict[str, list[int]] = defaultdict(list)
    for index, here in enumerate(places):
        for place in here:
            met[place].append(index)
    return sorted({pair for indexes in met.values() if len(indexes) > 1 for pair in combinations(indexes, 2)})


def _components(count: int, edges: Sequence[tuple[int, int, str]]) -> list[list[int]]:
    root = list(range(count))

    def find(index: int) -> int:
        while root[index] != index:
            root[index] = root[root[index]]
            index = root[index]
        return index

    for i, j, _ in edges:
        one, other = sorted((find(i), find(j)))
        root[other] = one
    groups: dict[int, list[int]] = {}
    for index in range(count):
        groups.setdefault(find(index), []).append(index)
    return list(groups.values())


def _state(members: Sequence[Change]) -> State:
    states = {member.state for member in members}
    if states == {"reverted"}:
        return "reverted"
    return "relanded" if "relanded" in states else "landed"


def _title(members: Sequence[Change], kind: ItemKind) -> str:
    """The leading member's own words: the one with most lines among those that decide the kind, then the oldest."""
    standing = [member for member in members if member.state != "reverted"] or list(members)
    deciding = [member for member in standing if counted_kind(member) == kind] or standing
    leading = max(deciding, key=_weight) if len(deciding) > 1 else deciding[0]
    return _TAIL.sub("", leading.title.strip()) or leading.id


def _weight(change: Change) -> tuple[int, int, str]:
    return sum(commit.lines.code for commit in change.counted), -change.landed_at, change.id


def _order(change: Change) -> tuple[int, int, str]:
    return change.landed_at, change.pull_request or 0, change.id


def group(changes: Sequence[Change]) -> tuple[Item, ...]:
    """One contributor's changes of one month as items, oldest first; the order of the input makes no difference.

    Rules and thresholds are those of docs/metrics.md; every edge is kept as (one, other, rule).
    """
    ordered = sorted({change.id: change for change in changes}.values(), key=_order)
    edges = list(_edges(_without_roll_ups([_read(change) for change in ordered]))) if len(ordered) > 1 else []
    items = []
    for component in _components(len(ordered), edges):
        members = [ordered[index] for index in component]
        kind = item_kind(members)
        inside = set(component)
        kept = tuple((ordered[i].id, ordered[j].id, rule) for i, j, rule in edges if i in inside)
        items.append(Item(kind, _title(members, kind), _state(members), tuple(member.id for member in members), kept))
    return tuple(items)


def standing(items: Iterable[Item]) -> Counter[ItemKind]:
    """How many items of each kind stand: what counts as features and bug fixes."""
    return Counter(item.kind for item in items if item.state != "reverted")


@lru_cache(maxsize=4096)
def item_id(changes: tuple[ChangeId, ...]) -> str:
    """A name for the item that these changes make: the same wherever and whenever it is computed."""
    return "item:" + hashlib.sha256("\n".join(sorted(changes)).encode()).hexdigest()[:12]
