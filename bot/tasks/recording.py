"""How facts enter the ledger, and what they change: changes, contributions and totals, in the caller's transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.changes import fold
from bot.landing.corrections import corrected
from bot.landing.identity import is_bot, person_key
from bot.landing.months import month_of
from bot.metrics.totals import work_by_month
from bot.model import (
    Change,
    ChangeId,
    CommitId,
    Fact,
    InstallationId,
    Lines,
    Month,
    Person,
    PersonKey,
    Repository,
    RepositoryId,
)
from bot.store import changes, erasure, ledger, months, people, totals
from bot.store.installations import repositories_of
from bot.tasks.correcting import fold_corrected, said_in
from bot.tasks.totals_of_month import cells


@dataclass(frozen=True, slots=True)
class Place:
    """Where facts are recorded: one repository of one installation; months are cut in `zone`."""

    installation: InstallationId
    repository: RepositoryId
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recording did: the commits that were new, and every change that looks otherwise than before."""

    new: tuple[CommitId, ...]
    changed: tuple[Change, ...]
    repositories: Mapping[str, Repository]
    months: frozenset[Month] = frozenset()
    """every month whose numbers or words this touches"""


async def record(
    conn: AsyncConnection, place: Place, facts: Sequence[Fact], *, now: datetime, again: bool = False
) -> Recorded:
    """Append facts and fold what they touch. With `again`, facts known already are measured anew and replace the old.

    The outcome depends on the set of facts alone: totals of every month touched are summed from their facts.
    """
    repositories = await _repositories(conn, place)
    facts = await erasure.without_buried(conn, facts)
    seeds = [(place.repository, fact.commit) for fact in facts]
    before = await ledger.component(conn, seeds, installation_id=place.installation)
    if again:
        await ledger.forget_facts(conn, place.repository, [fact.commit for fact in facts])
    new = await ledger.add_facts(conn, place.repository, facts, now=now)
    if not new:
        return Recorded((), (), repositories)
    after = await ledger.component(conn, seeds, installation_id=place.installation)
    fresh = set(new)
    kept = [fact for fact in after if fact.commit not in fresh]
    said = await said_in(conn, repositories)
    old = {change.id: change for change in corrected(fold(_distinct([*before, *kept]), repositories), said)}
    folded = corrected(fold(after, repositories), said)
    changed = tuple(change for change in folded if old.get(change.id) != change)
    gone = set(old) - {change.id for change in folded}
    await _see_people(conn, [fact for fact in after if fact.commit in fresh])
    touched = _touched([*changed, *old.values()], place.zone)
    await _write(conn, place, (gone, changed, repositories), touched)
    return Recorded(tuple(new), changed, repositories, frozenset(touched))


async def recount(
    conn: AsyncConnection, place: Place, commits: Sequence[CommitId], *, gone: Sequence[Fact] = ()
) -> Recorded:
    """Fold anew what belongs to these commits and write it, whatever stood there; `gone` are facts just deleted."""
    repositories = await _repositories(conn, place)
    seeds = [(place.repository, commit) for commit in commits]
    facts = await ledger.component(conn, seeds, installation_id=place.installation)
    said = await said_in(conn, repositories)
    changed = corrected(fold(facts, repositories), said)
    old = corrected(fold(_distinct([*facts, *gone]), repositories), said)
    lost = {change.id for change in old} - {change.id for change in changed}
    touched = _touched([*changed, *old], place.zone)
    await _write(conn, place, (lost, changed, repositories), touched)
    return Recorded((), changed, repositories, frozenset(touched))


async def _repositories(conn: AsyncConnection, place: Place) -> dict[str, Repository]:
    installed = await repositories_of(conn, place.installation)
    return {stored.repository.full_name: stored.repository for stored in installed}


