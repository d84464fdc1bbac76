"""How facts enter the ledger, and what they change: changes, contributions and totals, in the caller's transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from sqlalchemy import Connection

from bot.landing.changes import fold, single_fact_change
from bot.landing.corrections import Classification, apply_corrections
from bot.landing.identity.credit import credited_keys, is_bot, person_key
from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.commit import Person, Repository, Signature
from bot.model.fact import Fact
from bot.model.ids import ChangeId, CommitId, InstallationId, Month, PersonKey, RepositoryId
from bot.services.recording.change_rows import change_rows
from bot.services.recording.sums import sums
from bot.store import changes, erasure, folding, ledger, people, totals
from bot.store.fact_keys import KeyedFact, unconnected, with_keys
from bot.store.together import facts_folding_with


class RecordingTarget(Struct, frozen=True):
    """Where facts are recorded: one repository of one installation; months are cut in `zone`."""

    installation: InstallationId
    repository: RepositoryId
    zone: ZoneInfo


class Recorded(Struct, frozen=True):
    """What a recording did: the commits that were new, and every change that looks otherwise than before."""

    new: tuple[CommitId, ...]
    changed: tuple[Change, ...]
    repositories: Mapping[str, Repository]
    """all that these changes may have to do with"""
    months: frozenset[Month] = frozenset()
    """every month whose numbers or words this touches"""


def record(
    connection: Connection, target: RecordingTarget, facts: Sequence[Fact], *, now: datetime, again: bool = False
) -> Recorded:
    """Append facts and fold what they touch. With `again`, facts known already are measured anew and replace the old.

    The outcome depends on the set of facts alone. Work that nothing recorded has to do with is added to the totals;
    where something recorded looks otherwise now, the months it touches are summed anew from their facts.
    """
    facts = erasure.without_erased(connection, facts)
    before, left = _forget_measured(connection, target, facts) if again else (_NO_FACTS, _NO_FACTS)
    fresh = ledger.append_facts(connection, target.repository, facts, now)
    # Others append meanwhile; whoever comes to fold later finds what is appended here.
    folding.lock_installation(connection, target.installation)
    stands, said = folding.read_repository(connection, target.installation, target.repository)
    if not fresh:
        return Recorded((), (), stands.repositories)
    known = {**left, **fresh}
    after = facts_folding_with(connection, known, target.installation)
    if again or len(after) > len(known) or any(one.fact.repository not in stands.ids for one in fresh.values()):
        stands, said = folding.read_installation(connection, target.installation)
    older = {**before, **{number: one for number, one in after.items() if number not in fresh}}
    new = [one.fact for one in fresh.values()]
    _see_people(connection, new)
    recorded = frozenset(one.fact.commit for one in older.values())
    read = LedgerState(stands, said, after, recorded, totals.read_cells(connection, _cells(fresh, target)))
    old = read.folded(older) if older else ()
    changed, months = _write(connection, target, read, (old, read.folded(after)), everything=False)
    return Recorded(tuple(fact.commit for fact in new), changed, stands.repositories, months)


def recount(
    connection: Connection, target: RecordingTarget, commits: Sequence[CommitId], *, gone: Sequence[Fact] = ()
) -> Recorded:
    """Fold again what belongs to these commits and write it, whatever was there; `gone` are facts just deleted."""
    folding.lock_installation(connection, target.installation)
    stands, said = folding.read_installation(connection, target.installation)
    after = _recorded(connection, target, ledger.numbers_of(connection, target.repository, commits))
    known = LedgerState(stands, said, after)
    # Numbers below zero stand for no row.
    old = {**after, **{-1 - at: KeyedFact.of(fact) for at, fact in enumerate(gone)}}
    changed, months = _write(connection, target, known, (known.folded(old), known.folded(after)), everything=True)
    return Recorded((), changed, stands.repositories, months)


_NO_FACTS: Mapping[int, KeyedFact] = MappingProxyType({})


def _forget_measured(
    connection: Connection, place: RecordingTarget, facts: Sequence[Fact]
) -> tuple[Mapping[int, KeyedFact], Mapping[int, KeyedFact]]:
    """Forget what is recorded of these commits: all that folded with it, and what of that is left, which may have no
    more to do with what is measured anew."""
    folding.lock_installation(connection, place.installation)
    numbers = ledger.numbers_of(connection, place.repository, [fact.commit for fact in facts])
    before = _recorded(connection, place, numbers)
    ledger.delete_facts(connection, numbers)
    gone = frozenset(numbers)
    return before, {number: one for number, one in before.items() if number not in gone}


def _recorded(connection: Connection, place: RecordingTarget, numbers: Sequence[int]) -> dict[int, KeyedFact]:
    """The facts of these rows, with all that folds with them."""
    return facts_folding_with(connection, with_keys(ledger.numbered_facts(connection, numbers)), place.installation)


def _cells(facts: Mapping[int, KeyedFact], target: RecordingTarget) -> list[totals.Cell]:
    """The cells to which these add where they have to do with nothing recorded, as nearly all do."""
    months = ((one.fact, month_of(one.fact.landed_at, target.zone)) for one in facts.values())
    return sorted({(person, target.repository, month) for fact, month in months for person in credited_keys(fact)})


class LedgerState(Struct, frozen=True):
    """What a recording has read already."""

    stored_state: folding.Standing
    classifications: tuple[Classification, ...]
    facts: Mapping[int, KeyedFact] = field(default_factory=dict)
    """closed under what folds together"""
    recorded: frozenset[CommitId] = frozenset()
    """those of them that the ledger held before"""
    cells: totals.Found = field(default_factory=dict)
    """what the cells of the totals hold that were read already"""

    def folded(self, facts: Mapping[int, KeyedFact]) -> tuple[Change, ...]:
        """The changes that these facts carry, as people corrected them, oldest first."""
        return fold_state(self, unconnected(facts), {number: one.fact for number, one in facts.items()})


BeforeAndAfter = tuple[Sequence[Change], Sequence[Change]]


def _write(
    connection: Connection,
    place: RecordingTarget,
    known: LedgerState,
    before_and_after: BeforeAndAfter,
    *,
    everything: bool,
) -> tuple[tuple[Change, ...], frozenset[Month]]:
    """Write the changes that look otherwise than before (or `everything`), and the months they touch."""
    ids, zone = known.stored_state.ids, place.zone
    old, folded = before_and_after
    changed, new, again = folded, folded, _NO_MONTHS
    if old or everything:
        difference = _difference(known, before_and_after, everything=everything)
        rows = change_rows(difference.replaced, ids, zone)
        changes.replace_changes(connection, difference.gone, rows)
        changed, new, again = difference.changed, difference.new, _touched_months(difference.recounted, zone)
    changes.add_changes(connection, change_rows(new, ids, zone))
    added = sums(new, ids, zone)
    if again:
        added = {cell: more for cell, more in added.items() if cell[0] not in again.get(cell[2], ())}
    totals.add_to_cells(connection, added, known.cells)
    for when, persons in sorted(again.items()):
        _write_month(connection, place, known, (when, sorted(persons)))
    return tuple(changed), frozenset({*again, *_months(new, zone)})


_PeopleByMonth = Mapping[Month, Set[PersonKey]]
_NO_MONTHS: _PeopleByMonth = MappingProxyType({})


class _Difference(Struct, frozen=True):
    """What a fold changes of what was recorded."""

    changed: tuple[Change, ...]
    replaced: tuple[Change, ...]
    """those of them that take the place of something recorded"""
    new: tuple[Change, ...]
    """those of them that have to do with nothing recorded, and are still to be added"""
    gone: tuple[ChangeId, ...]
    recounted: tuple[Change, ...]
    """changes whose people's months are to be summed again"""


