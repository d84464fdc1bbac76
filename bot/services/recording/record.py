"""How do facts enter the ledger, and which changes, contributions and totals follow, in the caller's transaction?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.changes import fold, single_fact_change
from bot.landing.corrections import Corrections, apply_corrections
from bot.landing.identity.addresses import app_of
from bot.landing.identity.credit import credited_keys, person_key
from bot.landing.identity.evidence import merged_evidence, with_shares
from bot.landing.identity.naming import signatures_of
from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.commit import Repository, Signature
from bot.model.fact import Evidence, Fact
from bot.model.ids import ChangeId, CommitId, InstallationId, Month, PersonKey, RepositoryId
from bot.services.recording.change_rows import change_rows, sums
from bot.store import changes, erasure, folding, ledger, people, totals
from bot.store.fact_keys import KeyedFact, unconnected_facts, with_keys
from bot.store.folding import facts_folding_with


class RecordingTarget(Struct, frozen=True):
    """Where facts are recorded: one repository of one installation. Months are counted in `zone`."""

    installation: InstallationId
    repository: RepositoryId
    zone: ZoneInfo


class Recorded(Struct, frozen=True):
    """The result of a recording: the new commits, and every change that differs from before."""

    new: tuple[CommitId, ...]
    changed: tuple[Change, ...]
    repositories: Mapping[str, Repository]
    """all repositories that these changes may involve"""
    months: frozenset[Month] = frozenset()
    """every month whose numbers or texts are affected"""


def record(
    connection: Connection, target: RecordingTarget, facts: Sequence[Fact], *, now: datetime, again: bool = False
) -> Recorded:
    """Append facts and fold what they affect. With `again`, facts replace recorded ones of the same commits.

    The result depends only on the set of facts. Work unconnected to anything recorded is added to the totals; if
    anything recorded changes, the affected months are summed again from their facts.
    """
    facts = erasure.facts_without_erased(connection, facts)
    before, left = _NO_FACTS, _NO_FACTS
    if again:
        before, left = _forget_measured(connection, target, facts)
        facts = _with_recorded_evidence(facts, before)
    fresh = ledger.append_facts(connection, target.repository, facts, now)
    # Other transactions may append before the lock; the one that folds later finds these facts.
    folding.lock_installation(connection, target.installation)
    stored_state, corrections = folding.read_repository(connection, target.installation, target.repository)
    if not fresh:
        return Recorded((), (), stored_state.repositories)
    known = {**left, **fresh}
    after = facts_folding_with(connection, known, target.installation)
    if again or len(after) > len(known) or any(one.fact.repository not in stored_state.ids for one in fresh.values()):
        stored_state, corrections = folding.read_installation(connection, target.installation)
    older = {**before, **{number: one for number, one in after.items() if number not in fresh}}
    new = [one.fact for one in fresh.values()]
    _see_people(connection, new)
    recorded = frozenset(one.fact.commit for one in older.values())
    read = LedgerState(stored_state, corrections, after, recorded, totals.read_cells(connection, _cells(fresh, target)))
    old = read.folded_changes(older) if older else ()
    changed, months = _write(connection, target, read, (old, read.folded_changes(after)), everything=False)
    return Recorded(tuple(fact.commit for fact in new), changed, stored_state.repositories, months)


def _with_recorded_evidence(facts: Sequence[Fact], before: Mapping[int, KeyedFact]) -> list[Fact]:
    """The facts with what GitHub said of the same commits when they were recorded: evidence is only added."""
    said = {(one.fact.repository, one.fact.commit): one.fact for one in before.values()}
    found = []
    for fact in facts:
        old = said.get((fact.repository, fact.commit))
        if old is not None and old.evidence is not None:
            evidence = merged_evidence(old.evidence, fact.evidence)
            shares = evidence.shares if evidence else ()
            fact = replace(fact, evidence=evidence, co_authors=with_shares(fact.co_authors, fact.author, shares))
        found.append(fact)
    return found


def raise_evidence(
    connection: Connection, target: RecordingTarget, commits: Sequence[CommitId], more: Evidence, *, now: datetime
) -> Recorded | None:
    """Add what a later answer says of recorded commits; None if it adds nothing."""
    stored = ledger.hashed_facts_at(connection, target.repository, commits)
    found = [fact for fact in stored if fact.evidence is not None]
    raised = [replace(fact, evidence=merged_evidence(fact.evidence, more)) for fact in found]
    changed = [new for old, new in zip(found, raised, strict=True) if old != new]
    return record(connection, target, changed, now=now, again=True) if changed else None


def recount(
    connection: Connection, target: RecordingTarget, commits: Sequence[CommitId], *, gone: Sequence[Fact] = ()
) -> Recorded:
    """Fold the facts connected to these commits again and write the result; `gone` are facts just deleted."""
    folding.lock_installation(connection, target.installation)
    stored_state, corrections = folding.read_installation(connection, target.installation)
    after = _recorded(connection, target, ledger.numbers_of(connection, target.repository, commits))
    known = LedgerState(stored_state, corrections, after)
    # Numbers below zero stand for no row.
    old = {**after, **{-1 - at: KeyedFact.of(fact) for at, fact in enumerate(gone)}}
    changed, months = _write(
        connection, target, known, (known.folded_changes(old), known.folded_changes(after)), everything=True
    )
    return Recorded((), changed, stored_state.repositories, months)


_NO_FACTS: Mapping[int, KeyedFact] = MappingProxyType({})


def _forget_measured(
    connection: Connection, target: RecordingTarget, facts: Sequence[Fact]
) -> tuple[Mapping[int, KeyedFact], Mapping[int, KeyedFact]]:
    """Delete the recorded facts of these commits.

    Returns all facts that folded with them, and those of them that remain, which may be unconnected to the new facts.
    """
    folding.lock_installation(connection, target.installation)
    numbers = ledger.numbers_of(connection, target.repository, [fact.commit for fact in facts])
    before = _recorded(connection, target, numbers)
    ledger.delete_facts(connection, numbers)
    gone = frozenset(numbers)
    return before, {number: one for number, one in before.items() if number not in gone}


def _recorded(connection: Connection, target: RecordingTarget, numbers: Sequence[int]) -> dict[int, KeyedFact]:
    """The facts of these rows, and all facts that fold with them."""
    return facts_folding_with(connection, with_keys(ledger.numbered_facts(connection, numbers)), target.installation)


def _cells(facts: Mapping[int, KeyedFact], target: RecordingTarget) -> list[totals.Cell]:
    """The cells that these facts add to if they are unconnected to anything recorded, as nearly all are."""
    months = ((one.fact, month_of(one.fact.landed_at, target.zone)) for one in facts.values())
    return sorted({(person, target.repository, month) for fact, month in months for person in credited_keys(fact)})


class LedgerState(Struct, frozen=True):
    """What a recording has read from the database."""

    stored_state: folding.Standing
    corrections: Corrections
    facts: Mapping[int, KeyedFact] = field(default_factory=dict)
    """including all facts that fold with them"""
    recorded: frozenset[CommitId] = frozenset()
    """commits of those that were in the ledger before"""
    cells: totals.Found = field(default_factory=dict)
    """the contents of the cells read so far"""

    def folded_changes(self, facts: Mapping[int, KeyedFact]) -> tuple[Change, ...]:
        """The changes that these facts fold into, with people's corrections, oldest first."""
        return fold_state(self, unconnected_facts(facts), {number: one.fact for number, one in facts.items()})


