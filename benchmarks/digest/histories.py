"""Who are the busiest people of a clone, and from which facts are their texts written?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.landing.identity.credit import is_machine
from bot.metrics.totals import work_by_month
from bot.model.change import Change
from bot.model.commit import Person
from bot.model.ids import ChangeId, Month
from bot.narrative.facts import ProfileFacts, each_months_facts, profile_facts, timeline
from bot.narrative.profile import ProfileScope, build

ZONE = ZoneInfo("UTC")


class Record(Struct, frozen=True):
    """One person of one clone."""

    repository: str
    facts: ProfileFacts
    changes: Mapping[ChangeId, Change]


def _busiest_people(record: CloneRecord, people: int) -> list[Person]:
    counts: dict[str, int] = {}
    found: dict[str, Person] = {}
    for change in record.all_changes():
        for commit in change.counted:
            person = record.people.person(commit.fact.author)
            if not person.bot and not is_machine(commit.fact.author):
                counts[person.key] = counts.get(person.key, 0) + 1
                found[person.key] = person
    return [found[key] for key in sorted(counts, key=lambda key: (-counts[key], key))[:people]]


def records(clone: Path, *, people: int = 10, since: Month | None = None) -> Iterator[Record]:
    """The `people` busiest human authors of the clone, busiest first, each with all months from `since` on."""
    record = CloneRecord(open_clones([clone]))
    record.refresh()
    try:
        for person in _busiest_people(record, people):
            yield from _person_records(record, person, since)
    finally:
        record.close()


def _person_records(record: CloneRecord, person: Person, since: Month | None) -> Iterator[Record]:
    keys = record.keys_of([person])
    changes = record.changes_of([person])
    profile = build(changes, ProfileScope(person, keys, ZONE, datetime(2030, 1, 1, tzinfo=UTC), since=since))
    if not profile.months:
        return
    by_id = {change.id: change for change in changes}
    line = timeline(work_by_month(changes, keys, ZONE), by_id, person=person.display, zone=ZONE)
    facts = profile_facts(
        line,
        each_months_facts(profile.months, line),
        overall=profile.overall,
        repositories=profile.repositories,
        skills=(profile.languages, profile.technical),
    )
    yield Record(record.clones[0].repository.full_name, facts, by_id)