def _difference(known: LedgerState, before_and_after: BeforeAndAfter, *, everything: bool) -> _Difference:
    old, folded = before_and_after
    by_id = {change.id: change for change in old}
    changed = tuple(change for change in folded if everything or by_id.get(change.id) != change)
    ids = {change.id for change in folded}
    moved = ids.intersection(change.id for change in changed) | (set(by_id) - ids)
    was = [change for change in old if change.id in moved]
    met = [
        change for change in changed if everything or change.id in by_id or _has_recorded_commit(change, known.recorded)
    ]
    replaced = {change.id for change in met}
    return _Difference(
        changed=changed,
        replaced=tuple(met),
        new=tuple(change for change in changed if change.id not in replaced),
        gone=tuple(sorted(set(by_id) - ids)),
        recounted=(*was, *met),
    )


def fold_state(known: LedgerState, unconnected: Collection[int], facts: Mapping[int, Fact]) -> tuple[Change, ...]:
    """The changes of these facts; those `apart` have to do with no other, and nearly all are."""
    found: list[Change] = []
    connected: list[Fact] = []
    for number, fact in facts.items():
        change = (
            single_fact_change(fact) if number in unconnected and fact.repository in known.stored_state.ids else None
        )
        if change is None:
            connected.append(fact)
        else:
            found.append(change)
    found += fold(connected, known.stored_state.repositories) if connected else ()
    return apply_corrections(sorted(found, key=attrgetter("landed_at", "id")), known.classifications)


