"""How often were the files of a change changed and fixed before it landed, and since?

A file's past is a list of visits: when a commit that touches it landed, and how sure it is that the commit was a fix.
A clone's history is read once, oldest first; a service keeps the same rows in a table and forgets what is older than
a year. Nothing here knows who made a visit.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol

from bot.landing import linguist
from bot.landing.places import NO_RULES, own_part
from bot.model import Fact

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


@dataclass(frozen=True, slots=True)
class Past:
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


@lru_cache(maxsize=65_536)
def is_source(path: str) -> bool:
    """Whether people wrote this file as source, by its path alone."""
    return own_part(path, linguist.language(path), NO_RULES) == "authored"


def source_paths(fact: Fact) -> tuple[str, ...]:
    return tuple(path for path in fact.paths if is_source(path))


def fix_weight(fact: Fact) -> int:
    """How much of a fix this commit is, in hundredths."""
    if _STATED_FIX.match(fact.title):
        return STATED
    return WORDED if fact.kind == "bug_fix" and fact.certain else 0


def path_key(repository: str, path: str) -> int:
    """The name of a file in the table of visits: it can be compared, and read by nobody."""
    return int.from_bytes(blake2b(f"{repository}\0{path}".encode(), digest_size=8).digest(), "big")


@dataclass(slots=True)
class _Visits:
    at: array[int] = field(default_factory=lambda: array("q"))
    weights: bytearray = field(default_factory=bytearray)

    def add(self, at: int, weight: int) -> None:
        place = bisect_right(self.at, at)
        self.at.insert(place, at)
        self.weights.insert(place, weight)

    def forget(self, before: int) -> None:
        gone = bisect_left(self.at, before)
        del self.at[:gone]
        del self.weights[:gone]


class History:
    """The visits of every source file, in memory: about ten bytes each."""

    def __init__(self) -> None:
        self._files: dict[int, _Visits] = {}
        self._commits: dict[str, _Visits] = {}

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> History:
        history = cls()
        for fact in facts:
            history.add(fact)
        return history

    def add(self, fact: Fact) -> None:
        """One more commit; the order makes no difference, but oldest first is fastest."""
        paths = source_paths(fact)
        if not paths:
            return
        weight = fix_weight(fact)
        for path in paths:
            self._files.setdefault(path_key(fact.repository, path), _Visits()).add(fact.landed_at, weight)
        self._commits.setdefault(fact.repository, _Visits()).add(fact.landed_at, weight)

    def forget(self, before: int) -> None:
        """Drop visits that no score of a landing after `before` + 365 days looks at."""
        for visits in (*self._files.values(), *self._commits.values()):
            visits.forget(before)
        self._files = {key: visits for key, visits in self._files.items() if visits.at}

    def past(self, repository: str, paths: Collection[str], before: int) -> Past:
        fixes = visits = lately = traffic = 0
        for path in paths:
            found = self._files.get(path_key(repository, path))
            if found is None:
                continue
            end = bisect_left(found.at, before)
            year, month = bisect_left(found.at, before - YEAR), bisect_left(found.at, before - MONTH)
            fixes = max(fixes, sum(found.weights[year:end]))
            visits = max(visits, end - year)
            lately = max(lately, end - month)
            traffic += end - month
        return Past(fixes / STATED, visits, lately, traffic, self._repository_fixes(repository, before))

    def _repository_fixes(self, repository: str, before: int) -> float:
        found = self._commits.get(repository)
        if found is None:
            return 0.0
        end = bisect_left(found.at, before)
        return sum(found.weights[max(0, end - RECENT) : end]) / STATED

    def next_fix(self, repository: str, paths: Collection[str], after: int) -> int | None:
        """When the first commit after a moment that may be a fix touched one of these files."""
        times = []
        for path in paths:
            found = self._files.get(path_key(repository, path))
            if found is not None:
                start = bisect_right(found.at, after)
                times += [found.at[place] for place in (found.weights.find(w, start) for w in FIXES) if place >= 0]
        return min(times, default=None)


NO_HISTORY = History()
"""History that is not available: as if nothing had happened before."""
