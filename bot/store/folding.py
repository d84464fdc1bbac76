"""What does folding need from the store? Repositories, classifications, connected facts, and a month's work."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct
from pydantic_core import from_json
from sqlalchemy import Connection

from bot.landing.corrections import Corrections
from bot.landing.same_work.disjoint import Disjoint
from bot.landing.same_work.keys import commit_key
from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, Month, PersonKey, RepositoryId
from bot.store.classifications import correction_of
from bot.store.dialect import fetch, is_one_of, is_postgresql, lock, lock_row, value_list, values_as
from bot.store.fact_keys import DUPLICATE, KeyedFact, with_keys
from bot.store.installations import REPOSITORY
from bot.store.ledger import facts_by_number, numbered_facts
from bot.store.totals import Cell


class Standing(Struct, frozen=True):
    """The current repositories of an installation by full name, with their ids: all, or those that matter."""

    repositories: Mapping[str, Repository]
    ids: Mapping[str, RepositoryId]


_LOCKS = 0x616C6D61 << 32
"""base of the advisory lock numbers; an installation's id is added"""


def lock_installation(connection: Connection, installation: InstallationId) -> None:
    """Until the transaction ends nobody else folds in this installation.

    Two jobs that sum one person's month at the same time would each miss what the other adds.
    """
    lock(connection, _LOCKS + installation % 2**32)


def lock_repository(
    connection: Connection, repository: RepositoryId, installations: Collection[InstallationId]
) -> None:
    """Lock the repository against a move, and folding in these installations.

    Whoever moves the repository, or records after the move, sees what is recorded under this lock.
    """
    lock_row(connection, REPOSITORY, repository)
    for one in sorted(installations):
        lock_installation(connection, one)


_REPOSITORIES = """
    SELECT full_name, id, private, fork, parent, default_branch, host FROM repository
    WHERE {mine} AND removed_at IS NULL ORDER BY full_name, id"""
_SAID = """
    SELECT repository.full_name AS name, correction.value AS value FROM correction
    JOIN repository ON repository.id = correction.repository_id
    WHERE correction.kind IN ('classify', 'credit') AND {mine} AND repository.removed_at IS NULL
    ORDER BY correction.made_at, correction.event_key"""
_OF_INSTALLATION = "repository.installation_id = ?"
_OF_REPOSITORY = f"{_OF_INSTALLATION} AND repository.id = ?"


def read_installation(connection: Connection, installation: InstallationId) -> tuple[Standing, Corrections]:
    """All current repositories of an installation, and every correction in them, oldest first.

    Each is one text: an organisation has thousands of repositories, a landing concerns one of them, and the text is
    nearly always the same as the last one.
    """
    return _read_standing(connection, _OF_INSTALLATION, (installation,))


def read_repository(
    connection: Connection, installation: InstallationId, repository: RepositoryId
) -> tuple[Standing, Corrections]:
    """The same for one repository: enough for work that is unrelated to other repositories, however many there are."""
    return _read_standing(connection, _OF_REPOSITORY, (installation, repository))


def _read_standing(connection: Connection, mine: str, values: tuple[int, ...]) -> tuple[Standing, Corrections]:
    each = "json_agg(json_build_array({}))::text" if is_postgresql(connection) else "json_group_array(json_array({}))"
    repositories = each.format("full_name, id, private, fork, parent, default_branch, host")
    said = each.format("name, value")
    sql = (
        f"SELECT (SELECT {repositories} FROM ({_REPOSITORIES.format(mine=mine)}) AS one),"  # noqa: S608  # texts of this module
        f" (SELECT {said} FROM ({_SAID.format(mine=mine)}) AS one)"
    )
    ((repositories, said),) = fetch(connection, sql, values * 2)
    return _standing(repositories or "[]"), _classified(said or "[]")


@lru_cache(maxsize=256)
def _standing(text: str) -> Standing:
    found = {
        name: Repository(name, RepositoryId(number), bool(private), bool(fork), parent, branch, host)
        for name, number, private, fork, parent, branch, host in from_json(text)
    }
    ids = {name: repository.id for name, repository in found.items() if repository.id is not None}
    return Standing(MappingProxyType(found), MappingProxyType(ids))


@lru_cache(maxsize=256)
def _classified(text: str) -> Corrections:
    return tuple(correction_of(name, from_json(value)) for name, value in from_json(text))


# CROSS JOIN fixes the order on SQLite, whose planner would start with all rows of the installation.
_OF_MONTH = """
    SELECT DISTINCT change.id, change.payload FROM contribution CROSS JOIN repository CROSS JOIN change
    WHERE repository.id = contribution.repository_id AND change.id = contribution.change_id
      AND contribution.month = ? AND repository.installation_id = ? AND """
_HOLDING = """
    SELECT fact_key.fact_id FROM fact_key CROSS JOIN fact CROSS JOIN repository
    WHERE fact.id = fact_key.fact_id AND repository.id = fact.repository_id
      AND fact_key.role = 'offers' AND repository.installation_id = ? AND """


def month_of_people(
    connection: Connection,
    people: Collection[PersonKey],
    month: Month,
    *,
    within: InstallationId,
    known: Mapping[int, KeyedFact],
) -> dict[int, KeyedFact]:
    """All facts of the changes these people contributed to in that month, with everything that folds together with
    them.

    The query starts at contributions, so its cost depends on the month and not on the people's whole history. `known`
    facts and those that fold with them are not read again.
    """
    sql = _OF_MONTH + is_one_of(connection, "contribution.person_key")
    rows = fetch(connection, sql, (month, within, value_list(connection, sorted(people))))
    wanted = {CommitId(commit) for _, payload in rows for commit in json.loads(payload)["commits"]}
    missing = wanted - {one.fact.commit for one in known.values()}
    if not missing:
        return dict(known)
    others = _holding(connection, missing, within)
    older = {number: fact for number, fact in others.items() if number not in known}
    return {**facts_folding_with(connection, with_keys(older), within), **known}


