"""One batch of a repository's landed commits is read from its clone and recorded, as its deliveries would have been."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, select

from bot.github.client import Client
from bot.history.clone import Clone
from bot.history.fetching import Fetched
from bot.history.log import Arrival, landings
from bot.landing.recognition import recognise
from bot.metrics.measure import Measure, measure
from bot.model import CommitId, Fact, InstallationId, Landing, PullRequest, RepositoryId
from bot.queue.interface import Job, RetryLater
from bot.store import backfills, installations, pulls, rules_read
from bot.store.backfills import Backfill
from bot.store.installations import Stored
from bot.store.ledger import FACT
from bot.store.pulls import PullRequestRow
from bot.tasks.backfill import at_hand, defer, finished
from bot.tasks.backfill_accounts import Accounts, addresses_of
from bot.tasks.close_month import retell
from bot.tasks.measuring import witnesses
from bot.tasks.pull_request_json import known
from bot.tasks.recording import Place, record
from bot.tasks.rules_now import rules_now
from bot.tasks.workplace import Workplace, asking_github

BATCH = 200
"""commits recorded in one transaction: enough to hide git's start, few enough that live jobs do not wait for long"""


async def backfill_commits(job: Job, place: Workplace) -> None:
    """Record the next batch of the plan; the facts, how far it is and the next step are one transaction."""
    found = await at_hand(job, place)
    if found is None:
        return
    one, clone, head = found
    one = await _planned(one, clone, head)
    client = place.reader(one.installation_id, one.repository_id)
    rows = await asyncio.to_thread(clone.planned, head, one.commits_done, BATCH)
    batch = await _read(place, client, _Reading(one, clone, clone.at(head)), rows)
    now = place.clock()
    target = Place(one.installation_id, one.repository_id, place.zone)
    done = one.commits_done + len(rows)

    def written(connection: Connection) -> None:
        recorded = record(connection, target, batch.facts, now=now, again=batch.again)
        stands = installations.repository(connection, one.repository_id)
        if stands is None or _place_of(stands) != (one.installation_id, clone.repository.full_name):
            raise RetryLater(1.0, "the repository moved during the backfill")
        retell(connection, place, target, recorded)
        spent = {"requests": one.requests + batch.requests, "points": one.points + batch.points}
        backfills.move(connection, one.repository_id, commits=one.commits, commits_done=done, **spent)
        if done < one.commits:
            defer(connection, place, one, "backfill_commits")
        else:
            backfills.forget_brought(connection, one.repository_id)
            # What was recorded here is not looked through for changes of the rules: the next landing reads them.
            rules_read.forget(connection, one.repository_id)
            finished(connection, place, one)
        job.finish(connection)

    await place.store.write_without_flush(written)
    if done >= one.commits:
        await asyncio.to_thread(clone.remove)


def _place_of(one: Stored) -> tuple[InstallationId | None, str]:
    """Which installation reaches it, if any does, and under which name."""
    return None if one.removed_at is not None else one.installation_id, one.repository.full_name


async def _planned(one: Backfill, clone: Fetched, head: CommitId) -> Backfill:
    """The reading with its plan on disk; made anew where another machine made it, or it was lost."""
    if clone.is_planned(head) and one.commits:
        return one
    return replace(one, commits=await asyncio.to_thread(clone.plan, head))


# --- reading and measuring -------------------------------------------------------------------------------------------


class _Reading(Struct, frozen=True):
    one: Backfill
    fetched: Fetched
    clone: Clone


class _Batch(Struct, frozen=True):
    facts: tuple[Fact, ...] = ()
    again: bool = False
    requests: int = 0
    points: int = 0


async def _read(place: Workplace, client: Client, here: _Reading, rows: Sequence[Arrival]) -> _Batch:
    """The facts of a batch that the ledger does not hold, or holds as they were before their pull request was known."""
    with asking_github():
        rules = await (await rules_now(place, client, here.clone.repository, touched=False)).measure()
    found = await asyncio.to_thread(_unmeasured, here.clone, rows)

    def read(connection: Connection) -> tuple[dict[CommitId, datetime], Mapping[CommitId, PullRequestRow]]:
        told = _pulls_of(connection, here, found, rules)
        recorded = _recorded(connection, here.one.repository_id, [one.commit.id for one in found])
        return recorded, told

    recorded, told = await place.store.read(read)
    stale = {commit for commit, at in recorded.items() if commit in told and at <= told[commit].read_at}
    wanted = [one for one in found if one.commit.id not in recorded or one.commit.id in stale]
    people = addresses_of(c for one in wanted for c in (one.commit, one.carrier))
    accounts = Accounts.of(here.fetched, people)
    if accounts.lacking:
        # Who is asked for at all is asked for together with those of the batches to come.
        everybody = await asyncio.to_thread(here.fetched.addresses, here.clone.head)
        accounts = Accounts.of(here.fetched, people | everybody)
    with asking_github():
        await accounts.learn_all(client, here.clone.repository)
    numbers = {
        commit: known(row.number, row.head_id, row.payload, merged=row.merge_commit) for commit, row in told.items()
    }
    names = {one.commit.id for one in wanted}
    chosen = [row for row in rows if row.commit in names]
    facts = await asyncio.to_thread(_measured, here.clone, chosen, (accounts, numbers, rules))
    return _Batch(facts, bool(stale), accounts.requests, accounts.points)


def _unmeasured(clone: Clone, rows: Sequence[Arrival]) -> list[Landing]:
    return list(landings(clone, rows, patches=False))


def _measured(
    clone: Clone, rows: Sequence[Arrival], known_: tuple[Accounts, Mapping[CommitId, PullRequest], Measure]
) -> tuple[Fact, ...]:
    accounts, told, rules = known_
    if not rows:
        return ()
    found = []
    for landing in landings(clone, rows):
        whole = replace(accounts.applied(landing), pull_request=told.get(landing.commit.id))
        found.append(measure(whole, rules))
    return tuple(found)


def _pulls_of(
    connection: Connection, here: _Reading, found: Sequence[Landing], rules: Measure
) -> dict[CommitId, PullRequestRow]:
    """The pull request that brought each landing, looked for as `witnesses` says: `brought` are those of rebases."""
    repository = here.one.repository_id
    brought = backfills.brought(connection, repository, [one.commit.id for one in found])
    merged = pulls.merged_as_any(connection, repository, list({one.carrier.id for one in found}))
    proved = {one.commit.id: recognise(one, rules.landing).pull_request for one in found}
    wanted = {number for number in (*proved.values(), *brought.values()) if number is not None}
    rows = pulls.numbered(connection, repository, sorted(wanted))
    told: dict[CommitId, PullRequestRow] = {}
    for one in found:
        commit, number = one.commit.id, proved[one.commit.id]
        answers = {
            "commit": rows.get(brought.get(commit, 0)),
            "carrier": merged.get(one.carrier.id),
            "message": rows.get(number or 0),
        }
        row = next((row for witness in witnesses(one, number) if (row := answers[witness]) is not None), None)
        if row is not None:
            told[commit] = row
    return told


def _recorded(connection: Connection, repository: RepositoryId, ids: Sequence[CommitId]) -> dict[CommitId, datetime]:
    """When each of these commits was recorded last; those that are not are left out."""
    same = (FACT.c.repository_id == repository) & FACT.c.commit_id.in_(ids)
    query = select(FACT.c.commit_id, FACT.c.recorded_at).where(same)
    return {CommitId(row.commit_id): row.recorded_at for row in connection.execute(query)}
