"""What do changes add to the totals: a sum for each person, repository and month, each change by itself?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.landing.identity import person_key
from bot.landing.months import day_of
from bot.metrics.ai_usage import DECLARED_LEVELS
from bot.model import Change, CountedCommit, Fact, Month, PersonKey, RepositoryId
from bot.store.totals import Cell, Sum

day = lru_cache(maxsize=4096)(day_of)
"""a landing's day is asked for by all that is derived from it"""


def month(at: int, zone: ZoneInfo) -> Month:
    """The calendar month of a landing (epoch seconds) in that zone."""
    return Month(day(at, zone)[:7])


def sums(changes: Iterable[Change], ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> dict[Cell, Sum]:
    """The changes' part in every cell of the totals; `ids` are the repositories that have cells."""
    found: dict[Cell, Sum] = {}
    for change in changes:
        outcome = change.outcome
        authors: dict[PersonKey, list[str]] = {}
        for commit in change.commits:
            if commit.counts:
                on = day(commit.fact.landed_at, zone)
                repository = ids.get(commit.fact.repository)
                if repository is not None:
                    authors.setdefault(person_key(commit.fact.author), []).append(on[:7])
                    _credit(found, commit, (repository, on), outcome=outcome)
        if outcome and (home := ids.get(change.repository)) is not None:
            delivered = day(change.landed_at, zone)[:7]
            for author, months in authors.items():
                month = delivered if delivered in months else months[-1]
                _at(found, (author, home, Month(month))).numbers[_OUTCOMES] += 1
    return found


_COMMITS, _HELPED, _OUTCOMES, _DECLARED, _DETECTED, _UNKNOWN = range(6)


def _at(found: dict[Cell, Sum], cell: Cell) -> Sum:
    here = found.get(cell)
    if here is None:
        here = found[cell] = Sum()
    return here


def _credit(found: dict[Cell, Sum], commit: CountedCommit, where: tuple[RepositoryId, str], *, outcome: bool) -> None:
    """One commit, to its author and to those who helped."""
    fact, (repository, on) = commit.fact, where
    month, author = Month(on[:7]), person_key(fact.author)
    here = _at(found, (author, repository, month))
    here.numbers[_COMMITS] += 1
    here.add_lines(commit.lines)
    here.count("days", {on: 1})
    if not (commit.lines.reverted or commit.lines.mirrored):
        here.count("languages", fact.languages)
    if outcome:
        here.count("skills", fact.skills)
    _credit_tools(here, fact)
    if fact.co_authors:
        for helper in {person_key(sig) for sig in fact.co_authors} - {author}:
            _at(found, (helper, repository, month)).numbers[_HELPED] += 1


def _credit_tools(here: Sum, fact: Fact) -> None:
    """What is disclosed of the commit, as `bot.metrics.ai_usage.usage` counts it."""
    if not fact.ai:
        here.numbers[_UNKNOWN] += 1
        return
    declared = any(mark.level in DECLARED_LEVELS for mark in fact.ai)
    here.numbers[_DECLARED if declared else _DETECTED] += 1
    here.count("tools", dict.fromkeys((mark.tool for mark in fact.ai), 1))
