"""What do changes add to the totals: a sum for each person, repository and month, each change by itself?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from zoneinfo import ZoneInfo

from bot.landing.identity import person_key
from bot.landing.months import day_of, month_of
from bot.metrics.ai_usage import DECLARED_LEVELS
from bot.model import Change, CountedCommit, Month, PersonKey, RepositoryId
from bot.store.totals import Cell, Sum, count


def sums(changes: Iterable[Change], ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> dict[Cell, Sum]:
    """The changes' part in every cell of the totals; `ids` are the repositories that have cells."""
    found: dict[Cell, Sum] = defaultdict(Sum)
    for change in changes:
        outcome = change.outcome
        authors: dict[PersonKey, list[Month]] = {}
        for commit in change.commits:
            repository = ids.get(commit.fact.repository)
            if commit.counts and repository is not None:
                on = day_of(commit.fact.landed_at, zone)
                when = Month(on[:7])
                author = person_key(commit.fact.author)
                authors.setdefault(author, []).append(when)
                _credit(found[author, repository, when], commit, on, outcome=outcome)
                if commit.fact.co_authors:
                    for helper in {person_key(sig) for sig in commit.fact.co_authors} - {author}:
                        found[helper, repository, when].numbers[_HELPED] += 1
        if outcome and (home := ids.get(change.repository)) is not None:
            delivered = month_of(change.landed_at, zone)
            for author, months in authors.items():
                found[author, home, delivered if delivered in months else months[-1]].numbers[_OUTCOMES] += 1
    return dict(found)


_COMMITS, _HELPED, _OUTCOMES, _DECLARED, _DETECTED, _UNKNOWN = range(6)


def _credit(here: Sum, commit: CountedCommit, on: str, *, outcome: bool) -> None:
    """One commit, to its author."""
    fact, lines = commit.fact, commit.lines
    here.numbers[_COMMITS] += 1
    here.add_lines(lines)
    here.days[on] = here.days.get(on, 0) + 1
    if not (lines.reverted or lines.mirrored):
        count(here.languages, fact.languages)
    if outcome:
        count(here.skills, fact.skills)
    if not fact.ai:
        here.numbers[_UNKNOWN] += 1
        return
    # What is disclosed of the commit, as `bot.metrics.ai_usage.usage` counts it.
    declared = any(mark.level in DECLARED_LEVELS for mark in fact.ai)
    here.numbers[_DECLARED if declared else _DETECTED] += 1
    count(here.tools, dict.fromkeys((mark.tool for mark in fact.ai), 1))
