"""What did each contributor land in some repositories in one month, in numbers, items and sentences?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from bot.metrics.totals import work_by_month
from bot.metrics.work import MonthWork
from bot.model.change import Change
from bot.model.commit import Person
from bot.model.ids import ChangeId, Month, PersonKey
from bot.model.profile import MonthRecord, NonCodeActivity
from bot.narrative.facts import MonthFacts, month_facts, timeline
from bot.narrative.narrative import Naming, month_text
from bot.narrative.non_code_activity import NO_NON_CODE, with_non_code
from bot.narrative.opening import opener
from bot.narrative.profile import month_record


class ContributorMonth(Struct, frozen=True):
    """One contributor's month: `record` with the template's words, and the facts that any words must keep to."""

    person: Person
    record: MonthRecord
    facts: MonthFacts
    naming: Naming = "named"


def _work_in(work: MonthWork, repositories: Collection[str]) -> MonthWork:
    return MonthWork(
        work.month,
        [pair for pair in work.commits if pair[1].fact.repository in repositories],
        [pair for pair in work.co_authored if pair[1].fact.repository in repositories],
        delivered=[change for change in work.delivered if change.repository in repositories],
    )


def write_contributor_months(
    changes: Sequence[Change],
    people: Mapping[PersonKey, Person],
    where: tuple[Collection[str], Month, ZoneInfo],
    *,
    unnamed: Collection[PersonKey] = (),
    non_code: Mapping[PersonKey, NonCodeActivity] = NO_NON_CODE,
) -> list[ContributorMonth]:
    """Everybody who landed a commit in the repositories (`where`) in that month, by name; no two texts open alike
    where it can be helped. Those in `unnamed` are told of without their names; `beside` is what else is known of whom.

    `changes` are all that belong to that month's work; what is new in a person's longer record is not known here, and
    not told.
    """
    repositories, month, zone = where
    by_id: dict[ChangeId, Change] = {change.id: change for change in changes}
    found: list[ContributorMonth] = []
    used: list[str] = []
    for key, person in sorted(people.items(), key=lambda one: (one[1].display.casefold(), one[0])):
        all_work = work_by_month(changes, (key,), zone).get(month)
        if person.bot or all_work is None or not all_work.is_active:
            continue
        work = _work_in(all_work, repositories)
        if not work.commits and not work.delivered:
            continue
        line = timeline({month: work}, by_id, person=person.display, zone=zone)
        line = replace(line, new_repositories={}, new_languages={}, new_skills={})
        record = with_non_code(month_record(work), non_code.get(key))
        naming: Naming = "anonymous" if key in unnamed else "named"
        facts = month_facts(record, line)
        text = month_text(facts, naming, used=used)
        used += [opener(sentence.text) for sentence in text.sentences[:1]]
        found.append(ContributorMonth(person, replace(record, summary=text), facts, naming))
    return found


def contributor_months(
    changes: Sequence[Change],
    people: Mapping[PersonKey, Person],
    where: tuple[str, Month, ZoneInfo],
    *,
    unnamed: Collection[PersonKey] = (),
) -> list[tuple[Person, MonthRecord]]:
    """The same of one repository, without the facts behind it."""
    repository, month, zone = where
    months = write_contributor_months(changes, people, ((repository,), month, zone), unnamed=unnamed)
    return [(one.person, one.record) for one in months]
