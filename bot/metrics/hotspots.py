"""How often were the files of a change changed and fixed before it landed, and since?

A file's past is a list of visits: when a commit that touches it landed, and how sure it is that the commit was a fix.
A clone's history is read once, oldest first; a service keeps the same rows in a table, and asks for those of the files
that matter. Nothing here knows who made a visit.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol, TypeVar

from msgspec import Struct

from bot.landing.lines import linguist
from bot.landing.lines.paths import NO_RULES, own_part
from bot.model.fact import Fact

DAY = 86_400
YEAR = 365 * DAY
MONTH = 30 * DAY
RECENT = 100
"""source commits of a repository that tell how much of its work is fixing at present"""
STATED = 100
WORDED = 10
FIXES = (STATED, WORDED)
"""hundredths of a fix: a title that states one by its prefix, and any other commit that certainly is one"""

_STATED_FIX = re.compile(r"\W{0,4}(?:fix|bug ?fix|hotfix)\b[^:\n]{0,60}:", re.IGNORECASE)


class Past(Struct, frozen=True):
    """What is known at one moment of the files a change touches; all 0 where there is no history."""

    fixes: float = 0.0
    """fixes of the most-fixed file in 365 days"""
    visits: int = 0
    """commits on the most-changed file in 365 days"""
    lately: int = 0
    """commits on the most-changed file in 30 days"""
    traffic: int = 0
    """commits on each of the files in 30 days, summed"""
    repository_fixes: float = 0.0
    """fixes among the last hundred source commits of the repository"""


NO_PAST = Past()


class FileHistory(Protocol):
    """The narrow thing the scores ask of a store: the past of files at a moment, and the next fix after one."""

    def past(self, repository: str, paths: Collection[str], before: int) -> Past: ...

    def next_fix(self, repository: str, paths: Collection[str], after: int) -> int | None: ...


@lru_cache(maxsize=2048)
def is_source(path: str) -> bool:
    """Whether people wrote this file as source, by its path alone."""
    return own_part(path, linguist.language(path), NO_RULES) == "authored"


def source_paths(fact: Fact) -> tuple[str, ...]:
    return tuple(filter(is_source, fact.paths))


def fix_weight(fact: Fact) -> int:
    """How much of a fix this commit is, in hundredths."""
    if _STATED_FIX.match(fact.title):
        return STATED
    return WORDED if fact.kind == "bug_fix" and fact.certain else 0


_REPOSITORY = "\0"
"""stands for the repository itself among its files: no path holds a zero byte"""


def pull_request_names(pull_request: int | None) -> tuple[str, ...]:
    """What stands among the files for a pull request that a commit message names."""
    return (f"\0#{pull_request}",) if pull_request is not None else ()


@lru_cache(maxsize=2048)
def path_key(path: str) -> int:
    """The name of a file in the table of visits, a signed 64-bit number: it can be compared, and read by nobody."""
    return int.from_bytes(blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "big", signed=True)


def visits(fact: Fact) -> list[tuple[int, int]]:
    """(file, hundredths of a fix) of everything that one commit visits; nothing where it touches no source.

    That is its source files, the repository, its own pull request (with weight 0, so that what names it is found with
    it), and, for a fix, the pull requests of the same repository that it says it follows.
    """
    paths = source_paths(fact)
    if not paths:
        return []
    weight = fix_weight(fact)
    found = {path_key(path): weight for path in (*paths, _REPOSITORY)}
    for name in pull_request_names(fact.pull_request):
        found[path_key(name)] = 0
    if weight:
        found |= {path_key(name): weight for name in _followed_names(fact)}
    return sorted(found.items())


def _followed_names(fact: Fact) -> list[str]:
    prefix = f"issue:{fact.repository}#"
    numbers = [link[len(prefix) :] for link in fact.links if link.startswith(prefix)]
    return [
        name
        for number in numbers
        if number.isdigit() and int(number) != fact.pull_request
        for name in pull_request_names(int(number))
    ]


Visit = TypeVar("Visit", bound=tuple[int, int, int, int])


def relevant_visits(found: Iterable[Visit], newest: int) -> list[Visit]:
    """Of visits (repository, file, when, hundredths of a fix) those that can move a score of work that landed up to
    `newest`: they are of its past, or fixes of its files since."""
    repository_key = path_key(_REPOSITORY)
    return [one for one in found if one[2] < newest or (one[3] in FIXES and one[1] != repository_key)]


@dataclass(slots=True)
class _Visits:
    at: array[int] = field(default_factory=lambda: array("q"))
    weights: bytearray = field(default_factory=bytearray)

    def add(self, at: int, weight: int) -> None:
        index = bisect_right(self.at, at)
        self.at.insert(index, at)
        self.weights.insert(index, weight)

    def forget(self, before: int) -> None:
        gone = bisect_left(self.at, before)
        del self.at[:gone]
        del self.weights[:gone]


class History:
    """The visits of every source file, in memory: about ten bytes each."""

    def __init__(self) -> None:
        self._files: dict[str, dict[int, _Visits]] = {}

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> History:
        history = cls()
        for fact in facts:
            history.add(fact)
        return history

    def add(self, fact: Fact) -> None:
        """One more commit; the order makes no difference, but oldest first is fastest."""
        for key, weight in visits(fact):
            self.visit(fact.repository, key, at=fact.landed_at, weight=weight)

    def visit(self, repository: str, key: int, *, at: int, weight: int) -> None:
        """One row of `visits`, as a table keeps it."""
        files = self._files.setdefault(repository, {})
        found = files.get(key)
        if found is None:
            found = files[key] = _Visits()
        found.add(at, weight)

    def forget(self, before: int) -> None:
        """Drop visits that no score of a landing after `before` + 365 days looks at."""
        for repository, files in self._files.items():
            for found in files.values():
                found.forget(before)
            self._files[repository] = {key: found for key, found in files.items() if found.at}

    def past(self, repository: str, paths: Collection[str], before: int) -> Past:
        """What was known of these files strictly before a moment, epoch seconds."""
        fixes = count = lately = traffic = 0
        files = self._files.get(repository, {})
        for path in paths:
            found = files.get(path_key(path))
            if found is None:
                continue
            end = bisect_left(found.at, before)
            year, month = bisect_left(found.at, before - YEAR), bisect_left(found.at, before - MONTH)
            fixes = max(fixes, sum(found.weights[year:end]))
            count = max(count, end - year)
            lately = max(lately, end - month)
            traffic += end - month
        return Past(fixes / STATED, count, lately, traffic, self._repository_fixes(repository, before))

    def _repository_fixes(self, repository: str, before: int) -> float:
        found = self._files.get(repository, {}).get(path_key(_REPOSITORY))
        if found is None:
            return 0.0
        end = bisect_left(found.at, before)
        return sum(found.weights[max(0, end - RECENT) : end]) / STATED

    def next_fix(self, repository: str, paths: Collection[str], after: int) -> int | None:
        """When the first commit after a moment that may be a fix touched one of these files."""
        times = []
        files = self._files.get(repository, {})
        for path in paths:
            found = files.get(path_key(path))
            if found is not None:
                start = bisect_right(found.at, after)
                times += [found.at[index] for index in (found.weights.find(w, start) for w in FIXES) if index >= 0]
        return min(times, default=None)


NO_HISTORY = History()
"""History that is not available: as if nothing had happened before."""
