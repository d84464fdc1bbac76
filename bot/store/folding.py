"""What does a fold need that stands in the store: repositories, corrections, and a month's work? As plans of a turn."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from bot.landing.corrections import SAID_KINDS, Classified
from bot.landing.disjoint import Disjoint
from bot.landing.keys import commit_key
from bot.model import CommitId, Fact, InstallationId, Month, PersonKey, Repository, RepositoryId
from bot.store.keyed import SAID_TWICE, Keyed
from bot.store.ledger import closed_over, numbered
from bot.store.totals import Cell
from bot.store.turn import Ask, Plan, Say, Spelling


@dataclass(frozen=True, slots=True)
class Standing:
    """The repositories of an installation as they stand now, by full name, and their ids."""

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


_STANDING = """
    SELECT full_name, id, private, fork, parent, default_branch FROM repository
    WHERE installation_id = ? AND removed_at IS NULL ORDER BY full_name, id"""


def standing(installation: InstallationId) -> Plan[Standing]:
    """All that are not removed."""
    rows = yield Ask(_STANDING, (installation,))
    return _standing(tuple(tuple(row) for row in rows))


@lru_cache(maxsize=32)
def _standing(rows: tuple[tuple[Any, ...], ...]) -> Standing:
    """Built once as long as nothing changes: an organisation has thousands, and a landing concerns one."""
    found = {
        name: Repository(name, RepositoryId(number), bool(private), bool(fork), parent, branch)
        for name, number, private, fork, parent, branch in rows
    }
    ids = {name: repository.id for name, repository in found.items() if repository.id is not None}
    return Standing(MappingProxyType(found), MappingProxyType(ids))


_SAID = """
    SELECT repository.full_name, correction.value FROM correction
    JOIN repository ON repository.id = correction.repository_id
    WHERE correction.kind = 'classify' AND repository.installation_id = ? AND repository.removed_at IS NULL
    ORDER BY correction.made_at, correction.event_key"""


def said(installation: InstallationId) -> Plan[tuple[Classified, ...]]:
    """Every classification in its repositories, oldest first."""
    rows = yield Ask(_SAID, (installation,))
    values = [(name, json.loads(value)) for name, value in rows]
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
    ORDER BY repository.id, fact.landed_at, fact.id"""
_MET = """
    SELECT fact_key.key, fact_key.fact_id FROM fact_key JOIN fact ON fact.id = fact_key.fact_id
    JOIN repository ON repository.id = fact.repository_id
    WHERE repository.installation_id = ? AND repository.removed_at IS NULL AND fact_key.key IN (
        SELECT key FROM fact_key GROUP BY key HAVING MIN(fact_id) <> MAX(fact_id)
        AND (MIN(role) <> MAX(role) OR MIN(role) = 'offers' AND substr(key, 1, 6) NOT IN (?, ?, ?)))"""
_PART = 2000
"""facts folded at once in a rebuild, more where more hang together"""


def in_parts(installation: InstallationId) -> Plan[tuple[list[list[int]], set[int]]]:
    """The numbers of an installation's facts, some at a time, and those that have to do with no other fact.

    All that may fold together stands in one part.
    """
    rows = yield Ask(_NUMBERS, (installation,))
    numbers = [int(row[0]) for row in rows]
    met = yield Ask(_MET, (installation, *SAID_TWICE))
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
