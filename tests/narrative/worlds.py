"""Small invented records for tests of the texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot.metrics.work import MonthWork
from bot.model.change import Change, CountedCommit
from bot.model.commit import Person, Signature
from bot.model.fact import Fact, Lines
from bot.model.ids import ChangeId, CommitId, Kind, Month, PersonKey, State
from bot.model.profile import MonthRecord, Profile, Text
from bot.narrative.entry import Entry, Theme
from bot.narrative.month_text import month_text
from bot.narrative.profile import ProfileScope, build, month_record
from bot.narrative.quotes import NO_QUOTES, Quotes
from bot.narrative.timeline import turns_by_month

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


def entry(found: Change, quoted: str = "", **more: Any) -> Entry:
    """An entry about the change; by default it quotes the title."""
    fields: dict[str, Any] = {
        "quoted": quoted or found.title,
        "tag": {"feature": "Feature", "bug_fix": "Fix"}.get(found.kind),
        "source": "title",
        "change": found.id,
        "commit": None,
        "link": f"https://github.com/{found.repository}/pull/{found.pull_request}",
        "number": found.pull_request,
        "people": (),
        "release": None,
        "month": Month(datetime.fromtimestamp(found.landed_at, UTC).strftime("%Y-%m")),
    }
    return Entry(**fields | more)


def quotes(*entries: Entry, themes: Sequence[Theme] = ()) -> Quotes:
    """Quotes whose entries lead in the given order."""
    return Quotes({one.change: one for one in entries}, tuple(themes), entries)


def theme(name: str, changes: Sequence[Change], *, total: int = 0, first: bool = False) -> Theme:
    months = [Month(datetime.fromtimestamp(one.landed_at, UTC).strftime("%Y-%m")) for one in changes]
    return Theme(name, None, tuple(one.id for one in changes), total, first, (min(months), max(months)))


def month_words(changes: Sequence[Change], found: Quotes = NO_QUOTES, *, month: str = "2025-06") -> list[str]:
    """The sentences about that month of these changes, all of which landed in it."""
    return [one.text for one in month_text_of(changes, found, month=month).sentences]


def month_text_of(
    changes: Sequence[Change], found: Quotes = NO_QUOTES, *, month: str = "2025-06", others: Sequence[Change] = ()
) -> Text:
    work = month_of_work(month, changes)
    by_id: dict[ChangeId, Change] = {one.id: one for one in (*changes, *others)}
    turns = turns_by_month({work.month: work}, by_id, zone=UTC_ZONE).get(work.month, ())
    return month_text(record_of(work), work, turns, found)


def record_of(work: MonthWork) -> MonthRecord:
    return month_record(work)


def profile(changes: Sequence[Change], naming: Any = "named") -> Profile:
    """Mira's profile of these changes."""
    person = Person(PersonKey("e:mira@example.org"), "Mira Kessler", ("mira@example.org",))
    scope = ProfileScope(person, frozenset({person.key}), UTC_ZONE, datetime(2026, 1, 1, tzinfo=UTC), naming=naming)
    return build(changes, scope)
