"""What is stored of a change: its row, the part of each contributor, and what it adds to their totals?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from zoneinfo import ZoneInfo

from bot.landing.identity.credit import change_credits
from bot.landing.identity.own_lines import own_commit
from bot.landing.months import day_of, month_of
from bot.metrics.ai_usage import DECLARED_LEVELS
from bot.model.change import Change, CountedCommit
from bot.model.fact import Lines, each_part
from bot.model.ids import Month, PersonKey, RepositoryId
from bot.store.border import ordered_json
from bot.store.changes import ChangeRow, Kept, PartRow
from bot.store.columns import EncodedJson
from bot.store.totals import COUNTERS, Cell, Sum, count


def change_rows(found: Iterable[Change], ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> Iterator[Kept]:
    """The rows of the changes in these repositories, each with every contributor's part."""
    for change in found:
        home = ids.get(change.repository)
        if home is not None:
            yield _row(change, home, month_of(change.landed_at, zone)), _parts(change, ids, zone)


def _row(change: Change, home: RepositoryId, delivered: Month) -> ChangeRow:
    payload = {"commits": [one.fact.commit for one in change.commits], "title": change.title, "why": change.why}
    return ChangeRow(
        *(change.id, home, delivered, change.landed_at, change.kind, change.state, change.pull_request),
        EncodedJson(ordered_json(payload)),
    )


def _parts(change: Change, ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> list[PartRow]:
    """Each contributor's part in one change, by repository and month; what is only claimed is no part."""
    found: dict[Cell, tuple[int, int, Lines]] = {}
    for commit, parts in change_credits(change):
        where = ids.get(commit.fact.repository)
        if where is None:
            continue
        landed = month_of(commit.fact.landed_at, zone)
        for part in parts:
            if part.grade != "claimed":
                cell = (part.person, where, landed)
                commits, helped, lines = found.get(cell, _NOTHING)
                total = lines + part.lines if commits or helped else part.lines
                found[cell] = commits + part.authored, helped + (not part.authored), total
    return [
        (change.id, *cell, commits, helped, *each_part(lines))
        for cell, (commits, helped, lines) in sorted(found.items())
    ]


_NOTHING = (0, 0, Lines())


def sums(changes: Iterable[Change], ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> dict[Cell, Sum]:
    """What the changes add to every cell of the totals; `ids` are the repositories with cells."""
    found: dict[Cell, Sum] = defaultdict(Sum)
    add_up(found, changes, ids, zone)
    return dict(found)


def add_up(found: dict[Cell, Sum], changes: Iterable[Change], ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> None:
    """Add the changes to sums, creating them where needed."""
    for change in changes:
        authors: dict[PersonKey, list[Month]] = {}
        for commit, parts in change_credits(change):
            repository = ids.get(commit.fact.repository)
            if repository is None:
                continue
            on = day_of(commit.fact.landed_at, zone)
            when = Month(on[:7])
            for part in parts:
                if part.grade == "claimed":
                    continue
                cell_sum, own = found[part.person, repository, when], own_commit(commit, part)
                if part.authored:
                    authors.setdefault(part.person, []).append(when)
                    _add_commit(cell_sum, own, on, outcome=change.outcome)
                else:
                    cell_sum.numbers[_HELPED] += 1
                    _add_lines(cell_sum, own, part.lines)
        home = ids.get(change.repository)
        if home is not None and change.outcome:
            delivered = month_of(change.landed_at, zone)
            for author, months in authors.items():
                found[author, home, delivered if delivered in months else months[-1]].numbers[_OUTCOMES] += 1


def _add_lines(cell_sum: Sum, commit: CountedCommit, lines: Lines) -> None:
    """Add a co-author's own lines, where they are known."""
    if lines.total:
        cell_sum.add((*[0] * len(COUNTERS), *each_part(lines)))
        if not (lines.reverted or lines.mirrored):
            count(cell_sum.languages, commit.fact.languages)


_HELPED, _OUTCOMES = COUNTERS.index("co_authored"), COUNTERS.index("outcomes")
_DECLARED, _DETECTED, _UNKNOWN = (1, 0, 0, 1, 0, 0), (1, 0, 0, 0, 1, 0), (1, 0, 0, 0, 0, 1)
"""what one commit adds to the COUNTERS, by its AI disclosure"""


def _add_commit(cell_sum: Sum, commit: CountedCommit, on: str, *, outcome: bool) -> None:
    """Add one commit to its author's sum."""
    fact, lines = commit.fact, commit.lines
    disclosed = _UNKNOWN
    if fact.ai:
        # The same rule as `bot.metrics.ai_usage.usage`.
        disclosed = _DECLARED if any(mark.level in DECLARED_LEVELS for mark in fact.ai) else _DETECTED
        count(cell_sum.tools, dict.fromkeys((mark.tool for mark in fact.ai), 1))
    cell_sum.add((*disclosed, *each_part(lines)))
    cell_sum.days[on] = cell_sum.days.get(on, 0) + 1
    if not (lines.reverted or lines.mirrored):
        count(cell_sum.languages, fact.languages)
    if outcome:
        count(cell_sum.skills, fact.skills)