async def _write(
    conn: AsyncConnection,
    place: Place,
    found: tuple[Iterable[ChangeId], Sequence[Change], Mapping[str, Repository]],
    touched: Mapping[Month, set[PersonKey]],
) -> None:
    gone, changed, repositories = found
    ids = {name: repository.id for name, repository in repositories.items() if repository.id is not None}
    await _write_changes(conn, gone, changed, _Context(ids, place.zone))
    await _write_totals(conn, place, touched, repositories)


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    return list({(fact.repository, fact.commit): fact for fact in facts}.values())


async def _see_people(conn: AsyncConnection, facts: Sequence[Fact]) -> None:
    persons: dict[PersonKey, Person] = {}
    for fact in facts:
        for sig in (fact.author, *fact.co_authors):
            key = person_key(sig)
            emails = (sig.email.lower(),) if sig.email else ()
            persons[key] = Person(key, sig.name, emails, sig.login, sig.user_id, is_bot(sig), (sig.name,))
    await people.see_people(conn, persons.values())


@dataclass(frozen=True, slots=True)
class _Context:
    ids: Mapping[str, RepositoryId]
    zone: ZoneInfo


async def _write_changes(
    conn: AsyncConnection, gone: Iterable[ChangeId], changed: Sequence[Change], context: _Context
) -> None:
    rows = [
        changes.ChangeRow(
            id=change.id,
            repository_id=context.ids[change.repository],
            month=month_of(change.landed_at, context.zone),
            landed_at=change.landed_at,
            kind=change.kind,
            state=change.state,
            pull_request=change.pull_request,
            payload={"title": change.title, "why": change.why, "commits": [c.fact.commit for c in change.commits]},
        )
        for change in changed
        if change.repository in context.ids
    ]
    parts = [part for change in changed if change.repository in context.ids for part in _parts(change, context)]
    await changes.replace(conn, gone, rows, parts)


def _parts(change: Change, context: _Context) -> list[changes.Contribution]:
    """Everybody's part in one change, by repository and month."""
    commits: Counter[tuple[PersonKey, RepositoryId, Month]] = Counter()
    helped: Counter[tuple[PersonKey, RepositoryId, Month]] = Counter()
    lines: dict[tuple[PersonKey, RepositoryId, Month], Lines] = defaultdict(Lines)
    for commit in change.counted:
        where = context.ids.get(commit.fact.repository)
        if where is None:
            continue
        month = month_of(commit.fact.landed_at, context.zone)
        author = (person_key(commit.fact.author), where, month)
        commits[author] += 1
        lines[author] += commit.lines
        for sig in commit.fact.co_authors:
            helped[person_key(sig), where, month] += 1
    return [
        changes.Contribution(change.id, *cell, commits[cell], helped[cell], lines[cell])
        for cell in sorted({*commits, *helped})
    ]


# --- totals ----------------------------------------------------------------------------------------------------------


def _touched(found: Iterable[Change], zone: ZoneInfo) -> dict[Month, set[PersonKey]]:
    """Whose months these changes belong to."""
    touched: dict[Month, set[PersonKey]] = defaultdict(set)
    for change in found:
        everybody: set[PersonKey] = set()
        for commit in change.commits:
            here = {person_key(sig) for sig in (commit.fact.author, *commit.fact.co_authors)}
            touched[month_of(commit.fact.landed_at, zone)] |= here
            everybody |= here
        touched[month_of(change.landed_at, zone)] |= everybody
    return touched


async def _write_totals(
    conn: AsyncConnection,
    place: Place,
    touched: Mapping[Month, set[PersonKey]],
    repositories: Mapping[str, Repository],
) -> None:
    ids = {name: repository.id for name, repository in repositories.items() if repository.id is not None}
    for month, persons in sorted(touched.items()):
        facts = await months.component_of_month(
            conn, sorted(persons), month, zone=place.zone, within=place.installation
        )
        folded = await fold_corrected(conn, facts, repositories)
        rows: list[totals.Totals] = []
        for person in sorted(persons):
            work = work_by_month(folded, (person,), place.zone).get(month)
            if work is not None:
                rows += cells(work, person, ids, place.zone)
        gone = await months.cells_of_month(conn, sorted(persons), month, within=place.installation)
        await totals.replace(conn, gone, rows)
