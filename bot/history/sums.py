"""What are the sums of each person's months? Stored by month, so that new landings only cost their own months."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.history.cache import report_cache_errors
from bot.history.scratch import MonthSum, Scratch
from bot.history.workers import run_in_workers
from bot.landing.identity.credit import People
from bot.landing.months import month_after, month_of, month_start
from bot.model.change import Change
from bot.model.commit import Repository
from bot.model.ids import Month, PersonKey

AT_ONCE = 800
"""commits of neighbouring months folded together: the limit for how much of a history is in memory"""
_WORTH_SPREADING = 4
"""from this number of stretches, additional processes are worth starting"""


class _Stretch(Struct, frozen=True):
    """Neighbouring months, with the time of their start and end."""

    months: tuple[Month, ...]
    begin: int
    end: int


class SumContext(Struct, frozen=True):
    """What the sums depend on: the people, the repositories and the time zone of the months."""

    people: People
    keys: Mapping[PersonKey, Collection[PersonKey]]
    """every key of a person who is not a machine, by the person's own"""
    machines: Collection[PersonKey]
    """every key that only machines have: they get no sums"""
    repositories: Mapping[str, Repository]
    zone: ZoneInfo

    def sums(self, scratch: Scratch, stretch: _Stretch) -> list[MonthSum]:
        """The sums of the stretch's months, for everybody who is not a machine."""
        from bot.landing.changes import fold  # not needed for stored sums

        with report_cache_errors(scratch.file):
            changes = fold(scratch.landed_between(stretch.begin, stretch.end), self.repositories)
        return self.sums_of(changes, stretch.months)

    def _by_person(self, changes: Sequence[Change]) -> Iterator[tuple[PersonKey, list[Change]]]:
        parts: dict[PersonKey, list[Change]] = defaultdict(list)
        for change in changes:
            authors = (self.people.person(commit.fact.author) for commit in change.counted)
            for key in dict.fromkeys(person.key for person in authors if not person.bot):
                parts[key].append(change)
        yield from parts.items()

    def sums_of(self, changes: Sequence[Change], months: Collection[Month] | None = None) -> list[MonthSum]:
        """The sums of these changes by person and month: of some months, or of all."""
        return [row for key, mine in self._by_person(changes) for row in self._of_one(key, mine, months)]

    def _of_one(self, key: PersonKey, mine: Sequence[Change], months: Collection[Month] | None) -> Iterator[MonthSum]:
        from bot.metrics.items import count_unreverted, group
        from bot.metrics.totals import work_by_month

        work = work_by_month(mine, self.keys[key], self.zone)
        for month in sorted(work) if months is None else months:
            if month in work:
                counted, kinds = work[month].commits, count_unreverted(group(work[month].delivered))
                lines = sum(commit.lines.code for _, commit in counted)
                yield month, key, len(counted), kinds["feature"], kinds["bug_fix"], lines


def month_sums(scratch: Scratch, context: SumContext, workers: int | None = None) -> list[MonthSum]:
    """The sums of every person's months; months that no new fact affects are read from the file."""
    zone = str(context.zone)
    identities: dict[str, str] = {key: person for person, keys in context.keys.items() for key in keys}
    scratch.exclude_authors(context.machines)
    last = scratch.last_fact()
    known = scratch.last_summed_fact(zone, identities)
    if known < last:
        stretches = list(_stretches(scratch, context.zone, known))
        recomputed = {str(month) for stretch in stretches for month in stretch.months}
        stale = recomputed if known else {month for month, *_ in scratch.sums(zone)}
        several = (workers or os.cpu_count() or 1) if len(stretches) >= _WORTH_SPREADING else 1
        found = run_in_workers(stretches, several, partial(_sum_stretches, scratch.file, context))
        rows = [row for part in found for row in part]
        saved = scratch.save_sums(zone, stale, rows, last, identities)
        if not saved:
            untouched = [row for row in scratch.sums(zone) if row[0] not in stale]
            return sorted([*untouched, *rows])
    return scratch.sums(zone)


def _sum_stretches(
    file: Path, context: SumContext, stack: ExitStack
) -> Callable[[Iterator[_Stretch]], Iterator[list[MonthSum]]]:
    scratch = Scratch(file)
    scratch.exclude_authors(context.machines)
    stack.callback(scratch.close)
    return partial(map, partial(context.sums, scratch))


def _stretches(scratch: Scratch, zone: ZoneInfo, known: int) -> Iterator[_Stretch]:
    """The months to sum: all, or those affected by commits after number `known`."""
    moments = scratch.touched_since(known) if known else scratch.days()
    months = sorted({month_of(moment, zone) for moment in moments})
    pending: list[Month] = []
    begin = size = 0
    for month in months:
        start, end = month_start(month, zone), month_start(month_after(month), zone)
        if pending and (size > AT_ONCE or (known and month != month_after(pending[-1]))):
            yield _Stretch(tuple(pending), begin, month_start(month_after(pending[-1]), zone))
            pending, size = [], 0
        begin = begin if pending else start
        pending.append(month)
        size += scratch.count_between(start, end)
    if pending:
        yield _Stretch(tuple(pending), begin, month_start(month_after(pending[-1]), zone))
