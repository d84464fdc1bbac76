"""How is a batch of landed commits read from a clone, with the same facts as from deliveries?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, select

from bot.github.client import Client
from bot.history.clone import Clone
from bot.history.fetching import FetchedClone
from bot.history.log import landings
from bot.history.walk import CommitArrival
from bot.landing.conventions.recognition import proved_pull_request
from bot.metrics.measure import Measure, measure
from bot.model.commit import Landing, PullRequest
from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.services.backfill.accounts import Accounts, addresses_of
from bot.services.context import Context, translate_github_errors
from bot.services.measuring.facts import witnesses
from bot.services.measuring.rules import current_rules
from bot.services.pull_requests import pull_request_from_json
from bot.store import backfills, pulls
from bot.store.backfills import Backfill
from bot.store.installations import StoredRepository
from bot.store.ledger import FACT
from bot.store.pulls import PullRequestRow

BATCH = 200
"""commits recorded in one transaction: enough to amortise git's start, few enough that live jobs do not wait long"""


def location_of(one: StoredRepository) -> tuple[InstallationId | None, str]:
    """The installation that reaches the repository, if any, and its name."""
    return None if one.removed_at is not None else one.installation_id, one.repository.full_name


async def with_plan(context: Context, one: Backfill, clone: FetchedClone, head: CommitId) -> Backfill:
    """The backfill with its plan on disk; the plan is made again if it was lost or is on another machine."""
    if clone.is_planned(head) and one.commits:
        return one
    return replace(one, commits=await asyncio.to_thread(clone.plan, head, context.clock()))


class ClonePosition(Struct, frozen=True):
    one: Backfill
    fetched: FetchedClone
    clone: Clone


class _Batch(Struct, frozen=True):
    facts: tuple[Fact, ...] = ()
    again: bool = False
    requests: int = 0
    points: int = 0


async def read_batch(
    context: Context, client: Client, position: ClonePosition, rows: Sequence[CommitArrival]
) -> _Batch:
    """The facts that the ledger does not have, or measured before their pull request was known."""
    with translate_github_errors():
        rules = await (await current_rules(context, client, position.clone.repository, touched=False)).measure()
    found = await asyncio.to_thread(_read_landings, position.clone, rows)

    def read(
        connection: Connection,
    ) -> tuple[dict[CommitId, datetime], Mapping[CommitId, PullRequestRow], Mapping[CommitId, int]]:
        brought = backfills.brought(connection, position.one.repository_id, [one.commit.id for one in found])
        rows_by_commit = _pulls_of(connection, position, (found, brought), rules)
        recorded = _recorded_at(connection, position.one.repository_id, [one.commit.id for one in found])
        return recorded, rows_by_commit, brought

    recorded, rows_by_commit, brought = await context.store.read(read)
    stale = {
        commit for commit, at in recorded.items() if commit in rows_by_commit and at <= rows_by_commit[commit].read_at
    }
    wanted = [one for one in found if one.commit.id not in recorded or one.commit.id in stale]
    people = addresses_of(c for one in wanted for c in (one.commit, one.merge_commit))
    accounts = Accounts.of(position.fetched, people)
    if accounts.is_incomplete:
        # If anybody must be resolved, resolve the people of later batches in the same requests.
        everybody = await asyncio.to_thread(position.fetched.addresses, position.clone.head)
        accounts = Accounts.of(position.fetched, people | everybody)
    with translate_github_errors():
        await accounts.learn_all(client, position.clone.repository)
    numbers = {commit: _pull_request(row, is_rebased=commit in brought) for commit, row in rows_by_commit.items()}
    names = {one.commit.id for one in wanted}
    chosen = [row for row in rows if row.commit in names]
    facts = await asyncio.to_thread(_measure_landings, position.clone, chosen, (accounts, numbers, rules))
    return _Batch(facts, bool(stale), accounts.requests, accounts.points)


def _pull_request(row: PullRequestRow, *, is_rebased: bool) -> PullRequest:
    """The pull request; a rebased commit is its author's own, whoever else wrote commits of the pull request."""
    found = pull_request_from_json(row.number, row.head_id, row.payload, merged=row.merge_commit)
    return replace(found, shares=()) if is_rebased else found


def _read_landings(clone: Clone, rows: Sequence[CommitArrival]) -> list[Landing]:
    return list(landings(clone, rows, patches=False))


def _measure_landings(
    clone: Clone, rows: Sequence[CommitArrival], known_: tuple[Accounts, Mapping[CommitId, PullRequest], Measure]
) -> tuple[Fact, ...]:
    accounts, pull_requests, rules = known_
    if not rows:
        return ()
    found = []
    for landing in landings(clone, rows):
        resolved = replace(
            accounts.resolve(landing),
            pull_request=pull_requests.get(landing.commit.id),
            on_github=True,
            pulls_known=True,
        )
        found.append(measure(resolved, rules))
    return tuple(found)


def _pulls_of(
    connection: Connection,
    position: ClonePosition,
    landings_and_rebased: tuple[Sequence[Landing], Mapping[CommitId, int]],
    rules: Measure,
) -> dict[CommitId, PullRequestRow]:
    """The pull request that brought each landing, found in the order of `witnesses`; `brought` has those of rebases."""
    repository = position.one.repository_id
    found, brought = landings_and_rebased
    merged = pulls.rows_merged_as(connection, repository, list({one.merge_commit.id for one in found}))
    proved = {one.commit.id: proved_pull_request(one, rules.landing) for one in found}
    wanted = {number for number in (*proved.values(), *brought.values()) if number is not None}
    rows = pulls.rows_by_number(connection, repository, sorted(wanted))
    rows_by_commit: dict[CommitId, PullRequestRow] = {}
    for one in found:
        commit, number = one.commit.id, proved[one.commit.id]
        answers = {
            "commit": rows.get(brought.get(commit, 0)),
            "merge_commit": merged.get(one.merge_commit.id),
            "message": rows.get(number or 0),
        }
        row = next((row for witness in witnesses(one, number) if (row := answers[witness]) is not None), None)
        if row is not None:
            rows_by_commit[commit] = row
    return rows_by_commit


def _recorded_at(connection: Connection, repository: RepositoryId, ids: Sequence[CommitId]) -> dict[CommitId, datetime]:
    """When each of these commits was last recorded; commits without a fact are left out."""
    same = (FACT.c.repository_id == repository) & FACT.c.commit_id.in_(ids)
    query = select(FACT.c.commit_id, FACT.c.recorded_at).where(same)
    return {CommitId(row.commit_id): row.recorded_at for row in connection.execute(query)}
