"""Which changes of one contributor's month have something in common that may make them one item, and by which rule?

E1 to E3 are links that both changes state, E4 is one scope and similar titles, E5 similar titles and shared files
(docs/metrics.md). Changes that share no link, scope or file are never compared. Upkeep and reverts join nothing.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

from bot.landing.lines import linguist
from bot.landing.lines.path_parts import is_test
from bot.landing.lines.paths import NO_RULES, own_part
from bot.metrics.item_titles import ReadTitle, read_title, specific_words
from bot.metrics.kind_rules import states_upkeep
from bot.metrics.links import scope_of
from bot.model.change import Change

TEMPLATE_DAYS = 21
SERIES_DAYS = 7
TEMPLATE_LIKENESS = 0.5
TEXT_LIKENESS = 0.30
TEXT_LIKENESS_OF_FIXES = 0.5
"""two fixes of one file are two fixes, unless they say the same"""
FILES_SHARED = 0.3
TEXT_LIKENESS_WITHOUT_CODE = 0.6
"""everybody changes files such as a README or a manifest: sharing one means little"""
BRANCH_MOST = 8
"""a merge that landed more of one person's changes than this combines several works"""
MOST_ISSUES = 3
"""a change that names more than this many issues is a list of others' work"""
_MOST_PAIRS_OF = 250
"""above this many changes in a month (a robot's month under a person's name) only stated links connect"""

_RULES = {"issue": "E1", "ticket": "E1", "stack": "E2", "request": "E2", "branch": "E2", "series": "E3"}
"""stated links, strongest first"""
_STRENGTH = {kind: index for index, kind in enumerate(_RULES)}
_JOINING_NOTHING = frozenset({"revert", "upkeep"})
_COUNTED = frozenset({"feature", "bug_fix"})
_NO_SCOPES = frozenset({"", "bug", "bugfix", "fix", "hotfix", "feature", "feat", "enhancement", "misc", "wip", "minor"})
"""none, and tags that say of which kind a change is"""

Pair = tuple[int, int]
Meetings = Mapping[str, Sequence[int]]
"""indexes of the changes that share something, in order, by what they share"""


class Edge(NamedTuple):
    """Two changes by index, the smaller first, and the strongest rule that links them."""

    one: int
    other: int
    rule: str
    likeness: float = 1.0
    """of the titles, for E4 and E5"""

    @property
    def strong(self) -> bool:
        """Whether both changes state the link, rather than look alike."""
        return self.rule < "E4"


def edges(changes: Sequence[Change]) -> list[Edge]:
    """Every pair that may belong together, in order."""
    work = {index: change for index, change in enumerate(changes) if _may_join(change)}
    if len(work) < 2:
        return []
    found: dict[Pair, Edge] = {}
    _join_stated(_links(work), found)
    if len(work) <= _MOST_PAIRS_OF:
        titles = {index: read_title(change.title) for index, change in work.items()}
        _join_templates(work, titles, found)
        _join_files(work, titles, found)
    return [edge for _, edge in sorted(found.items())]


def _may_join(change: Change) -> bool:
    """Whether it is work: no revert, and no upkeep, whatever prefix that has."""
    return change.kind not in _JOINING_NOTHING and (change.kind in _COUNTED or not states_upkeep(change.title))


def _meetings(shared: Iterable[tuple[int, Iterable[str]]]) -> Meetings:
    meetings: dict[str, list[int]] = defaultdict(list)
    for index, names in shared:
        for name in names:
            meetings[name].append(index)
    return meetings


def _links(work: Mapping[int, Change]) -> Meetings:
    """Stated links. A merge without a merge request joins no more changes than one piece of work has."""
    meetings = _meetings((index, set(_stated_links(change))) for index, change in work.items())
    return {
        key: indexes
        for key, indexes in meetings.items()
        if len(indexes) > 1 and not (len(indexes) > BRANCH_MOST and key.startswith("branch:"))
    }


def _stated_links(change: Change) -> Iterator[str]:
    for commit in change.commits:
        fact = commit.fact
        issues = sum(link.startswith("issue:") for link in fact.links)
        yield from (link for link in fact.links if issues <= MOST_ISSUES or not link.startswith("issue:"))
        # A merge of several pull requests, or one that carried it again later (a backport), says nothing of the work.
        if change.pull_request is None and fact.merge_commit != fact.commit and fact.landed_at == change.landed_at:
            yield f"{'request' if fact.how == 'gitlab' else 'branch'}:{fact.merge_commit}"
    if change.pull_request is not None:
        # another change may refer to this one
        yield f"issue:{change.repository}#{change.pull_request}"


