"""What does a fold need that stands in the store: repositories, corrections, and a month's work? As plans of a turn."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from pydantic_core import from_json

from bot.frozen import frozen
from bot.landing.corrections import SAID_KINDS, Classified
from bot.landing.disjoint import Disjoint
from bot.landing.keys import commit_key
from bot.model import CommitId, Fact, InstallationId, Month, PersonKey, Repository, RepositoryId
from bot.store.keyed import SAID_TWICE, Keyed
from bot.store.ledger import numbered
from bot.store.together import closed_over
from bot.store.totals import Cell
from bot.store.turn import Ask, Plan, Rows, Say, Spelling


@frozen
class Standing:
    """Repositories of an installation as they stand now, by full name, and their ids: all, or those that matter."""

    repositories: Mapping[str, Repository]
    ids: Mapping[str, RepositoryId]


_LOCKS = 0x616C6D61 << 32
"""where our advisory locks begin; an installation's id is added"""


def alone(spelling: Spelling, installation: InstallationId) -> Plan[None]:
    """From here to the end of the transaction nobody else folds in this installation.

    Two who sum one person's month at once would each miss what the other adds. SQLite has one writer anyway.
    """
    if spelling.is_postgresql:
        yield Say("SELECT pg_advisory_xact_lock(?)", (_LOCKS + installation % 2**32,))


def still(spelling: Spelling, repository: RepositoryId, installations: Collection[InstallationId]) -> Plan[None]:
    """From here on the repository stays where it is, and nobody folds in these installations: what is recorded there is
    seen by whoever moves it, or records after the move."""
    if spelling.is_postgresql:
        yield Ask("SELECT id FROM repository WHERE id = ? FOR UPDATE", (repository,))
    for one in sorted(installations):
        yield from alone(spelling, one)


_REPOSITORIES = """
    SELECT full_name, id, private, fork, parent, default_branch FROM repository
    WHERE {mine} AND removed_at IS NULL ORDER BY full_name, id"""
_SAID = """
    SELECT repository.full_name AS name, correction.value AS value FROM correction
    JOIN repository ON repository.id = correction.repository_id
    WHERE correction.kind = 'classify' AND {mine} AND repository.removed_at IS NULL
    ORDER BY correction.made_at, correction.event_key"""
_OF_INSTALLATION = "repository.installation_id = ?"
_ALONE = f"{_OF_INSTALLATION} AND repository.id = ?"


@cache
def _standing_of(spelling: Spelling, mine: str) -> str:
    each = "json_agg(json_build_array({}))::text" if spelling.is_postgresql else "json_group_array(json_array({}))"
    repositories = each.format("full_name, id, private, fork, parent, default_branch")
    said = each.format("name, value")
    return (
        f"SELECT (SELECT {repositories} FROM ({_REPOSITORIES.format(mine=mine)}) AS one),"  # noqa: S608  # texts of this module
        f" (SELECT {said} FROM ({_SAID.format(mine=mine)}) AS one)"
    )


def around(spelling: Spelling, installation: InstallationId) -> Plan[tuple[Standing, tuple[Classified, ...]]]:
    """All repositories of an installation that are not removed, and every classification in them, oldest first.

    Each is one text: an organisation has thousands of repositories, a landing concerns one, and nearly always the text
    is the last one again.
    """
    return found_in((yield Ask(_standing_of(spelling, _OF_INSTALLATION), (installation, installation))))


def here(spelling: Spelling, installation: InstallationId, repository: RepositoryId) -> Ask:
    """The same of one repository, for `found_in`: all that matters for work that has to do with no other, however many
    there are."""
    mine = (installation, repository)
    return Ask(_standing_of(spelling, _ALONE), (*mine, *mine))


def found_in(rows: Rows) -> tuple[Standing, tuple[Classified, ...]]:
    """What the row says."""
    ((repositories, said),) = rows
    return _standing(repositories or "[]"), _classified(said or "[]")


@lru_cache(maxsize=256)
def _standing(text: str) -> Standing:
    found = {
        name: Repository(name, RepositoryId(number), bool(private), bool(fork), parent, branch)
        for name, number, private, fork, parent, branch in from_json(text)
    }
    ids = {name: repository.id for name, repository in found.items() if repository.id is not None}
    return Standing(MappingProxyType(found), MappingProxyType(ids))


@lru_cache(maxsize=256)
def _classified(text: str) -> tuple[Classified, ...]:
    values = [(name, from_json(value)) for name, value in from_json(text)]
    return tuple(Classified(name, one["number"], SAID_KINDS[one["kind"]], one["by"]) for name, one in values)


