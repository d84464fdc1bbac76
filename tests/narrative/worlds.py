"""Small invented records for tests of the digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from bot.metrics.registry import numbers_of
from bot.metrics.work import MonthWork, Work
from bot.model.change import Change, CountedCommit, Item
from bot.model.commit import Signature
from bot.model.fact import Fact, Lines
from bot.model.ids import ChangeId, CommitId, Kind, Month, State
from bot.model.profile import LanguageSkill, MonthRecord, Overall, RepositoryRecord, Text
from bot.narrative.facts import (
    MonthFacts,
    ProfileFacts,
    Timeline,
    each_months_facts,
    month_facts,
    profile_facts,
    timeline,
)

UTC_ZONE = ZoneInfo("UTC")
MIRA = Signature("Mira Kessler", "mira@example.org")


def change(
    title: str,
    kind: Kind = "feature",
    *,
    number: int = 1,
    month: str = "2025-06",
    repository: str = "acme/engine",
    state: State = "landed",
    certain: bool = True,
    lines: int = 20,
    reverted_by: str | None = None,
    language: str = "Python",
) -> Change:
    """One landed change of Mira's."""
    year, at = int(month[:4]), int(month[5:])
    landed = int(datetime(year, at, 1 + number % 27, tzinfo=UTC).timestamp())
    fact = Fact(
        repository,
        CommitId(f"{number:040x}"),
        landed,
        landed,
        MIRA,
        MIRA,
        title,
        "push",
        CommitId(f"{number:040x}"),
        lines=Lines(authored=lines),
        kind=kind,
        certain=certain,
        languages={language: lines},
    )
    return Change(
        ChangeId(f"{repository}#{number}"),
        repository,
        title,
        kind,
        "",
        certain,
        state,
        landed,
        (CountedCommit(fact, True, fact.lines),),
        pull_request=number,
        reverted_by=ChangeId(reverted_by) if reverted_by else None,
    )


def month_of_work(month: str, changes: Sequence[Change]) -> MonthWork:
    pairs = [(found, commit) for found in changes for commit in found.commits]
    return MonthWork(Month(month), pairs, [], list(changes))


def record(month: str, changes: Sequence[Change], groups: Sequence[Sequence[int]] = ()) -> MonthRecord:
    """The month's record; `groups` are indices of changes that form one item; each other change is its own item."""
    grouped = {at for group in groups for at in group}
    rows = [list(group) for group in groups] + [[at] for at in range(len(changes)) if at not in grouped]
    items = []
    for row in rows:
        members = [changes[at] for at in row]
        kinds = {member.kind for member in members}
        kind = "feature" if "feature" in kinds else "bug_fix" if "bug_fix" in kinds else "other"
        items.append(Item(kind, members[0].title, members[0].state, tuple(member.id for member in members)))
    return MonthRecord(
        Month(month),
        Lines(),
        Text(()),
        tuple(items),
        numbers_of(Work((month_of_work(month, changes),), items)),
        repositories=tuple(dict.fromkeys(found.repository for found in changes)),
        languages={"Python": 20},
    )


def line_of(
    months: dict[str, Sequence[Change]], others: Sequence[Change] = (), person: str = "Mira Kessler"
) -> Timeline:
    work = {Month(month): month_of_work(month, changes) for month, changes in sorted(months.items())}
    known = {found.id: found for changes in months.values() for found in changes} | {
        found.id: found for found in others
    }
    return timeline(work, known, person=person, zone=UTC_ZONE)


def facts(
    changes: Sequence[Change],
    *,
    month: str = "2025-06",
    groups: Sequence[Sequence[int]] = (),
    others: Sequence[Change] = (),
) -> MonthFacts:
    """The facts of one month that is the whole record."""
    return month_facts(record(month, changes, groups), line_of({month: changes}, others))


def whole_record_facts(months: dict[str, Sequence[Change]], person: str = "Mira Kessler") -> ProfileFacts:
    """The facts of a whole record."""
    records = [record(month, months[month]) for month in sorted(months, reverse=True)]
    changes = [found for found_in in months.values() for found in found_in]
    names = list(dict.fromkeys(found.repository for found in changes))
    first, last = Month(min(months)), Month(max(months))
    line = line_of(months, person=person)
    return profile_facts(
        line,
        each_months_facts(records, line),
        overall=Overall(Lines(), numbers_of(Work([month_of_work(month, months[month]) for month in sorted(months)]))),
        repositories=[RepositoryRecord(name, first, last, len(months), 1, (), ()) for name in names],
        skills=([LanguageSkill("Python", 20, first)], []),
    )
