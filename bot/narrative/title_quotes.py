"""Which titles do changes quote, and which folders are their themes?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from zoneinfo import ZoneInfo

from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.ids import ChangeId, Kind, PersonKey
from bot.narrative.entry import Entry, Theme
from bot.narrative.quotes import Quotes

_PREFIX = re.compile(r"^(?:\w+(?:\([^)]*\))?!?:\s+|\[[^\]]+\]\s*)")
_NUMBER = re.compile(r"\s*\(#\d+\)\s*$")
_TAGS: dict[Kind, str] = {
    "feature": "Feature",
    "bug_fix": "Fix",
    "perf": "Performance",
    "docs": "Documentation",
    "refactor": "Refactoring",
    "test": "Tests",
    "build": "Build",
}
_LEADING = ("feature", "bug_fix", "perf")
_LEAST = 3


def quotes_of(changes: Sequence[Change], keys: Collection[PersonKey], zone: ZoneInfo) -> Quotes:
    """The quotes of a person's changes."""
    found = [entry for change in changes if (entry := _entry(change, zone))]
    by_id = {change.id: change for change in changes}

    def weight(entry: Entry) -> tuple[bool, int, str]:
        change = by_id[entry.change]
        return change.kind not in _LEADING, -change.lines.code, entry.change

    order = sorted((entry for entry in found if by_id[entry.change].outcome), key=weight)
    return Quotes({entry.change: entry for entry in found}, _themes(changes, zone), order)


def _entry(change: Change, zone: ZoneInfo) -> Entry | None:
    quoted = _NUMBER.sub("", _PREFIX.sub("", change.title)).strip()
    if len(quoted.split()) < 3 or change.kind == "revert":
        return None
    tag = _TAGS.get(change.kind) if change.certain else None
    month = month_of(change.landed_at, zone)
    commit = change.commits[0].fact.commit
    return Entry(quoted, tag, "title", change.id, commit, change.url, change.pull_request, (), None, month)


def _themes(changes: Sequence[Change], zone: ZoneInfo) -> tuple[Theme, ...]:
    folders: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        tops = {path.split("/")[0] for commit in change.commits for path in commit.fact.paths if "/" in path}
        for top in tops - {"tests", "src", "docs", ".github"}:
            folders[top].append(change)
    if len(changes) < 10:
        return ()
    ranked = sorted((len(found), name) for name, found in folders.items() if len(found) >= _LEAST)[::-1]
    return tuple(_theme(name, folders[name], zone) for _, name in ranked[:3])


def _theme(name: str, changes: Sequence[Change], zone: ZoneInfo) -> Theme:
    ids: tuple[ChangeId, ...] = tuple(change.id for change in changes)
    months = [month_of(change.landed_at, zone) for change in changes]
    return Theme(name.capitalize(), name, ids, 0, False, (min(months), max(months)))
