"""What can be answered from clones only: profiles, contributors, changes and kinds, without service, network or key?"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from bot.cli.printing import escape_controls
from bot.cli.recomputing.identities import PersonQuery, find_person
from bot.configuration.errors import UnusableInputError
from bot.history.clone import Clone
from bot.history.git import commits_named, git
from bot.history.opening import PendingClones, commits_beyond
from bot.landing.months import month_of, parse_month
from bot.model.ids import STATED, Month
from bot.model.profile import Profile

if TYPE_CHECKING:
    from bot.history.record import CloneRecord
    from bot.render.images.options import PictureOptions

PictureForm = tuple[str, "PictureOptions"]
_MANY_OBJECTS = 50_000
"""Objects made from a history form no reference cycles: the garbage collector need not run at every seven hundred."""


class Window(Struct, frozen=True):
    """The months to include, both ends included, and their time zone; each end is a month, or a tag of the clone."""

    zone: ZoneInfo
    since: str | None = None
    until: str | None = None


def check_choice(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        near = get_close_matches(value, allowed, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UnusableInputError(f"{option} {value!r} is none of {', '.join(allowed)}{hint}")


def read_window(since: str | None, until: str | None, timezone: str) -> Window:
    """Months stand for themselves, dates for their month, all else for a tag that the clone has to know.

    Raises UnusableInputError for an invalid date or zone, or an empty range.
    """
    first, last = _read_end("--since", since), _read_end("--until", until)
    _check_order(first, last)
    try:
        zone = ZoneInfo(timezone)
    except (KeyError, ValueError, OSError):
        raise UnusableInputError(f"--timezone {timezone!r} is not an IANA time zone such as Europe/Berlin") from None
    return Window(zone, first, last)


def _read_end(option: str, text: str | None) -> str | None:
    """The month, or the text if it may be a tag."""
    if text is None or _is_month(text):
        return text
    try:
        if not text.isascii():
            raise ValueError
        day = date.fromisoformat(text)
    except ValueError:
        return text
    sys.stderr.write(f"almanac: {option} {text}: months count as a whole, here {day:%Y-%m}\n")
    return f"{day:%Y-%m}"


def _is_month(text: str) -> bool:
    try:
        parse_month(text)
    except ValueError:
        return False
    return True


def _check_order(since: str | None, until: str | None) -> None:
    if since and until and _is_month(since) and _is_month(until) and since > until:
        raise UnusableInputError(f"--since {since} lies after --until {until}; swap them")


def _months_of(window: Window, clones: Sequence[Clone]) -> tuple[Month | None, Month | None]:
    """Both ends as months. Raises UnusableInputError for one that is no tag either."""
    since, until = (
        Month(text if _is_month(text) else _month_of_tag(option, text, clones, window.zone)) if text else None
        for option, text in (("--since", window.since), ("--until", window.until))
    )
    _check_order(since, until)
    return since, until


def _month_of_tag(option: str, text: str, clones: Sequence[Clone], zone: ZoneInfo) -> Month:
    found = [(clone, commits_named(clone.folder, [f"refs/tags/{text}"])) for clone in clones]
    tagged = next(((clone, commit) for clone, known in found for commit in known.values()), None)
    if tagged is None:
        raise UnusableInputError(
            f"{option} {text!r} is not a month, a date or a tag here; write it as 2025-06, 2025-06-14 or v1.2"
        )
    clone, commit = tagged
    month = month_of(int(git(clone.git_dir, "log", "-1", "--format=%ct", commit, "--")), zone)
    sys.stderr.write(f"almanac: {option} {escape_controls(text)}: months count as a whole, here {month}\n")
    return month


class _ProgressBar:
    """A bar on a terminal, otherwise a line for every tenth; both on stderr."""

    def __init__(self) -> None:
        self._reported = -1
        self._started = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        tenth = done * 10 // total
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            left = f"{self._time_left(done, total):20}"
            sys.stderr.write(f"\r[{'#' * (tenth * 3):30}] {done} of {total} commits{left}{end}")
            sys.stderr.flush()
        elif tenth != self._reported and total > 2000:
            sys.stderr.write(f"measured {done} of {total} commits\n")
        self._reported = tenth

    def _time_left(self, done: int, total: int) -> str:
        """`, about 40 s left`, as fast as so far; nothing at the end."""
        seconds = round((time.monotonic() - self._started) * (total - done) / max(1, done))
        return f", about {seconds // 60} min left" if seconds >= 120 else f", about {seconds} s left" if seconds else ""


@contextmanager
def record_of(
    paths: Sequence[str],
    mailmap: Path | None = None,
    *,
    name: str | None = None,
    default_name: str | None = None,
    head: str | None = None,
) -> Iterator[CloneRecord]:
    """The measured record of the clones at these paths; `mailmap` is a file that joins identities, `name` that of a
    single clone, `default_name` the one it has without an origin; `head` replaces the default branch.
    """
    gc.set_threshold(_MANY_OBJECTS)
    opening = PendingClones(paths, mailmap, naming=(name, default_name), head=head)
    from bot.history.record import CloneRecord  # loaded while git opens the clones

    record = CloneRecord(opening.clones(), mailmap=opening.mailmap)
    try:
        with record.report_cache_errors():
            record.refresh(_ProgressBar())
            for line in (*_beyond_notes(record), *incomplete_notes(record)):
                sys.stderr.write(f"almanac: {escape_controls(line)}\n")
            yield record
        if (count := len(record.clones)) > 1 and sys.stderr.isatty():
            sys.stderr.write(f"{count} clones are read as one record: forks, mirrors, backports and reverts join\n")
    finally:
        record.close()


def _beyond_notes(record: CloneRecord) -> Iterator[str]:
    """Local commits that are not in the branch that is read."""
    for clone in record.clones:
        branch, count = commits_beyond(clone)
        if count:
            are = "1 commit of the local branch is" if count == 1 else f"{count} commits of the local branch are"
            yield f"{clone.folder}: {are} not in origin/{branch} and not counted; --head {branch} counts them"


def incomplete_notes(record: CloneRecord) -> list[str]:
    """What the clones did not contain, and how to get it."""
    unshallow = "shallow, its history starts late; for all of it run: git fetch --unshallow"
    notes = [f"{clone.folder}: {unshallow}" for clone in record.clones if clone.cut]
    files, commits = record.count_not_measured()
    if files:
        of = f"the lines of {files} files in {commits} commits" if files > 1 else "the lines of 1 file"
        todo = "for a partial or damaged clone run: git fetch --refetch --no-filter"
        notes.append(f"{of} are not measured, because the clone does not contain them; {todo}")
    return notes


def picture_options(form: str, given: Mapping[str, str]) -> PictureOptions:
    """The options of a picture. Raises UnusableInputError for a wrong one, or one of what is no picture."""
    from bot.render.images.options import PLAIN, read_options

    try:
        return read_options(form, given) if given else PLAIN
    except ValueError as error:
        raise UnusableInputError(f"--{error}" if ": " in str(error) else f"--{next(iter(given))}: {error}") from None


def profile(
    paths: Sequence[str], who: PersonQuery | str, months: Window, *, form: PictureForm | str, anonymous: bool
) -> Iterable[str]:
    """One contributor's profile in one of the registered forms, in chunks; a picture may come with options.

    Raises UnusableInputError if a clone cannot be read or nobody with that name landed anything.
    """
    from bot.render import PICTURES, RENDERERS
    from bot.render.text.json import json_parts

    name, options = (form, None) if isinstance(form, str) else form
    found = build_profile(paths, who, months, anonymous=anonymous)
    if options is not None and name in PICTURES:
        return [PICTURES[name](found, options)]
    return json_parts(found) if name == "json" else [RENDERERS[name](found)]


def build_profile(paths: Sequence[str], who: PersonQuery | str, months: Window, *, anonymous: bool) -> Profile:
    """The same profile, before it is rendered."""
    from bot.metrics.line_fates import own_commits
    from bot.narrative.profile import ProfileContext, ProfileScope, build
    from bot.render.anonymity import apply_naming

    asked = PersonQuery(who) if isinstance(who, str) else who
    with record_of(paths, asked.mailmap, name=asked.name, head=asked.head) as record:
        since, until = _months_of(months, record.clones)
        persons = find_person(record, asked)
        scope = ProfileScope(
            person=persons[0],
            keys=record.keys_of(persons),
            zone=months.zone,
            now=datetime.now(UTC),
            since=since,
            until=until,
            naming="anonymous" if anonymous else "named",
        )
        own_changes = record.changes_of(persons)
        texts = record.texts_about(own_changes)
        lines = own_commits(record.all_changes(), record.line_record(), months.zone)
        context = ProfileContext(lines, everybody=True, texts=texts, totals=record.theme_totals(texts))
        context = replace(context, partial=record.without_start, shallow=bool(record.without_start))
        return apply_naming(build(own_changes, scope, context), own_changes, scope)


def changes(paths: Sequence[str], who: PersonQuery, months: Window, *, frozen: bool) -> Iterator[str]:
    """Every landed change as one line of JSON, oldest first; `frozen` excludes later events."""
    from bot.narrative.listing import Everybody, listed_changes

    with record_of(paths, who.mailmap, name=who.name, head=who.head) as record:
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
