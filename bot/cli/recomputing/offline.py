"""What can be answered from clones only: profiles, contributors, changes and kinds, without service, network or key?"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.cli.recomputing.identities import PersonQuery, find_person
from bot.configuration.errors import UnusableInputError
from bot.history.opening import PendingClones
from bot.landing.months import parse_month
from bot.model.ids import STATED, Month
from bot.model.profile import Profile

if TYPE_CHECKING:
    from bot.history.record import CloneRecord

_MANY_OBJECTS = 50_000
"""Objects made from a history form no reference cycles: the garbage collector need not run at every seven hundred."""


class Window(Struct, frozen=True):
    """The months to include, both ends included, and their time zone."""

    zone: ZoneInfo
    since: Month | None = None
    until: Month | None = None


def check_choice(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        near = get_close_matches(value, allowed, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UnusableInputError(f"{option} {value!r} is none of {', '.join(allowed)}{hint}")


def read_window(since: str | None, until: str | None, timezone: str) -> Window:
    """Raises UnusableInputError for an invalid month or zone, or an empty range."""
    for option, month in (("--since", since), ("--until", until)):
        try:
            if month is not None:
                parse_month(month)
        except ValueError:
            raise UnusableInputError(f"{option} {month!r} is not a month; write it as 2025-06") from None
    if since and until and since > until:
        raise UnusableInputError(f"--since {since} lies after --until {until}; swap them")
    try:
        zone = ZoneInfo(timezone)
    except (KeyError, ValueError, OSError):
        raise UnusableInputError(f"--timezone {timezone!r} is not an IANA time zone such as Europe/Berlin") from None
    return Window(zone, Month(since) if since else None, Month(until) if until else None)


class _ProgressBar:
    """A bar on a terminal, otherwise a line for every tenth; both on stderr."""

    def __init__(self) -> None:
        self._reported = -1

    def __call__(self, done: int, total: int) -> None:
        tenth = done * 10 // total
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            sys.stderr.write(f"\r[{'#' * (tenth * 3):30}] {done} of {total} commits{end}")
            sys.stderr.flush()
        elif tenth != self._reported and total > 2000:
            sys.stderr.write(f"measured {done} of {total} commits\n")
        self._reported = tenth


@contextmanager
def record_of(paths: Sequence[str], mailmap: Path | None = None, *, name: str | None = None) -> Iterator[CloneRecord]:
    """The measured record of the clones at these paths; `mailmap` is a file that joins identities, `name` that of a
    single clone that has no origin.
    """
    gc.set_threshold(_MANY_OBJECTS)
    opening = PendingClones(paths, mailmap, name=name)
    from bot.history.record import CloneRecord  # loaded while git opens the clones

    record = CloneRecord(opening.clones(), mailmap=opening.mailmap)
    try:
        with record.report_cache_errors():
            record.refresh(_ProgressBar())
            yield record
        if (count := len(record.clones)) > 1 and sys.stderr.isatty():
            sys.stderr.write(f"{count} clones are read as one record: forks, mirrors, backports and reverts join\n")
    finally:
        record.close()


def profile(
    paths: Sequence[str], who: PersonQuery | str, months: Window, *, form: str, anonymous: bool
) -> Iterable[str]:
    """One contributor's profile in one of the registered forms, in chunks.

    Raises UnusableInputError if a clone cannot be read or nobody with that name landed anything.
    """
    from bot.render import RENDERERS
    from bot.render.text.json import json_parts

    found = build_profile(paths, who, months, anonymous=anonymous)
    return json_parts(found) if form == "json" else [RENDERERS[form](found)]


def build_profile(paths: Sequence[str], who: PersonQuery | str, months: Window, *, anonymous: bool) -> Profile:
    """The same profile, before it is rendered."""
    from bot.metrics.line_fates import own_commits
    from bot.narrative.profile import ProfileContext, ProfileScope, build
    from bot.render.anonymity import apply_naming

    asked = PersonQuery(who) if isinstance(who, str) else who
    with record_of(paths, asked.mailmap) as record:
        persons = find_person(record, asked)
        scope = ProfileScope(
            person=persons[0],
            keys=record.keys_of(persons),
            zone=months.zone,
            now=datetime.now(UTC),
            since=months.since,
            until=months.until,
            naming="anonymous" if anonymous else "named",
        )
        own_changes = record.changes_of(persons)
        texts = record.texts_about(own_changes)
        lines = own_commits(record.all_changes(), record.line_record(), months.zone)
        context = ProfileContext(lines, everybody=True, texts=texts, totals=record.theme_totals(texts))
        return apply_naming(build(own_changes, scope, context), own_changes, scope)


def changes(paths: Sequence[str], who: PersonQuery, months: Window, *, frozen: bool) -> Iterator[str]:
    """Every landed change as one line of JSON, oldest first; `frozen` excludes later events."""
    from bot.narrative.listing import Everybody, listed_changes

    with record_of(paths, who.mailmap) as record:
        persons = find_person(record, who) if who.who is not None else ()
        keys = record.keys_of(persons)
        found = record.changes_of(persons) if persons else record.all_changes()
        everybody = Everybody.of(record.people, record.authors, found)
        now = None if frozen else int(datetime.now(UTC).timestamp())
        for row in listed_changes(found, everybody, months.zone, lines=record.line_record(), now=now):
            if not persons or keys & set(row.keys):
                yield json.dumps(row.values, ensure_ascii=False)


def classify_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """The kind of each JSON line, in order. Raises UnusableInputError with the line number if one cannot be read."""
    from bot.metrics.change_kind import classify
    from bot.metrics.kind_input import evidence_of

    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            verdict = classify(evidence_of(json.loads(line)))
        except (ValueError, RecursionError) as error:
            no_json = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError))
            reason = "not JSON" if no_json else str(error)
            raise UnusableInputError(f"line {number}: {reason}") from None
        answer = {
            "kind": verdict.kind,
            "certain": verdict.certain,
            "probability": verdict.probability / STATED,
            "why": verdict.why,
        }
        yield json.dumps(answer, ensure_ascii=False)