def _join_stated(links: Meetings, found: dict[Pair, Edge]) -> None:
    ranked = [(_STRENGTH[kind], key) for key in links if (kind := key.partition(":")[0]) in _RULES]
    for _, key in sorted(ranked):
        indexes, rule = links[key], f"{_RULES[key.partition(':')[0]]} {key}"
        # Thousands of changes that refer to one issue would give millions of pairs; chaining neighbours joins them as
        # well.
        pairs = combinations(indexes, 2) if len(indexes) <= _MOST_PAIRS_OF else pairwise(indexes)
        for pair in pairs:
            if pair not in found:
                found[pair] = Edge(*pair, rule)


def _join_templates(work: Mapping[int, Change], titles: Mapping[int, ReadTitle], found: dict[Pair, Edge]) -> None:
    """E4: one scope and similar titles within three weeks, or the same words around other names within one."""
    scopes = ((index, scope_of(change.title)) for index, change in work.items())
    for scope, pairs in _close_pairs(
        ((i, scope) for i, scope in scopes if scope not in _NO_SCOPES), work, TEMPLATE_DAYS
    ):
        for i, j in pairs:
            likeness = _jaccard(*(specific_words(titles[index].template) for index in (i, j)))
            if likeness >= TEMPLATE_LIKENESS and (i, j) not in found and not _kept_apart(work, titles, i, j):
                found[i, j] = Edge(i, j, f"E4 [{scope}] titles {likeness:.2f}", likeness)
    series = (
        (index, " ".join(sorted(set(title.template))))
        for index, title in titles.items()
        if _may_repeat(work[index], title)
    )
    for words, pairs in _close_pairs(series, work, SERIES_DAYS):
        for i, j in pairs:
            found.setdefault((i, j), Edge(i, j, f"E4 series: {words}"))


def _close_pairs(
    keyed: Iterable[tuple[int, str]], work: Mapping[int, Change], days: int
) -> Iterator[tuple[str, Iterator[Pair]]]:
    """By key, the pairs of changes that share it and landed within so many days."""
    for key, indexes in _meetings((index, (key,)) for index, key in keyed).items():
        pairs = combinations(indexes, 2)
        yield key, ((i, j) for i, j in pairs if abs(work[i].landed_at - work[j].landed_at) <= days * 86_400)


def _may_repeat(change: Change, title: ReadTitle) -> bool:
    """Whether it can be one of a series. A bug fix cannot: each mends something of its own."""
    return title.may_repeat and not (change.kind == "bug_fix" and change.certain)


def _join_files(work: Mapping[int, Change], titles: Mapping[int, ReadTitle], found: dict[Pair, Edge]) -> None:
    """E5: similar titles and shared files; the number of shared files is the number of times that two changes meet."""
    paths = {index: _paths(change) for index, change in work.items()}
    shared: Counter[Pair] = Counter()
    for indexes in _meetings(paths.items()).values():
        shared.update(combinations(indexes, 2))
    for (i, j), both in shared.items():
        likeness = both / (len(paths[i]) + len(paths[j]) - both)
        if likeness >= FILES_SHARED and (i, j) not in found and not _kept_apart(work, titles, i, j):
            alike = _cosine(titles[i].words, titles[j].words)
            enough = TEXT_LIKENESS_OF_FIXES if {work[i].kind, work[j].kind} == {"bug_fix"} else TEXT_LIKENESS
            is_title_enough = alike >= TEXT_LIKENESS_WITHOUT_CODE
            if is_title_enough or (alike >= enough and any(map(_is_code, paths[i] & paths[j]))):
                found[i, j] = Edge(i, j, f"E5 titles {alike:.2f} files {likeness:.2f}", alike)


def _kept_apart(work: Mapping[int, Change], titles: Mapping[int, ReadTitle], i: int, j: int) -> bool:
    """Whether likeness cannot join them: each names something that the other does not, or one certainly adds what the
    other certainly mends."""
    one, other = titles[i].names, titles[j].names
    if one - other and other - one:
        return True
    return work[i].certain and work[j].certain and {work[i].kind, work[j].kind} == _COUNTED


def _paths(change: Change) -> frozenset[str]:
    return frozenset().union(*(commit.fact.paths for commit in change.commits))


@lru_cache(maxsize=2048)
def _is_code(path: str) -> bool:
    """A source file or a test."""
    return own_part(path, linguist.language(path), NO_RULES) == "authored" or is_test(path)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _cosine(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0
