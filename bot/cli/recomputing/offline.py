"""What can be answered from clones only: profiles, contributors, changes and kinds, without service, network or key?"""

from __future__ import annotations

import gc
import io
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.configuration.errors import UnusableInputError
from bot.history.opening import PendingClones
from bot.landing.months import parse_month
from bot.model.commit import Person
from bot.model.ids import STATED, Month
from bot.model.profile import Profile

if TYPE_CHECKING:
    from bot.history.record import CloneRecord
    from bot.history.scratch import MonthSum

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
def record_of(paths: Sequence[str], *, name: str | None = None) -> Iterator[CloneRecord]:
    """The measured record of the clones at these paths; `name` is that of a single clone that has no origin."""
    gc.set_threshold(_MANY_OBJECTS)
    opening = PendingClones(paths, name=name)
    from bot.history.record import CloneRecord  # loaded while git opens the clones

    record = CloneRecord(opening.clones())
    try:
        with record.report_cache_errors():
            record.refresh(_ProgressBar())
            yield record
    finally:
        record.close()


def _find_people(record: CloneRecord, who: str) -> tuple[Person, ...]:
    found = record.people.find(who)
    if found:
        return found
    known = [name for person in record.people.all() for name in (*person.names, *person.emails, person.login or "")]
    near = get_close_matches(who, [name for name in known if name], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "; almanac contributors CLONE... lists everybody"
    raise UnusableInputError(f"nobody called {who!r} landed anything here{hint}")


def profile(paths: Sequence[str], who: str, months: Window, *, form: str, anonymous: bool) -> Iterable[str]:
    """One contributor's profile in one of the registered forms, in chunks.

    Raises UnusableInputError if a clone cannot be read or nobody with that name landed anything.
    """
    from bot.render import RENDERERS
    from bot.render.text.json import json_parts

    found = build_profile(paths, who, months, anonymous=anonymous)
    return json_parts(found) if form == "json" else [RENDERERS[form](found)]


def build_profile(paths: Sequence[str], who: str, months: Window, *, anonymous: bool) -> Profile:
    """The same profile, before it is rendered."""
    from bot.metrics.line_fates import own_commits
    from bot.narrative.profile import ProfileContext, ProfileScope, build
    from bot.render.anonymity import apply_naming

    with record_of(paths) as record:
        persons = _find_people(record, who)
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


def _row(person: Person, months: Sequence[MonthSum]) -> dict[str, object]:
    commits, features, bugs, lines = (sum(column) for column in list(zip(*months, strict=True))[2:])
    return {
        "display": person.display,
        "login": person.login,
        "emails": list(person.emails),
        "commits": commits,
        "features": features,
        "bugs": bugs,
        "lines_of_code": lines,
        "active_months": sum(1 for month in months if month[2]),
    }


def contributors(paths: Sequence[str], months: Window, *, form: str) -> str:
    """Everybody who landed a commit, busiest first, as a table, JSON or CSV."""
    with record_of(paths) as record:
        found: dict[str, list[MonthSum]] = defaultdict(list)
        for month in record.month_sums(months.zone):
            found[month[1]].append(month)
        rows = [_row(person, found[person.key]) for person in record.people.all() if person.key in found]
    rows.sort(key=lambda row: (-int(str(row["commits"])), str(row["display"]), str(row["emails"])))
    return {"json": _as_json, "csv": _as_csv, "table": _as_table}[form](rows)


def _as_json(rows: Sequence[dict[str, object]]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2)


def _as_csv(rows: Sequence[dict[str, object]]) -> str:
    import csv

    from bot.render.text.csv import escape_formula

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("display", "login", "emails", "commits", "features", "bugs", "lines_of_code", "active_months"))
    for row in rows:
        emails = row["emails"]
        values = row | {"emails": " ".join(emails) if isinstance(emails, list) else ""}
        writer.writerow([escape_formula(value) if isinstance(value, str) else value for value in values.values()])
    return out.getvalue()


def _as_table(rows: Sequence[dict[str, object]]) -> str:
    from bot.metrics.lines import LINES

    head = ("commits", "features", "bugs", LINES.words[1], "months", "who")
    table = [head] + [
        tuple(str(row[name]) for name in ("commits", "features", "bugs", "lines_of_code", "active_months", "display"))
        for row in rows
    ]
    widths = [max(len(row[column]) for row in table) for column in range(5)]
    lines = (
        "  ".join([cell.rjust(width) for cell, width in zip(row, widths, strict=False)] + [row[5]]) for row in table
    )
    return "\n".join(map(_printable, lines))


def _printable(line: str) -> str:
    return line if line.isprintable() else "".join([char if char.isprintable() else "?" for char in line])


def changes(paths: Sequence[str], who: str | None, months: Window, *, frozen: bool) -> Iterator[str]:
    """Every landed change as one line of JSON, oldest first; `frozen` excludes later events."""
    from bot.narrative.listing import listed_changes

    with record_of(paths) as record:
        persons = _find_people(record, who) if who is not None else ()
        keys = record.keys_of(persons)
        found = record.changes_of(persons) if who is not None else record.all_changes()
        now = None if frozen else int(datetime.now(UTC).timestamp())
        for row in listed_changes(found, record.people, months.zone, lines=record.line_record(), now=now):
            if who is None or keys & set(row.keys):
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
