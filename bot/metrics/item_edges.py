"""Which changes of one contributor's month belong together, and by which rule?

E1 to E3 are links that both changes state, E4 is one scope and similar titles, E5 similar titles and shared files
(docs/metrics.md). Changes that share no link, scope or file are never compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise

from bot.landing.lines.path_parts import is_test
from bot.metrics.hotspots import is_source
from bot.metrics.links import scope_of
from bot.model.change import Change

TEMPLATE_DAYS = 21
TEMPLATE_LIKENESS = 0.5
TEXT_LIKENESS = 0.30
FILES_SHARED = 0.3
TEXT_LIKENESS_WITHOUT_CODE = 0.6
"""everybody changes files such as a README or a manifest: sharing one means little"""
BRANCH_MOST = 12
"""a merge that landed more of one person's changes than this combines several works"""
_MOST_PAIRS_OF = 250
"""above this many changes in a month (a robot's month under a person's name) only stated links connect"""

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]{2,}(?![a-z])|[^\W\d_]{2,}")
_IDENTIFIER = re.compile(r"\S*[._/:()<>`\"'0-9-]\S*|\S*[a-z][A-Z]\S*")
_LEAD = re.compile(r"^(?:\[[^\]\n]{1,60}\]\s{0,3})+|^[A-Za-z]{2,15}(?:\([^()\n]{1,60}\))?!?:\s{0,3}")
_VERSION = re.compile(r"\bv?(\d{1,4}\.\d{1,4}(?:\.\d{1,4}|[ab]\d{1,3}|rc\d{1,3})[\w.-]{0,20})")
_TAIL = re.compile(r"\s{0,3}\(#\d{1,8}\)$")
_STOP = frozenset(
    ("a", "an", "and", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on", "or")
)
_STOP |= {"that", "the", "this", "to", "when", "where", "which", "with", "without"}

_RULES = {"issue": "E1", "ticket": "E1", "stack": "E2", "branch": "E2", "series": "E3", "version": "E3"}
"""stated links, strongest first"""
_STRENGTH = {kind: index for index, kind in enumerate(_RULES)}
_COUNTED = frozenset({"feature", "bug_fix"})

Pair = tuple[int, int]
Edge = tuple[int, int, str]
Meetings = Mapping[str, Sequence[int]]
"""indexes of the changes that share something, in order, by what they share"""


def edges(changes: Sequence[Change]) -> list[Edge]:
    """Every pair that belongs together (by index, the smaller first), in order, with the strongest rule."""
    if len(changes) < 2:
        return []
    found: dict[Pair, str] = {}
    _join_stated(_links(changes), found)
    if len(changes) <= _MOST_PAIRS_OF:
        work = {index: change for index, change in enumerate(changes) if change.kind != "revert"}
        _join_templates(work, found)
        _join_files(work, found)
    return [(*pair, rule) for pair, rule in sorted(found.items())]


def plain_title(title: str) -> str:
    """The title without the number of its pull request."""
    return _TAIL.sub("", title.strip())


def _meetings(shared: Iterable[tuple[int, Iterable[str]]]) -> Meetings:
    meetings: dict[str, list[int]] = defaultdict(list)
    for index, names in shared:
        for name in names:
            meetings[name].append(index)
    return meetings


def _links(changes: Sequence[Change]) -> Meetings:
    """Stated links. No branch joins more changes than one work group has, and reverts are not joined."""
    meetings = _meetings((index, set(_stated_links(change))) for index, change in enumerate(changes))
    return {
        key: [index for index in indexes if changes[index].kind != "revert"]
        for key, indexes in meetings.items()
        if len(indexes) > 1 and not (len(indexes) > BRANCH_MOST and key.startswith("branch:"))
    }


def _stated_links(change: Change) -> Iterator[str]:
    for commit in change.commits:
        fact = commit.fact
        yield from fact.links
        # a merge that carried it again later (a backport, for example) is not its landing
        if fact.merge_commit != fact.commit and fact.landed_at == change.landed_at:
            yield f"branch:{fact.merge_commit}"
    if change.pull_request is not None:
        # another change may refer to this one
        yield f"issue:{change.repository}#{change.pull_request}"
    if change.kind not in _COUNTED:
        yield from (f"version:{version}" for version in _VERSION.findall(change.title))


def _join_stated(links: Meetings, found: dict[Pair, str]) -> None:
    ranked = [(_STRENGTH[kind], key) for key in links if (kind := key.partition(":")[0]) in _RULES]
    for _, key in sorted(ranked):
        indexes, rule = links[key], f"{_RULES[key.partition(':')[0]]} {key}"
        # Thousands of changes that refer to one issue would give millions of pairs; chaining neighbours joins them as
        # well.
        pairs = combinations(indexes, 2) if len(indexes) <= _MOST_PAIRS_OF else pairwise(indexes)
        for pair in pairs:
            found.setdefault(pair, rule)


def _join_templates(work: Mapping[int, Change], found: dict[Pair, str]) -> None:
    """E4: same scope and title template within three weeks."""
    scopes = ((index, scope_of(change.title)) for index, change in work.items())
    for scope, indexes in _meetings((index, (scope,)) for index, scope in scopes if scope).items():
        for i, j in combinations(indexes, 2):
            one, other = work[i], work[j]
            if (i, j) not in found and abs(one.landed_at - other.landed_at) <= TEMPLATE_DAYS * 86_400:
                likeness = _jaccard(_template(one.title), _template(other.title))
                if likeness >= TEMPLATE_LIKENESS:
                    found[i, j] = f"E4 [{scope}] titles {likeness:.2f}"


def _join_files(work: Mapping[int, Change], found: dict[Pair, str]) -> None:
    """E5: similar titles and shared files; the number of shared files is the number of times that two changes meet."""
    paths = {index: _paths(change) for index, change in work.items()}
    shared: Counter[Pair] = Counter()
    for indexes in _meetings(paths.items()).values():
        shared.update(combinations(indexes, 2))
    for (i, j), both in shared.items():
        likeness = both / (len(paths[i]) + len(paths[j]) - both)
        if likeness >= FILES_SHARED and (i, j) not in found:
            alike = _cosine(_words(work[i].title), _words(work[j].title))
            is_title_enough = alike >= TEXT_LIKENESS_WITHOUT_CODE
            if is_title_enough or (alike >= TEXT_LIKENESS and any(map(_is_code, paths[i] & paths[j]))):
                found[i, j] = f"E5 titles {alike:.2f} files {likeness:.2f}"


def _paths(change: Change) -> frozenset[str]:
    return frozenset().union(*(commit.fact.paths for commit in change.commits))


@lru_cache(maxsize=2048)
def _is_code(path: str) -> bool:
    """A source file or a test."""
    return is_source(path) or is_test(path)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _cosine(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0


def _title_text(title: str) -> str:
    """A title without its prefix or tag."""
    return _LEAD.sub("", plain_title(title)).strip()


@lru_cache(maxsize=1024)
def _words(title: str) -> frozenset[str]:
    return frozenset(_stem(word.lower()) for word in _WORD.findall(_title_text(title)) if word.lower() not in _STOP)


@lru_cache(maxsize=1024)
def _template(title: str) -> frozenset[str]:
    """The words of a title without identifiers: what stays the same in a series."""
    words = " ".join(word for word in _title_text(title).split() if not _IDENTIFIER.fullmatch(word))
    return frozenset(_stem(word.lower()) for word in _WORD.findall(words) if word.lower() not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
