"""What did each contributor land in some repositories in one month?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from bot.metrics.totals import work_by_month
from bot.metrics.work import MonthWork
from bot.model.change import Change
from bot.model.commit import Person
from bot.model.ids import Month, PersonKey
from bot.model.profile import MonthRecord, NonCodeActivity
from bot.narrative.month_text import month_text
from bot.narrative.non_code_activity import NO_NON_CODE, with_non_code
from bot.narrative.profile import month_record
from bot.narrative.project_texts import ProjectTexts
from bot.narrative.timeline import turns_by_month
from bot.narrative.title_quotes import quotes_of


class ContributorMonth(Struct, frozen=True):
    """One contributor's month: the numbers and items, and the work behind them."""

    person: Person
    keys: frozenset[PersonKey]
    """of every signature of the person"""
    record: MonthRecord
    work: MonthWork


def _work_in(work: MonthWork, repositories: Collection[str]) -> MonthWork:
    return MonthWork(
        work.month,
        [pair for pair in work.commits if pair[1].fact.repository in repositories],
        [pair for pair in work.co_authored if pair[1].fact.repository in repositories],
        delivered=[change for change in work.delivered if change.repository in repositories],
    )


def contributor_months(
    changes: Sequence[Change],
    people: Iterable[tuple[Person, frozenset[PersonKey]]],
    where: tuple[Collection[str], Month, ZoneInfo],
    non_code: Mapping[PersonKey, NonCodeActivity] = NO_NON_CODE,
) -> list[ContributorMonth]:
    """Everybody who landed a commit in the repositories (`where`) in that month, by name; `people` with the keys of
    their signatures, and `non_code` is what else is known of whom."""
    repositories, month, zone = where
    found: list[ContributorMonth] = []
    for person, keys in sorted(people, key=lambda one: (one[0].display.casefold(), one[0].key)):
        all_work = work_by_month(changes, keys, zone).get(month)
        if person.bot or all_work is None:
            continue
        work = _work_in(all_work, repositories)
        if work.commits or work.delivered:
            record = with_non_code(month_record(work), non_code.get(person.key))
            found.append(ContributorMonth(person, keys, record, work))
    return found


def with_summary(one: ContributorMonth, changes: Sequence[Change], zone: ZoneInfo) -> MonthRecord:
    """The contributor's month with its text, which names nobody else."""
    by_id = {change.id: change for change in changes}
    turns = turns_by_month({one.work.month: one.work}, by_id, zone=zone).get(one.work.month, ())
    quotes = quotes_of(one.work.delivered, one.keys, zone, ProjectTexts(nameable=()))
    return replace(one.record, summary=month_text(one.record, one.work, turns, quotes))
