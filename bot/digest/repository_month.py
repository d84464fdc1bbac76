"""What did each contributor land in one repository in one month, in numbers, items and sentences?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal
from zoneinfo import ZoneInfo

from bot.digest.facts import month_facts, timeline
from bot.digest.narrative import month_text
from bot.digest.opening import opener
from bot.digest.profile import month_record
from bot.metrics.totals import MonthWork, work_by_month
from bot.model import Change, ChangeId, Month, MonthRecord, Person, PersonKey


def _here(work: MonthWork, repository: str) -> MonthWork:
    return MonthWork(
        work.month,
        [pair for pair in work.commits if pair[1].fact.repository == repository],
        [pair for pair in work.co_authored if pair[1].fact.repository == repository],
        [change for change in work.delivered if change.repository == repository],
    )


def contributor_months(
    changes: Sequence[Change],
    people: Mapping[PersonKey, Person],
    where: tuple[str, Month, ZoneInfo],
    *,
    unnamed: Collection[PersonKey] = (),
) -> list[tuple[Person, MonthRecord]]:
    """Everybody who landed a commit in a repository (`where`) in that month, by name; no two texts open alike where it
    can be helped. Those in `unnamed` are told of without their names.

    `changes` are all that belong to that month's work; what is new in a person's longer record is not known here, and
    not told.
    """
    repository, month, zone = where
    by_id: dict[ChangeId, Change] = {change.id: change for change in changes}
    found: list[tuple[Person, MonthRecord]] = []
    taken: list[str] = []
    for key, person in sorted(people.items(), key=lambda one: (one[1].display.casefold(), one[0])):
        whole = work_by_month(changes, (key,), zone).get(month)
        if person.bot or whole is None:
            continue
        work = _here(whole, repository)
        if not work.commits and not work.delivered:
            continue
        line = timeline({month: work}, by_id, person=person.display, zone=zone)
        line = replace(line, new_repositories={}, new_languages={}, new_skills={})
        record = month_record(work)
        naming: Literal["named", "anonymous"] = "anonymous" if key in unnamed else "named"
        text = month_text(month_facts(record, line), naming, taken=taken)
        taken += [opener(sentence.text) for sentence in text.sentences[:1]]
        found.append((person, replace(record, summary=text)))
    return found