def _holding(connection: Connection, commits: Collection[CommitId], installation: InstallationId) -> dict[int, Fact]:
    """The facts that hold these commits, in any repository of the installation."""
    keys = value_list(connection, sorted({commit_key(commit) for commit in commits}))
    rows = fetch(connection, _HOLDING + is_one_of(connection, "fact_key.key"), (installation, keys))
    found = numbered_facts(connection, sorted({int(row[0]) for row in rows}))
    return {number: fact for number, fact in found.items() if fact.commit in commits}


_NUMBERS = """
    SELECT fact.id FROM repository CROSS JOIN fact
    WHERE repository.installation_id = ? AND repository.removed_at IS NULL AND fact.repository_id = repository.id
    ORDER BY fact.landed_at, fact.id"""
# Nearly all keys belong to one fact; only those of several facts are examined further.
_MET = """
    WITH shared AS (SELECT key FROM fact_key GROUP BY key HAVING MIN(fact_id) <> MAX(fact_id)),
    met AS (
        SELECT fact_key.key FROM shared CROSS JOIN fact_key WHERE fact_key.key = shared.key GROUP BY fact_key.key
        HAVING MIN(role) <> MAX(role) OR MIN(role) = 'offers' AND substr(fact_key.key, 1, 6) NOT IN (?, ?, ?))
    SELECT fact_key.key, fact_key.fact_id FROM met CROSS JOIN fact_key CROSS JOIN fact CROSS JOIN repository
    WHERE fact_key.key = met.key AND fact.id = fact_key.fact_id AND repository.id = fact.repository_id
    AND repository.installation_id = ? AND repository.removed_at IS NULL"""
_PART = 250
"""facts read and folded at once in a rebuild; more if more are connected"""


def parts_of_installation(connection: Connection, installation: InstallationId) -> tuple[list[list[int]], set[int]]:
    """The row numbers of an installation's facts in batches, and of those unrelated to any other fact.

    Facts that may fold together are in one batch, and nothing landed before the first fact of its batch.
    """
    numbers = [int(row[0]) for row in fetch(connection, _NUMBERS, (installation,))]
    met = fetch(connection, _MET, (*DUPLICATE, installation))
    groups: Disjoint[int] = Disjoint()
    first: dict[str, int] = {}
    for key, number in met:
        groups.join(first.setdefault(key, number), number)
    together: dict[int, list[int]] = {}
    joined = {int(row[1]) for row in met}
    for number in sorted(joined):
        together.setdefault(groups.find(number), []).append(number)
    parts: list[list[int]] = [[]]
    for number in numbers:
        if len(parts[-1]) >= _PART:
            parts.append([])
        if number not in joined:
            parts[-1].append(number)
        else:
            parts[-1] += together.pop(groups.find(number), ())
    return parts, set(numbers) - joined


_CELLS = """
    SELECT totals.person_key, totals.repository_id FROM totals CROSS JOIN repository
    WHERE repository.id = totals.repository_id AND totals.month = ? AND repository.installation_id = ? AND """


def cells_of_month(
    connection: Connection, people: Collection[PersonKey], month: Month, *, within: InstallationId
) -> list[Cell]:
    """The rows of the totals that these people have in one month."""
    sql = _CELLS + is_one_of(connection, "totals.person_key")
    rows = fetch(connection, sql, (month, within, value_list(connection, sorted(people))))
    return [(PersonKey(key), RepositoryId(repository), month) for key, repository in rows]


# CROSS JOIN fixes the order on SQLite, whose planner would start with all facts of the installation.
_CONNECTED = """
    SELECT fact.id, fact.payload FROM (
        SELECT fact_key.fact_id FROM {asked} CROSS JOIN fact_key
        WHERE fact_key.key = asked.value AND fact_key.role = 'offers'
        UNION SELECT fact_key.fact_id FROM {offered} CROSS JOIN fact_key
        WHERE fact_key.key = offered.value AND fact_key.role = 'asks'
        EXCEPT SELECT own.value FROM {own}) AS met
    CROSS JOIN fact CROSS JOIN repository
    WHERE fact.id = met.fact_id AND repository.id = fact.repository_id AND repository.installation_id = ?"""


def _facts_meeting(
    connection: Connection, edge: Mapping[int, KeyedFact], found: Iterable[int], installation_id: int
) -> dict[int, KeyedFact]:
    """The facts that fold together with one at the edge and are not found yet, by row number."""
    asked = sorted({key for one in edge.values() for key in one.asked})
    offered = sorted({key for one in edge.values() for key in one.offered})
    sql = _CONNECTED.format(
        asked=values_as(connection, "asked"),
        offered=values_as(connection, "offered"),
        own=values_as(connection, "own", "bigint"),
    )
    lists = [value_list(connection, each) for each in (asked, offered, sorted(found))]
    return with_keys(facts_by_number(fetch(connection, sql, (*lists, installation_id))))


def facts_folding_with(
    connection: Connection, known: Mapping[int, KeyedFact], installation_id: int
) -> dict[int, KeyedFact]:
    """The facts that fold together with the known ones, including these, by row number. Most meet no other."""
    found = dict(known)
    edge = found
    while edge:
        edge = _facts_meeting(connection, edge, found, installation_id)
        found.update(edge)
    return found
