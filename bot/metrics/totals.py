"""Which of one contributor's folded changes belong to which month?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from zoneinfo import ZoneInfo

from bot.landing.identity.credit import both_parts, change_credits, person_key
from bot.landing.identity.own_lines import own_commit
from bot.landing.months import day_of, month_of
from bot.metrics.work import MonthWork
from bot.model.change import Change, CountedCommit, Credit
from bot.model.fact import Fact
from bot.model.ids import ChangeId, Month, PersonKey


def is_author(fact: Fact, keys: Collection[PersonKey]) -> bool:
    return person_key(fact.author) in keys


def is_co_author(fact: Fact, keys: Collection[PersonKey]) -> bool:
    """Whether they are credited as co-author and not as author."""
    return (
        bool(fact.co_authors) and not is_author(fact, keys) and any(person_key(one) in keys for one in fact.co_authors)
    )


def delivery_month(change: Change, keys: Collection[PersonKey], zone: ZoneInfo) -> Month | None:
    """The month of this change's item: that of its landing, if the contributor landed a commit of it then, else that
    of the contributor's last commit in it; None if the contributor authored none of it."""
    own = _own_parts(change, keys)
    months = [
        month_of(commit.fact.landed_at, zone) for commit, part in own if part.authored and part.grade != "claimed"
    ]
    return _month_delivered(change, months, zone) if months else None


def _month_delivered(change: Change, months: Sequence[Month], zone: ZoneInfo) -> Month:
    """The same, given the months of the contributor's own commits in it."""
    delivered = month_of(change.landed_at, zone)
    return delivered if delivered in months else months[-1]


def _own_parts(
    change: Change, keys: Collection[PersonKey], authors: Collection[PersonKey] = ()
) -> Iterator[tuple[CountedCommit, Credit]]:
    """The counted commits that the contributor has a part in, with that part."""
    if not any(is_author(one.fact, keys) or is_co_author(one.fact, keys) for one in change.commits):
        return
    for commit, parts in change_credits(change, authors):
        own = [part for part in parts if part.person in keys]
        if own:
            yield commit, max(own, key=lambda part: part.authored)


def work_by_month(changes: Sequence[Change], keys: Collection[PersonKey], zone: ZoneInfo) -> dict[Month, MonthWork]:
    """The contributor's months with work, oldest first. What is only claimed counts in no month's numbers.

    In clones a trailer credits somebody who authored any landed commit of them; `changes` contains all of these.
    """
    months: dict[Month, MonthWork] = {}
    authored = any(is_author(commit.fact, keys) for change in changes for commit in change.counted)
    for change in changes:
        own: list[Month] = []
        for commit, part in _own_parts(change, keys, keys if authored else ()):
            month = month_of(commit.fact.landed_at, zone)
            work = months.get(month) or months.setdefault(month, MonthWork(month))
            if part.grade == "claimed":
                work.claimed.append((change, commit))
            elif part.authored:
                own.append(month)
                work.commits.append((change, own_commit(commit, part)))
            else:
                work.co_authored.append((change, own_commit(commit, part)))
        if own:
            months[_month_delivered(change, own, zone)].delivered.append(change)
    return {month: months[month] for month in sorted(months)}


def own_credits(changes: Sequence[Change], keys: Collection[PersonKey]) -> dict[ChangeId, Credit]:
    """The contributor's part in each of the changes that have one, with its best grade."""
    authored = any(is_author(commit.fact, keys) for change in changes for commit in change.counted)
    found: dict[ChangeId, Credit] = {}
    for change in changes:
        parts = [part for _, part in _own_parts(change, keys, keys if authored else ())]
        if parts:
            found[change.id] = reduce(both_parts, parts)
    return found


def commits_by_day(work: Iterable[MonthWork], zone: ZoneInfo) -> dict[str, int]:
    """Commits by ISO date in the zone, oldest first."""
    counts = Counter(day_of(commit.fact.landed_at, zone) for month in work for _, commit in month.commits)
    return dict(sorted(counts.items()))
