"""When did somebody's work first land in a repository, and whose first work did somebody review or merge?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import CommitId, PersonKey, RepositoryId
from bot.store.backfills import BACKFILL
from bot.store.ledger import FACT, FACT_PERSON
from bot.store.observations import OBSERVATION
from bot.store.people import PERSON, PERSON_ALIAS
from bot.store.visibility import left_out

_MET = ("review", "remark", "merger")
"""signals by which one person meets the pull request of another"""


@dataclass(frozen=True, slots=True)
class First:
    """Somebody's first landed commit in a repository; `landed_at` in epoch seconds."""

    repository_id: RepositoryId
    person_key: PersonKey
    commit: CommitId
    landed_at: int
    pull_request: int | None


async def read_whole(conn: AsyncConnection, repositories: Collection[RepositoryId]) -> frozenset[RepositoryId]:
    """The repositories whose history was read from its first commit on: elsewhere nobody knows who was first."""
    done = (BACKFILL.c.state == "done") & BACKFILL.c.repository_id.in_(repositories)
    rows = await conn.execute(select(BACKFILL.c.repository_id).where(done))
    return frozenset(RepositoryId(row.repository_id) for row in rows)


async def first_landings(conn: AsyncConnection, people: Any, repositories: Collection[RepositoryId]) -> list[First]:
    """The first commit that each of these people (keys, or a query of keys) authored in each of these repositories."""
    order = (FACT.c.landed_at, FACT.c.commit_id)
    place = func.row_number().over(partition_by=(FACT.c.repository_id, FACT.c.author_key), order_by=order)
    columns = (FACT.c.repository_id, FACT.c.author_key, FACT.c.commit_id, FACT.c.landed_at, FACT.c.pull_request)
    theirs = FACT_PERSON.c.person_key.in_(people) & (FACT_PERSON.c.person_key == FACT.c.author_key)
    within = FACT.c.repository_id.in_(repositories)
    ranked = select(*columns, place.label("place")).join(FACT_PERSON, FACT_PERSON.c.fact_id == FACT.c.id)
    found = ranked.where(theirs, within).subquery()
    rows = await conn.execute(select(found).where(found.c.place == 1))
    return [
        First(
            RepositoryId(row.repository_id), PersonKey(row.author_key), row.commit_id, row.landed_at, row.pull_request
        )
        for row in rows
    ]


async def newcomers_met(
    conn: AsyncConnection, people: Collection[PersonKey], repositories: Collection[RepositoryId]
) -> list[First]:
    """First landings, by a pull request, of everybody a pull request of whose these people reviewed or merged: of
    people who may be told of, where the repository's history is known from its first commit on."""
    whole = await read_whole(conn, repositories)
    here = (OBSERVATION.c.repository_id == FACT.c.repository_id) & (OBSERVATION.c.number == FACT.c.pull_request)
    met = select(FACT.c.author_key).join(OBSERVATION, here).join(PERSON, PERSON.c.key == FACT.c.author_key)
    met = met.where(OBSERVATION.c.person_key.in_(people), OBSERVATION.c.signal.in_(_MET))
    met = met.where(OBSERVATION.c.repository_id.in_(whole), PERSON.c.user_id.is_not(None), PERSON.c.bot.is_(False))
    gone = await left_out(conn)
    found = await first_landings(conn, met, whole)
    others = [one for one in found if one.person_key not in people and one.person_key not in gone]
    earlier = await _by_other_addresses(conn, [one.person_key for one in others], whole)
    return [
        one
        for one in others
        if one.pull_request is not None and earlier.get((one.repository_id, one.person_key), 2**63) >= one.landed_at
    ]


async def _by_other_addresses(
    conn: AsyncConnection, people: Collection[PersonKey], repositories: Collection[RepositoryId]
) -> dict[tuple[RepositoryId, PersonKey], int]:
    """When work first landed that was signed with an address which is proved to be such a person's."""
    proved = (PERSON_ALIAS.c.kind == "email") & (PERSON_ALIAS.c.proof == "proved")
    query = select(FACT.c.repository_id, PERSON_ALIAS.c.person_key, func.min(FACT.c.landed_at).label("first"))
    query = query.select_from(PERSON_ALIAS)
    query = query.join(FACT_PERSON, FACT_PERSON.c.person_key == "e:" + func.lower(PERSON_ALIAS.c.value))
    query = query.join(FACT, (FACT.c.id == FACT_PERSON.c.fact_id) & (FACT.c.author_key == FACT_PERSON.c.person_key))
    query = query.where(PERSON_ALIAS.c.person_key.in_(people), proved, FACT.c.repository_id.in_(repositories))
    rows = await conn.execute(query.group_by(FACT.c.repository_id, PERSON_ALIAS.c.person_key))
    return {(RepositoryId(row.repository_id), PersonKey(row.person_key)): row.first for row in rows}
