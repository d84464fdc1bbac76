"""When did someone's work first land in a repository, and whose first work did a person review or merge?"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from sqlalchemy import Connection, func, select, tuple_

from bot.landing.identity.addresses import plain_email
from bot.model.ids import CommitId, PersonKey, RepositoryId
from bot.store.backfills import BACKFILL
from bot.store.ledger import FACT, FACT_PERSON
from bot.store.observations import OBSERVATION
from bot.store.people import PERSON, PERSON_ALIAS
from bot.store.visibility import hidden_people

_CONNECTED = ("review", "remark", "merger")
"""observations that connect one person with the pull request of another"""


class FirstLanding(Struct, frozen=True):
    """Someone's first landed commit in a repository; `landed_at` in epoch seconds."""

    repository_id: RepositoryId
    person_key: PersonKey
    commit: CommitId
    landed_at: int
    pull_request: int | None


def fully_read_repositories(connection: Connection, repositories: Collection[RepositoryId]) -> frozenset[RepositoryId]:
    """The repositories whose history was read from the first commit on: elsewhere it is unknown who was first."""
    done = (BACKFILL.c.state == "done") & BACKFILL.c.repository_id.in_(repositories)
    rows = connection.execute(select(BACKFILL.c.repository_id).where(done))
    return frozenset(RepositoryId(row.repository_id) for row in rows)


def first_landings(
    connection: Connection, people: Collection[PersonKey], repositories: Collection[RepositoryId]
) -> list[FirstLanding]:
    """The first commit that each of these people authored in each of these repositories."""
    order = (FACT.c.landed_at, FACT.c.commit_id)
    position = func.row_number().over(partition_by=(FACT.c.repository_id, FACT.c.author_key), order_by=order)
    columns = (FACT.c.repository_id, FACT.c.author_key, FACT.c.commit_id, FACT.c.landed_at, FACT.c.pull_request)
    # The facts of a few people are found by person: a repository may hold a hundred thousand facts by others.
    theirs = FACT.c.id.in_(select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key.in_(people)))
    within = FACT.c.repository_id.in_(repositories) & FACT.c.author_key.in_(people)
    ranked = select(*columns, position.label("position")).where(theirs, within).subquery()
    rows = connection.execute(select(ranked).where(ranked.c.position == 1))
    return [FirstLanding(*row[:-1]) for row in rows]


def newcomers_in(
    connection: Connection, people: Collection[PersonKey], fully_read: Collection[RepositoryId]
) -> list[FirstLanding]:
    """Other people's first landings, through pull requests that these people reviewed or merged.

    Only of people who may be shown, in repositories whose whole history is known.
    """
    if not fully_read:
        return []
    seen = OBSERVATION.c
    met = select(seen.repository_id, seen.number).where(seen.person_key.in_(people), seen.signal.in_(_CONNECTED))
    work = tuple_(FACT.c.repository_id, FACT.c.pull_request).in_(met.where(seen.repository_id.in_(fully_read)))
    authors = select(FACT.c.author_key).join(PERSON, PERSON.c.key == FACT.c.author_key).distinct()
    rows = connection.execute(authors.where(work, PERSON.c.user_id.is_not(None), PERSON.c.bot.is_(False)))
    gone = hidden_people(connection)
    others = sorted({PersonKey(row.author_key) for row in rows} - gone - set(people))
    found = first_landings(connection, others, fully_read)
    earlier = _by_other_addresses(connection, others, fully_read)
    return [
        one
        for one in found
        if one.pull_request is not None and earlier.get((one.repository_id, one.person_key), 2**63) >= one.landed_at
    ]


def _by_other_addresses(
    connection: Connection, people: Collection[PersonKey], repositories: Collection[RepositoryId]
) -> dict[tuple[RepositoryId, PersonKey], int]:
    """When work signed with an address that is proved to belong to one of these people first landed."""
    proved = (PERSON_ALIAS.c.kind == "email") & (PERSON_ALIAS.c.proof == "proved")
    rows = connection.execute(select(PERSON_ALIAS).where(PERSON_ALIAS.c.person_key.in_(people), proved))
    whose = {PersonKey(f"e:{plain_email(row.value)}"): PersonKey(row.person_key) for row in rows}
    found: dict[tuple[RepositoryId, PersonKey], int] = {}
    for one in first_landings(connection, list(whose), repositories) if whose else ():
        position = one.repository_id, whose[one.person_key]
        found[position] = min(one.landed_at, found.get(position, one.landed_at))
    return found