# CROSS JOIN keeps the order on SQLite, whose planner would begin with all rows of the installation.
_OF_MONTH = """
    SELECT DISTINCT change.id, change.payload FROM contribution CROSS JOIN repository CROSS JOIN change
    WHERE repository.id = contribution.repository_id AND change.id = contribution.change_id
      AND contribution.month = ? AND repository.installation_id = ? AND """
_HOLDING = """
    SELECT fact_key.fact_id FROM fact_key CROSS JOIN fact CROSS JOIN repository
    WHERE fact.id = fact_key.fact_id AND repository.id = fact.repository_id
      AND fact_key.role = 'offers' AND repository.installation_id = ? AND """


def month_of_people(
    spelling: Spelling,
    people: Collection[PersonKey],
    month: Month,
    *,
    within: InstallationId,
    known: Mapping[int, Keyed],
) -> Plan[dict[int, Keyed]]:
    """All facts of the changes in which these people have a part that month, closed under what folds together.

    Contributions lead there, so that the way is as long as the month and not as the people's whole record. Facts that
    are `known`, with all that they fold with, are not read again.
    """
    mine = spelling.among("contribution.person_key")
    rows = yield Ask(_OF_MONTH + mine, (month, within, spelling.list_of(sorted(people))))
    wanted = {CommitId(commit) for _, payload in rows for commit in json.loads(payload)["commits"]}
    missing = wanted - {one.fact.commit for one in known.values()}
    if not missing:
        return dict(known)
    others = yield from _holding(spelling, missing, within)
    older = {number: fact for number, fact in others.items() if number not in known}
    closed = yield from closed_over(spelling, older, within)
    return {**closed, **known}


def _holding(spelling: Spelling, commits: Iterable[CommitId], installation: InstallationId) -> Plan[dict[int, Fact]]:
    """The facts that hold these commits, in any repository of the installation."""
    wanted = set(commits)
    keys = spelling.list_of(sorted({commit_key(commit) for commit in wanted}))
    rows = yield Ask(_HOLDING + spelling.among("fact_key.key"), (installation, keys))
    found = yield from numbered(spelling, sorted({int(row[0]) for row in rows}))
    return {number: fact for number, fact in found.items() if fact.commit in wanted}


_NUMBERS = """
    SELECT fact.id FROM repository CROSS JOIN fact
    WHERE repository.installation_id = ? AND repository.removed_at IS NULL AND fact.repository_id = repository.id
    ORDER BY fact.landed_at, fact.id"""
# Nearly all keys are one fact's alone: only what several facts have is looked at more closely.
_MET = """
    WITH shared AS (SELECT key FROM fact_key GROUP BY key HAVING MIN(fact_id) <> MAX(fact_id)),
    met AS (
        SELECT fact_key.key FROM shared CROSS JOIN fact_key WHERE fact_key.key = shared.key GROUP BY fact_key.key
        HAVING MIN(role) <> MAX(role) OR MIN(role) = 'offers' AND substr(fact_key.key, 1, 6) NOT IN (?, ?, ?))
    SELECT fact_key.key, fact_key.fact_id FROM met CROSS JOIN fact_key CROSS JOIN fact CROSS JOIN repository
    WHERE fact_key.key = met.key AND fact.id = fact_key.fact_id AND repository.id = fact.repository_id
    AND repository.installation_id = ? AND repository.removed_at IS NULL"""
_PART = 250
"""facts read and folded at once in a rebuild, more where more hang together"""


def in_parts(installation: InstallationId) -> Plan[tuple[list[list[int]], set[int]]]:
    """The numbers of an installation's facts, some at a time, and those that have to do with no other fact.

    All that may fold together stands in one part, and nothing landed before the first fact of its part.
    """
    rows = yield Ask(_NUMBERS, (installation,))
    numbers = [int(row[0]) for row in rows]
    met = yield Ask(_MET, (*SAID_TWICE, installation))
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
    spelling: Spelling, people: Collection[PersonKey], month: Month, *, within: InstallationId
) -> Plan[list[Cell]]:
    """The rows of the totals that these people have in one month."""
    mine = spelling.among("totals.person_key")
    rows = yield Ask(_CELLS + mine, (month, within, spelling.list_of(sorted(people))))
    return [(PersonKey(key), RepositoryId(repository), month) for key, repository in rows]
