"""What do many people's landed commits add up to, without revealing any one person?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.landing.identity.credit import is_machine, person_key
from bot.landing.months import month_of
from bot.metrics.work import sum_languages, sum_lines
from bot.model.change import Change, CountedCommit
from bot.model.fact import Lines
from bot.model.ids import Month, PersonKey
from bot.web.access import enough_people, visible_groups

_ITEMS = {"feature": "features", "bug_fix": "bugs"}


class GroupSum(Struct, frozen=True):
    """The sums of one month, one repository or all of them. Changes count in their current state."""

    name: str
    people: int
    commits: int
    features: int
    bugs: int
    other: int
    unclear: int
    lines: Lines


class OrganisationSums(Struct, frozen=True):
    """Sums over months with enough people; `left_out` are the other months."""

    total: GroupSum
    months: tuple[GroupSum, ...]
    """newest first"""
    left_out: tuple[Month, ...]
    repositories: tuple[GroupSum, ...]
    """by name; those that may be shown separately"""
    languages: tuple[tuple[str, int], ...]


class _Part(Struct, frozen=True):
    """One commit, with its change if it is the commit that landed it."""

    month: Month
    person: PersonKey
    commit: CountedCommit
    delivered: str = ""


def sums(changes: Iterable[Change], zone: ZoneInfo, *, without: Collection[PersonKey] = ()) -> OrganisationSums | None:
    """The sums of these changes; None if too few people took part. Machines and people in `without` are not counted."""
    by_month: dict[Month, list[_Part]] = defaultdict(list)
    for change in changes:
        for part in _parts(change, zone, without):
            by_month[part.month].append(part)
    kept = {month: parts for month, parts in by_month.items() if enough_people(len(_people(parts)))}
    if not kept:
        return None
    everything = [part for month in sorted(kept) for part in kept[month]]
    return OrganisationSums(
        total=_sum("", everything),
        months=tuple(_sum(month, kept[month]) for month in sorted(kept, reverse=True)),
        left_out=tuple(sorted(set(by_month) - set(kept), reverse=True)),
        repositories=_by_repository(everything),
        languages=tuple(sum_languages(part.commit for part in everything).most_common()),
    )


def _parts(change: Change, zone: ZoneInfo, without: Collection[PersonKey]) -> list[_Part]:
    found = []
    for commit in change.counted:
        author = commit.fact.author
        if is_machine(author) or person_key(author) in without:
            continue
        month = month_of(commit.fact.landed_at, zone)
        found.append(_Part(month, person_key(author), commit))
    if found and change.outcome:
        last = found[-1]
        found[-1] = _Part(last.month, last.person, last.commit, _counted_as(change))
    return found


def _counted_as(change: Change) -> str:
    return _ITEMS.get(change.kind, "other") if change.certain else "unclear"


def _people(parts: Iterable[_Part]) -> frozenset[PersonKey]:
    return frozenset(part.person for part in parts)


def _sum(name: str, parts: Sequence[_Part]) -> GroupSum:
    kinds = Counter(part.delivered for part in parts)
    lines = sum_lines(part.commit.lines for part in parts)
    items = {key: kinds[key] for key in ("features", "bugs", "other", "unclear")}
    return GroupSum(name, len(_people(parts)), len(parts), lines=lines, **items)


def _by_repository(parts: Sequence[_Part]) -> tuple[GroupSum, ...]:
    groups: dict[str, list[_Part]] = defaultdict(list)
    for part in parts:
        groups[part.commit.fact.repository].append(part)
    visible = visible_groups({name: _people(found) for name, found in groups.items()})
    return tuple(_sum(name, groups[name]) for name in sorted(visible))


def has_visible_author(change: Change, without: Collection[PersonKey]) -> bool:
    """Whether at least one author may be shown, and none is hidden."""
    authors = [commit.fact.author for commit in change.counted]
    keys = {person_key(author) for author in authors if not is_machine(author)}
    return bool(keys) and keys.isdisjoint(without)