def _has_recorded_commit(change: Change, recorded: frozenset[CommitId]) -> bool:
    """Whether something of it was counted before."""
    return bool(recorded) and any(commit.fact.commit in recorded for commit in change.commits)


def _see_people(connection: Connection, facts: Iterable[Fact]) -> None:
    newest: dict[Signature, tuple[int, CommitId]] = {}
    for fact in facts:
        for sig in (fact.author, *fact.co_authors):
            newest[sig] = max(newest.get(sig, _NEVER), (fact.landed_at, fact.commit))
    people.see_landed_people(connection, [people.PersonSighting(_person_of(sig), *age) for sig, age in newest.items()])


_NEVER = (0, CommitId(""))


@lru_cache(maxsize=4096)
def _person_of(sig: Signature) -> Person:
    """The same people land again and again."""
    emails = (sig.email.lower(),) if sig.email else ()
    return Person(person_key(sig), sig.name, emails, sig.login, sig.user_id, is_bot(sig), (sig.name,))


# --- totals ----------------------------------------------------------------------------------------------------------


def _touched_months(found: Iterable[Change], zone: ZoneInfo) -> dict[Month, set[PersonKey]]:
    """Whose months these changes belong to."""
    touched: dict[Month, set[PersonKey]] = defaultdict(set)
    for change in found:
        everybody: set[PersonKey] = set()
        for commit in change.commits:
            persons = credited_keys(commit.fact)
            touched[month_of(commit.fact.landed_at, zone)].update(persons)
            everybody.update(persons)
        touched[month_of(change.landed_at, zone)] |= everybody
    return touched


def _months(found: Iterable[Change], zone: ZoneInfo) -> set[Month]:
    """The months in which these landed, and those that delivered them."""
    landed = {month_of(commit.fact.landed_at, zone) for change in found for commit in change.commits}
    return landed | {month_of(change.landed_at, zone) for change in found}


def _write_month(
    connection: Connection, place: RecordingTarget, known: LedgerState, cells: tuple[Month, Sequence[PersonKey]]
) -> None:
    """One month of these people, summed from its facts."""
    (when, persons), within = cells, place.installation
    facts = folding.month_of_people(connection, persons, when, within=within, known=known.facts)
    wanted = frozenset(persons)
    others = [number for number in unconnected(facts) if wanted.isdisjoint(credited_keys(facts[number].fact))]
    for number in others:
        del facts[number]
    found = sums(known.folded(facts), known.stored_state.ids, place.zone)
    gone = folding.cells_of_month(connection, persons, when, within=within)
    theirs = {cell: all_of_it for cell, all_of_it in found.items() if cell[2] == when and cell[0] in wanted}
    totals.write_cells(connection, theirs, empty=gone)