BeforeAndAfter = tuple[Sequence[Change], Sequence[Change]]


def _write(
    connection: Connection,
    target: RecordingTarget,
    known: LedgerState,
    before_and_after: BeforeAndAfter,
    *,
    everything: bool,
) -> tuple[tuple[Change, ...], frozenset[Month]]:
    """Write the changes that differ from before (or `everything`), and the months they affect."""
    ids, zone = known.stored_state.ids, target.zone
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
        _write_month(connection, target, known, (when, sorted(persons)))
    return tuple(changed), frozenset({*again, *_months(new, zone)})


_PeopleByMonth = Mapping[Month, Set[PersonKey]]
_NO_MONTHS: _PeopleByMonth = MappingProxyType({})


class _Difference(Struct, frozen=True):
    """How folding changes what was recorded."""

    changed: tuple[Change, ...]
    replaced: tuple[Change, ...]
    """the changed ones that replace something recorded"""
    new: tuple[Change, ...]
    """the changed ones unconnected to anything recorded, still to be added"""
    gone: tuple[ChangeId, ...]
    recounted: tuple[Change, ...]
    """changes whose contributors' months must be summed again"""


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
    """The changes of these facts; those in `unconnected` fold with no other, and nearly all are such."""
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
    return apply_corrections(sorted(found, key=attrgetter("landed_at", "id")), known.corrections)


def _has_recorded_commit(change: Change, recorded: frozenset[CommitId]) -> bool:
    """Whether any of its commits was recorded before."""
    return bool(recorded) and any(commit.fact.commit in recorded for commit in change.commits)


def _see_people(connection: Connection, facts: Iterable[Fact]) -> None:
    """Save the accounts that GitHub resolved, and nothing that only a commit says: names, trailers, addresses."""
    newest: dict[Signature, tuple[int, CommitId]] = {}
    for fact in facts:
        for sig in signatures_of(fact):
            newest[sig] = max(newest.get(sig, _NEVER), (fact.landed_at, fact.commit))
    accounts = [
        people.GitHubAccount(sig.user_id, sig.login, sig.bot, sig.email, *age)
        for sig, age in newest.items()
        if sig.user_id is not None and sig.login and app_of(sig.email, sig.host) is None
    ]
    people.see_accounts(connection, accounts)
    people.see_addresses(connection, {key for sig in newest if (key := person_key(sig)).startswith("e:")})


_NEVER = (0, CommitId(""))


# --- totals ----------------------------------------------------------------------------------------------------------


def _touched_months(found: Iterable[Change], zone: ZoneInfo) -> dict[Month, set[PersonKey]]:
    """The months of these changes, with the people in them."""
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
    """The months in which their commits landed, and those in which they count as delivered."""
    landed = {month_of(commit.fact.landed_at, zone) for change in found for commit in change.commits}
    return landed | {month_of(change.landed_at, zone) for change in found}


def _write_month(
    connection: Connection, target: RecordingTarget, known: LedgerState, cells: tuple[Month, Sequence[PersonKey]]
) -> None:
    """Write one month of these people, summed from its facts."""
    (when, persons), within = cells, target.installation
    facts = folding.month_of_people(connection, persons, when, within=within, known=known.facts)
    wanted = frozenset(persons)
    others = [number for number in unconnected_facts(facts) if wanted.isdisjoint(credited_keys(facts[number].fact))]
    for number in others:
        del facts[number]
    found = sums(known.folded_changes(facts), known.stored_state.ids, target.zone)
    gone = folding.cells_of_month(connection, persons, when, within=within)
    theirs = {cell: all_of_it for cell, all_of_it in found.items() if cell[2] == when and cell[0] in wanted}
    totals.write_cells(connection, theirs, empty=gone)
