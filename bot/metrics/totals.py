"""Which of one contributor's folded changes belong to which month?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from zoneinfo import ZoneInfo

from bot.landing.identity.credit import person_key
from bot.landing.months import day_of, month_of
from bot.metrics.work import MonthWork
from bot.model.change import Change
from bot.model.fact import Fact
from bot.model.ids import Month, PersonKey


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
    months = [month_of(commit.fact.landed_at, zone) for commit in change.counted if is_author(commit.fact, keys)]
    return _month_delivered(change, months, zone) if months else None


def _month_delivered(change: Change, months: Sequence[Month], zone: ZoneInfo) -> Month:
    """The same, given the months of the contributor's own commits in it."""
    delivered = month_of(change.landed_at, zone)
    return delivered if delivered in months else months[-1]


def work_by_month(changes: Sequence[Change], keys: Collection[PersonKey], zone: ZoneInfo) -> dict[Month, MonthWork]:
    """The contributor's months with work, oldest first."""
    months: dict[Month, MonthWork] = {}

    def at(month: Month) -> MonthWork:
        return months.get(month) or months.setdefault(month, MonthWork(month))

    for change in changes:
        own: list[Month] = []
        for commit in change.commits:
            fact = commit.fact
            if not commit.counts:
                continue
            if is_author(fact, keys):
                own.append(month_of(fact.landed_at, zone))
                at(own[-1]).commits.append((change, commit))
            elif is_co_author(fact, keys):
                at(month_of(fact.landed_at, zone)).co_authored.append((change, commit))
        if own:
            at(_month_delivered(change, own, zone)).delivered.append(change)
    return {month: months[month] for month in sorted(months)}


def commits_by_day(work: Iterable[MonthWork], zone: ZoneInfo) -> dict[str, int]:
    """Commits by ISO date in the zone, oldest first."""
    counts = Counter(day_of(commit.fact.landed_at, zone) for month in work for _, commit in month.commits)
    return dict(sorted(counts.items()))
