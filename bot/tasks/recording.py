"""How facts enter the ledger, and what they change: changes, contributions and totals, in the caller's transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import field
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.landing.changes import alone, fold
from bot.landing.corrections import Classified, corrected
from bot.landing.identity import credited, is_bot, person_key
from bot.landing.months import month_of
from bot.model import (
    Change,
    CommitId,
    Fact,
    InstallationId,
    Month,
    Person,
    PersonKey,
    Repository,
    RepositoryId,
    Signature,
)
from bot.store import changes, erasure, folding, ledger, people, together, totals
from bot.store.keyed import Keyed, apart
from bot.store.turn import Plan, Said, Spelling, asked, run, spelling_of
from bot.tasks.adding_up import sums
from bot.tasks.keeping import rows_of


@frozen
class Place:
    """Where facts are recorded: one repository of one installation; months are cut in `zone`."""

    installation: InstallationId
    repository: RepositoryId
    zone: ZoneInfo


@frozen
class Recorded:
    """What a recording did: the commits that were new, and every change that looks otherwise than before."""

    new: tuple[CommitId, ...]
    changed: tuple[Change, ...]
    repositories: Mapping[str, Repository]
    """all that these changes may have to do with"""
    months: frozenset[Month] = frozenset()
    """every month whose numbers or words this touches"""


async def record(
    conn: AsyncConnection, place: Place, facts: Sequence[Fact], *, now: datetime, again: bool = False
) -> Recorded:
    """Append facts and fold what they touch. With `again`, facts known already are measured anew and replace the old.

    The outcome depends on the set of facts alone. Work that nothing recorded has to do with is added to the totals;
    where something recorded looks otherwise now, the months it touches are summed anew from their facts.
    """
    return await run(conn, _recording(_Desk(spelling_of(conn), place), facts, now, again=again))


async def recount(
    conn: AsyncConnection, place: Place, commits: Sequence[CommitId], *, gone: Sequence[Fact] = ()
) -> Recorded:
    """Fold anew what belongs to these commits and write it, whatever stood there; `gone` are facts just deleted."""
    return await run(conn, _recounting(_Desk(spelling_of(conn), place), commits, gone))


@frozen
class _Desk:
    """Where a plan works."""

    spelling: Spelling
    place: Place


def _recording(desk: _Desk, facts: Sequence[Fact], now: datetime, *, again: bool) -> Plan[Recorded]:
    place, spelling = desk.place, desk.spelling
    facts = yield from erasure.sparing(spelling, facts)
    before, left = (yield from _taking_back(desk, facts)) if again else (_NO_FACTS, _NO_FACTS)
    fresh = yield from ledger.appending(spelling, place.repository, facts, now)
    # Others append meanwhile; whoever comes to fold later finds what is appended here.
    yield from folding.alone(spelling, place.installation)
    if not fresh:
        stands, _ = folding.found_in((yield folding.here(spelling, place.installation, place.repository)))
        return Recorded((), (), stands.repositories)
    known, cells = {**left, **fresh}, _cells(fresh, place)
    met, here, rows = yield from asked(
        together.meeting(spelling, known, known, place.installation),
        folding.here(spelling, place.installation, place.repository),
        totals.asking(spelling, cells),
    )
    after = yield from together.reaching(spelling, known, met, place.installation)
    stands, said = folding.found_in(here)
    if again or met or any(one.fact.repository not in stands.ids for one in fresh.values()):
        stands, said = yield from folding.around(spelling, place.installation)
    older = {**before, **{number: one for number, one in after.items() if number not in fresh}}
    new = [one.fact for one in fresh.values()]
    yield _seeing(spelling, new)
    recorded = frozenset(one.fact.commit for one in older.values())
    read = Known(stands, said, after, recorded, totals.found_in(cells, rows))
    old = read.folded(older) if older else ()
    changed, months = yield from _writing(desk, read, old, read.folded(after), everything=False)
    return Recorded(tuple(fact.commit for fact in new), changed, stands.repositories, months)


_NO_FACTS: Mapping[int, Keyed] = MappingProxyType({})


def _taking_back(desk: _Desk, facts: Sequence[Fact]) -> Plan[tuple[Mapping[int, Keyed], Mapping[int, Keyed]]]:
    """Forget what is recorded of these commits: all that folded with it, and what of that is left, which may have no
    more to do with what is measured anew."""
    place, spelling = desk.place, desk.spelling
    yield from folding.alone(spelling, place.installation)
    numbers = yield from ledger.numbers_of(spelling, place.repository, [fact.commit for fact in facts])
    known = yield from ledger.numbered(spelling, numbers)
    before = yield from together.closed_over(spelling, known, place.installation)
    yield from ledger.forgetting(spelling, numbers)
    return before, {number: one for number, one in before.items() if number not in known}


def _cells(facts: Mapping[int, Keyed], place: Place) -> list[totals.Cell]:
    """The cells to which these add where they have to do with nothing recorded, as nearly all do."""
    months = ((one.fact, month_of(one.fact.landed_at, place.zone)) for one in facts.values())
    return sorted({(person, place.repository, month) for fact, month in months for person in credited(fact)})


def _recounting(desk: _Desk, commits: Sequence[CommitId], gone: Sequence[Fact]) -> Plan[Recorded]:
    place, spelling = desk.place, desk.spelling
    yield from folding.alone(spelling, place.installation)
    stands, said = yield from folding.around(spelling, place.installation)
    numbers = yield from ledger.numbers_of(spelling, place.repository, commits)
    after = yield from together.closed_over(
        spelling, (yield from ledger.numbered(spelling, numbers)), place.installation
    )
    known = Known(stands, said, after)
    # Numbers below zero stand for no row.
    old = {**after, **{-1 - at: Keyed.of(fact) for at, fact in enumerate(gone)}}
    changed, months = yield from _writing(desk, known, known.folded(old), known.folded(after), everything=True)
    return Recorded((), changed, stands.repositories, months)


@frozen
class Known:
    """What a turn has read already."""

    stands: folding.Standing
    said: tuple[Classified, ...]
    facts: Mapping[int, Keyed] = field(default_factory=dict)
    """closed under what folds together"""
    recorded: frozenset[CommitId] = frozenset()
    """those of them that the ledger held before"""
    cells: totals.Stood = field(default_factory=dict)
    """what stands in those cells of the totals that were asked for"""

    def folded(self, facts: Mapping[int, Keyed]) -> tuple[Change, ...]:
        """The changes that these facts carry, as people corrected them, oldest first."""
        return folded(self, apart(facts), {number: one.fact for number, one in facts.items()})


def _writing(
    desk: _Desk, known: Known, old: Sequence[Change], folded: Sequence[Change], *, everything: bool
) -> Plan[tuple[tuple[Change, ...], frozenset[Month]]]:
    """Write the changes that look otherwise than before (or `everything`), and the months they touch."""
    spelling, ids, zone = desk.spelling, known.stands.ids, desk.place.zone
    changed, new, again = folded, folded, _NO_MONTHS
    if old or everything:
        changed, new, again = yield from _replacing(desk, known, (old, folded), everything=everything)
    yield changes.adding(spelling, rows_of(new, ids, zone))
    added = sums(new, ids, zone)
    if again:
        added = {cell: more for cell, more in added.items() if cell[0] not in again.get(cell[2], ())}
    yield from totals.adding(spelling, added, known.cells)
    for when, persons in sorted(again.items()):
        yield from _writing_totals(desk, known, when, sorted(persons))
    return tuple(changed), frozenset({*again, *_months(new, zone)})


_Touched = Mapping[Month, Set[PersonKey]]
_NO_MONTHS: _Touched = MappingProxyType({})


def _replacing(
    desk: _Desk, known: Known, before_and_after: tuple[Sequence[Change], Sequence[Change]], *, everything: bool
) -> Plan[tuple[Sequence[Change], Sequence[Change], _Touched]]:
    """Put what was recorded, and looks otherwise now, in its place: all that changed, what of it has to do with nothing
    recorded and is still to be added, and whose months are to be summed anew."""
    old, folded = before_and_after
    by_id = {change.id: change for change in old}
    changed = tuple(change for change in folded if everything or by_id.get(change.id) != change)
    ids = {change.id for change in folded}
    moved = ids.intersection(change.id for change in changed) | (set(by_id) - ids)
    was = [change for change in old if change.id in moved]
    met = [change for change in changed if everything or change.id in by_id or _holds(change, known.recorded)]
    apart = {change.id for change in met}
    new = [change for change in changed if change.id not in apart]
    rows = rows_of(met, known.stands.ids, desk.place.zone)
    yield changes.replacing(desk.spelling, sorted(set(by_id) - ids), rows)
    return changed, new, _touched([*was, *met], desk.place.zone)


def folded(known: Known, apart: Collection[int], facts: Mapping[int, Fact]) -> tuple[Change, ...]:
    """The changes of these facts; those `apart` have to do with no other, and nearly all are."""
    found: list[Change] = []
    together: list[Fact] = []
    for number, fact in facts.items():
        change = alone(fact) if number in apart and fact.repository in known.stands.ids else None
        if change is None:
            together.append(fact)
        else:
            found.append(change)
    found += fold(together, known.stands.repositories) if together else ()
    return corrected(sorted(found, key=attrgetter("landed_at", "id")), known.said)


def _holds(change: Change, recorded: frozenset[CommitId]) -> bool:
    """Whether something of it was counted before."""
    return bool(recorded) and any(commit.fact.commit in recorded for commit in change.commits)


def _seeing(spelling: Spelling, facts: Iterable[Fact]) -> list[Said]:
    newest: dict[Signature, tuple[int, CommitId]] = {}
    for fact in facts:
        for sig in (fact.author, *fact.co_authors):
            newest[sig] = max(newest.get(sig, _NEVER), (fact.landed_at, fact.commit))
    return people.seeing(spelling, [people.Seen(_named(sig), *age) for sig, age in newest.items()])


_NEVER = (0, CommitId(""))


@lru_cache(maxsize=4096)
def _named(sig: Signature) -> Person:
    """The same people land again and again."""
    emails = (sig.email.lower(),) if sig.email else ()
    return Person(person_key(sig), sig.name, emails, sig.login, sig.user_id, is_bot(sig), (sig.name,))


# --- totals ----------------------------------------------------------------------------------------------------------


def _touched(found: Iterable[Change], zone: ZoneInfo) -> dict[Month, set[PersonKey]]:
    """Whose months these changes belong to."""
    touched: dict[Month, set[PersonKey]] = defaultdict(set)
    for change in found:
        everybody: set[PersonKey] = set()
        for commit in change.commits:
            here = credited(commit.fact)
            touched[month_of(commit.fact.landed_at, zone)].update(here)
            everybody.update(here)
        touched[month_of(change.landed_at, zone)] |= everybody
    return touched


def _months(found: Iterable[Change], zone: ZoneInfo) -> set[Month]:
    """The months in which these landed, and those that delivered them."""
    landed = {month_of(commit.fact.landed_at, zone) for change in found for commit in change.commits}
    return landed | {month_of(change.landed_at, zone) for change in found}


def _writing_totals(desk: _Desk, known: Known, when: Month, persons: Sequence[PersonKey]) -> Plan[None]:
    """One month of these people, summed from its facts."""
    spelling, within, zone = desk.spelling, desk.place.installation, desk.place.zone
    facts = yield from folding.month_of_people(spelling, persons, when, within=within, known=known.facts)
    wanted = frozenset(persons)
    others = [number for number in apart(facts) if wanted.isdisjoint(credited(facts[number].fact))]
    for number in others:
        del facts[number]
    found = sums(known.folded(facts), known.stands.ids, zone)
    gone = yield from folding.cells_of_month(spelling, persons, when, within=within)
    theirs = {cell: all_of_it for cell, all_of_it in found.items() if cell[2] == when and cell[0] in wanted}
    yield from totals.writing(spelling, theirs, empty=gone)
