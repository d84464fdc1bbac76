"""Who landed commits in the clones, busiest first: in all, or in a range of commits, as a table, JSON or CSV?"""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bot.cli.recomputing.offline import Window, incomplete_notes, record_of
from bot.configuration.errors import UnusableInputError
from bot.history.commit_range import CommitRange, read_range
from bot.model.commit import Person

if TYPE_CHECKING:
    from bot.history.record import CloneRecord
    from bot.history.scratch import MonthSum

_COLUMNS = ("display", "login", "emails", "commits", "features", "bugs", "lines_of_code", "active_months")
_SAME_NAME = " (this name has another row)"
_HOW_TO_JOIN = "Rows of one full name may be one person: --join-names joins them, --mailmap FILE joins those you list."

Row = dict[str, Any]


class ListOptions(Struct, frozen=True):
    """What to list: `commits` as `A..B`; `new`: only people without a commit before it; `join_names`: a row for each
    full name; `name` and `head` are those of the clone.
    """

    commits: str | None = None
    new: bool = False
    join_names: bool = False
    mailmap: Path | None = None
    name: str | None = None
    head: str | None = None


def contributors(paths: Sequence[str], months: Window, options: ListOptions, *, form: str) -> str:
    """Everybody who landed a commit, busiest first. Raises UnusableInputError if clones or range cannot be read."""
    if options.new and options.commits is None:
        raise UnusableInputError("--new needs a range of tags or commits; add --range A..B")
    with record_of(paths, options.mailmap, name=options.name, head=options.head) as record:
        sums = _sums(record, months, options)
        rows = _rows(record, sums, join_names=options.join_names)
        notes = incomplete_notes(record)
    rows.sort(key=lambda row: (-row["commits"], row["display"], row["emails"]))
    return _as_table(rows, notes) if form == "table" else {"json": _as_json, "csv": _as_csv}[form](rows)


def _sums(record: CloneRecord, months: Window, options: ListOptions) -> list[MonthSum]:
    if options.commits is None:
        return record.month_sums(months.zone)
    wanted = read_range(record.clones, options.commits)
    found = record.sums_of_commits(wanted.commits, months.zone)
    if not options.new:
        return found
    known = _authors_before(record, wanted)
    return [row for row in found if row[1] not in known]


def _authors_before(record: CloneRecord, wanted: CommitRange) -> frozenset[str]:
    """The people who authored a commit before the range."""
    sigs = {fact.author for fact in record.facts() if fact.commit in wanted.before}
    return frozenset(record.people.person(sig).key for sig in sigs)


def _rows(record: CloneRecord, sums: Iterable[MonthSum], *, join_names: bool) -> list[Row]:
    months: dict[str, list[MonthSum]] = defaultdict(list)
    for row in sums:
        months[row[1]].append(row)
    groups: dict[str, list[Person]] = defaultdict(list)
    for person in record.people.all():
        if person.key in months:
            groups[full_name(person) if join_names else person.key].append(person)
    return [_row(persons, months) for persons in groups.values()]


def full_name(person: Person) -> str:
    """What people are joined by: a name of at least two words, or else nothing but the person."""
    name = " ".join(person.display.casefold().split())
    return name if " " in name else person.key


def _row(persons: Sequence[Person], months: Mapping[str, Sequence[MonthSum]]) -> Row:
    mine = [row for person in persons for row in months[person.key]]
    commits, features, bugs, lines = (sum(column) for column in list(zip(*mine, strict=True))[2:])
    first = max(persons, key=lambda person: (sum(row[2] for row in months[person.key]), person.key))
    return {
        "display": first.display,
        "login": first.login or next((person.login for person in persons if person.login), None),
        "emails": sorted({email for person in persons for email in person.emails}),
        "commits": commits,
        "features": features,
        "bugs": bugs,
        "lines_of_code": lines,
        "active_months": len({row[0] for row in mine if row[2]}),
    }


# --- forms -----------------------------------------------------------------------------------------------------------


def _as_json(rows: Sequence[Row]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2)


def _as_csv(rows: Sequence[Row]) -> str:
    import csv

    from bot.render.text.csv import escape_formula

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        values = row | {"emails": " ".join(row["emails"])}
        writer.writerow([escape_formula(value) if isinstance(value, str) else value for value in values.values()])
    return out.getvalue()


def _as_table(rows: Sequence[Row], notes: Sequence[str]) -> str:
    from bot.metrics.lines import LINES

    names = Counter(_shown_name(row) for row in rows)
    head = ("commits", "features", "bugs", LINES.words[1], "months", "who")
    table = [head] + [
        (
            *(str(row[name]) for name in ("commits", "features", "bugs", "lines_of_code", "active_months")),
            row["display"] + (_SAME_NAME if " " in _shown_name(row) and names[_shown_name(row)] > 1 else ""),
        )
        for row in rows
    ]
    widths = [max(len(row[column]) for row in table) for column in range(5)]
    lines = [
        "  ".join([cell.rjust(width) for cell, width in zip(row, widths, strict=False)] + [row[5]]) for row in table
    ]
    if any(row[5].endswith(_SAME_NAME) for row in table):
        lines += ["", _HOW_TO_JOIN]
    lines += ["", *notes] if notes else []
    return "\n".join(map(_printable, lines))


def _shown_name(row: Row) -> str:
    return " ".join(str(row["display"]).casefold().split())


def _printable(line: str) -> str:
    return line if line.isprintable() else "".join([char if char.isprintable() else "?" for char in line])
