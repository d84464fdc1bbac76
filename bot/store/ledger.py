"""Which commits landed, measured: the append-only facts, and the keys by which facts of one piece of work are found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, Table, UniqueConstraint, delete, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.identity import person_key
from bot.landing.keys import asks, commit_key, offers
from bot.model import CommitId, Fact, PersonKey, RepositoryId, fact_from_json, fact_to_json
from bot.store.columns import METADATA, Instant, Json, Whole, Words
from bot.store.dialect import insert_into
from bot.store.installations import REPOSITORY

FACT = Table(
    "fact",
    METADATA,
    Column("id", Whole, primary_key=True),
    Column("repository_id", Whole, ForeignKey(REPOSITORY.c.id), nullable=False),
    Column("commit_id", Words, nullable=False),
    Column("landed_at", Whole, nullable=False),
    Column("author_key", Words, nullable=False),
    Column("pull_request", Whole),
    Column("recorded_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    UniqueConstraint("repository_id", "commit_id"),
    Index(None, "repository_id", "landed_at"),
    Index(None, "repository_id", "pull_request"),
)
FACT_KEY = Table(
    "fact_key",
    METADATA,
    Column("key", Words, primary_key=True),
    Column("role", Words, primary_key=True),
    Column("fact_id", Whole, ForeignKey(FACT.c.id, ondelete="CASCADE"), primary_key=True),
    Index(None, "fact_id"),
)
# Credited people, authors and co-authors: `facts_of` asks for both.
FACT_PERSON = Table(
    "fact_person",
    METADATA,
    Column("person_key", Words, primary_key=True),
    Column("fact_id", Whole, ForeignKey(FACT.c.id, ondelete="CASCADE"), primary_key=True),
    Index(None, "fact_id"),
)

OFFERS, ASKS = "offers", "asks"
_SLICE = 500
"""values in one statement; both databases allow far more, but plans and messages stay small"""


async def add_facts(
    conn: AsyncConnection, repository_id: RepositoryId, facts: Iterable[Fact], *, now: datetime
) -> list[CommitId]:
    """Append the facts that the ledger does not hold yet; the ids of the new ones, in the order given.

    Four statements whatever the number, so that the cost of a landing does not grow.
    """
    given = {fact.commit: fact for fact in facts}
    if not given:
        return []
    rows = [_row(fact) | {"repository_id": repository_id, "recorded_at": now} for fact in given.values()]
    statement = insert_into(conn, FACT).on_conflict_do_nothing().returning(FACT.c.id, FACT.c.commit_id)
    new = {CommitId(row.commit_id): row.id for row in await conn.execute(statement, rows)}
    await _add_keys(conn, [(new[commit], fact) for commit, fact in given.items() if commit in new])
    return [commit for commit in given if commit in new]


def _row(fact: Fact) -> dict[str, Any]:
    return {
        "commit_id": fact.commit,
        "landed_at": fact.landed_at,
        "author_key": person_key(fact.author),
        "pull_request": fact.pull_request,
        "payload": fact_to_json(fact),
    }


async def _add_keys(conn: AsyncConnection, new: Sequence[tuple[int, Fact]]) -> None:
    keys = [
        {"key": key, "role": role, "fact_id": fact_id}
        for fact_id, fact in new
        for role, found in ((OFFERS, offers(fact)), (ASKS, asks(fact)))
        for key in found
    ]
    people = [
        {"person_key": key, "fact_id": fact_id}
        for fact_id, fact in new
        for key in sorted({person_key(signature) for signature in (fact.author, *fact.co_authors)})
    ]
    for table, rows in ((FACT_KEY, keys), (FACT_PERSON, people)):
        if rows:
            await conn.execute(insert_into(conn, table).on_conflict_do_nothing(), rows)


async def component(
    conn: AsyncConnection, commits: Sequence[tuple[RepositoryId, CommitId]], *, installation_id: int | None
) -> list[Fact]:
    """Every fact that has to be folded together with these commits, oldest first.

    Facts belong together where one asks for a key that the other offers, and so on. With an `installation_id` the
    search stays inside its repositories, so that no tenant sees another's; None searches all.
    """
    seeds = await _ids(conn, commits)
    here, there = FACT_KEY.alias("here"), FACT_KEY.alias("there")
    reached = select(FACT.c.id).where(FACT.c.id.in_(seeds)).cte("reached", recursive=True)
    step = (
        select(there.c.fact_id)
        .select_from(reached)
        .join(here, here.c.fact_id == reached.c.id)
        .join(there, (there.c.key == here.c.key) & (there.c.role != here.c.role))
    )
    if installation_id is not None:
        step = step.join(FACT, FACT.c.id == there.c.fact_id).join(REPOSITORY, REPOSITORY.c.id == FACT.c.repository_id)
        step = step.where(REPOSITORY.c.installation_id == installation_id)
    reached = reached.union(step)
    return await _facts(conn, FACT.c.id.in_(select(reached.c.id)))


async def _ids(conn: AsyncConnection, commits: Sequence[tuple[RepositoryId, CommitId]]) -> list[int]:
    by_repository: dict[RepositoryId, list[CommitId]] = {}
    for repository_id, commit in commits:
        by_repository.setdefault(repository_id, []).append(commit)
    parts = [
        select(FACT.c.id).where(FACT.c.repository_id == repository_id, FACT.c.commit_id.in_(ids[at : at + _SLICE]))
        for repository_id, ids in sorted(by_repository.items())
        for at in range(0, len(ids), _SLICE)
    ]
    return list((await conn.execute(union(*parts))).scalars()) if parts else []


async def facts_of(
    conn: AsyncConnection, people: Sequence[PersonKey], *, repositories: Sequence[RepositoryId]
) -> list[Fact]:
    """The facts these people authored or co-authored in these repositories, oldest first."""
    theirs = select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key.in_(people))
    return await _facts(conn, FACT.c.id.in_(theirs) & FACT.c.repository_id.in_(repositories))


async def facts_in(
    conn: AsyncConnection, repository_id: RepositoryId, since: int = 0, until: int = 2**62
) -> list[Fact]:
    """The facts of one repository landed in [since, until), epoch seconds, oldest first."""
    landed = FACT.c.landed_at
    return await _facts(conn, (FACT.c.repository_id == repository_id) & (landed >= since) & (landed < until))


async def known(conn: AsyncConnection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> set[CommitId]:
    """Those of the commits that the ledger holds."""
    found: set[CommitId] = set()
    for at in range(0, len(commits), _SLICE):
        same = (FACT.c.repository_id == repository_id) & FACT.c.commit_id.in_(commits[at : at + _SLICE])
        found |= {CommitId(row.commit_id) for row in await conn.execute(select(FACT.c.commit_id).where(same))}
    return found


async def _facts(conn: AsyncConnection, which: Any) -> list[Fact]:
    query = select(FACT.c.payload).where(which).order_by(FACT.c.landed_at, FACT.c.repository_id, FACT.c.commit_id)
    return [fact_from_json(row.payload) for row in await conn.execute(query)]


async def follow_rename(conn: AsyncConnection, repository_id: RepositoryId, old: str, new: str) -> int:
    """Write the new full name into the facts and keys of one renamed repository; facts changed.

    Only this repository's own rows: another one may take the old name tomorrow, and must not inherit its work.
    """
    rows = list(await conn.execute(select(FACT.c.id, FACT.c.payload).where(FACT.c.repository_id == repository_id)))
    renamed = [(row.id, _renamed(row.payload, old, new)) for row in rows]
    for fact_id, payload in renamed:
        await conn.execute(update(FACT).where(FACT.c.id == fact_id).values(payload=payload))
        await conn.execute(delete(FACT_KEY).where(FACT_KEY.c.fact_id == fact_id))
    await _add_keys(conn, [(fact_id, fact_from_json(payload)) for fact_id, payload in renamed])
    return len(renamed)


def _renamed(payload: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    for name in ("keys", "reverts", "relands", "links"):
        if name in payload:
            payload[name] = [_renamed_key(key, old, new) for key in payload[name]]
    return payload | {"repository": new}


def _renamed_key(key: str, old: str, new: str) -> str:
    """`pr:old/name#1`, `title:old/name:…` and their like; any other key as it is."""
    kind, _, rest = key.partition(":")
    if rest.lower().startswith(old.lower()) and rest[len(old) : len(old) + 1] in {"#", ":"}:
        return f"{kind}:{new.lower() if rest[: len(old)].islower() else new}{rest[len(old) :]}"
    return key


async def forget_facts(conn: AsyncConnection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> None:
    """Drop facts that are about to be measured anew, with their keys."""
    for at in range(0, len(commits), _SLICE):
        same = (FACT.c.repository_id == repository_id) & FACT.c.commit_id.in_(commits[at : at + _SLICE])
        await conn.execute(delete(FACT).where(same))


async def facts_named(conn: AsyncConnection, repository_id: RepositoryId, pull_request: int) -> list[Fact]:
    """The facts of one repository that one of its pull requests brought, oldest first."""
    return await _facts(conn, (FACT.c.repository_id == repository_id) & (FACT.c.pull_request == pull_request))


async def facts_carried(conn: AsyncConnection, repository_id: RepositoryId, carrier: CommitId) -> list[Fact]:
    """The facts that one commit of the first-parent line brought, itself among them."""
    offered = select(FACT_KEY.c.fact_id).where(FACT_KEY.c.key == commit_key(carrier), FACT_KEY.c.role == OFFERS)
    found = await _facts(conn, FACT.c.id.in_(offered) & (FACT.c.repository_id == repository_id))
    return [fact for fact in found if fact.carrier == carrier]
