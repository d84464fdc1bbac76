"""Which facts were measured by other definitions than those in force? They stand beside the ledger, by version.

When a definition changes, commits are measured anew into these rows while the ledger's facts stay in force. When the
last commit of a repository is done, the two change places, some hundred commits in one transaction: the ledger holds
the new, these rows the old. A commit is always in force by one version, with all that folds with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Table, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.identity import person_key
from bot.model import CommitId, Fact, InstallationId, PersonKey, RepositoryId, fact_from_json, fact_to_json
from bot.store.columns import METADATA, Instant, Json, Whole, Words
from bot.store.dialect import insert_absent
from bot.store.installations import REPOSITORY
from bot.store.ledger import FACT

MEASUREMENT = Table(
    "measurement",
    METADATA,
    Column("repository_id", Whole, primary_key=True, autoincrement=False),
    Column("commit_id", Words, primary_key=True),
    Column("method", Whole, primary_key=True, autoincrement=False),
    Column("measured_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
)


async def outdated(conn: AsyncConnection, repository: RepositoryId, method: int, most: int) -> list[Fact]:
    """Facts in force that an older version measured, and that wait to be measured by this one; newest first."""
    done = select(MEASUREMENT.c.commit_id).where(
        MEASUREMENT.c.repository_id == repository, MEASUREMENT.c.method == method
    )
    waiting = (FACT.c.repository_id == repository) & (FACT.c.method < method) & FACT.c.commit_id.not_in(done)
    query = select(FACT.c.payload).where(waiting).order_by(FACT.c.landed_at.desc(), FACT.c.commit_id).limit(most)
    return [fact_from_json(row.payload) for row in await conn.execute(query)]


async def repositories_outdated(conn: AsyncConnection, method: int) -> list[tuple[InstallationId, RepositoryId]]:
    """Where facts of an older version are in force, by repository; only those that an installation still reaches."""
    query = (
        select(REPOSITORY.c.installation_id, REPOSITORY.c.id)
        .join(FACT, FACT.c.repository_id == REPOSITORY.c.id)
        .where(FACT.c.method < method, REPOSITORY.c.installation_id.is_not(None), REPOSITORY.c.removed_at.is_(None))
        .distinct()
        .order_by(REPOSITORY.c.id)
    )
    return [(InstallationId(row[0]), RepositoryId(row[1])) for row in await conn.execute(query)]


async def keep(
    conn: AsyncConnection, repository: RepositoryId, facts: Iterable[Fact], *, method: int, now: datetime
) -> None:
    """Put measurements beside the ledger."""
    rows = [
        {
            "repository_id": repository,
            "commit_id": fact.commit,
            "method": method,
            "measured_at": now,
            "payload": fact_to_json(fact),
        }
        for fact in facts
    ]
    await insert_absent(conn, MEASUREMENT, rows)


async def measured(conn: AsyncConnection, repository: RepositoryId, method: int, most: int | None = None) -> list[Fact]:
    """What was measured by one version and is not in force, of commits that the ledger still holds; oldest first.

    At `most` so many; None: all.
    """
    same = (FACT.c.repository_id == MEASUREMENT.c.repository_id) & (FACT.c.commit_id == MEASUREMENT.c.commit_id)
    query = (
        select(MEASUREMENT.c.payload)
        .join(FACT, same)
        .where(MEASUREMENT.c.repository_id == repository, MEASUREMENT.c.method == method, FACT.c.method < method)
        .order_by(FACT.c.landed_at, FACT.c.commit_id)
        .limit(most)
    )
    return [fact_from_json(row.payload) for row in await conn.execute(query)]


async def set_aside(
    conn: AsyncConnection, repository: RepositoryId, commits: Sequence[CommitId], *, method: int, now: datetime
) -> None:
    """Keep what older versions measured of these commits, and drop what this one did: it is about to be in force."""
    older = (FACT.c.repository_id == repository) & FACT.c.commit_id.in_(commits) & (FACT.c.method < method)
    found = (await conn.execute(select(FACT.c.commit_id, FACT.c.method, FACT.c.payload).where(older))).mappings()
    await insert_absent(conn, MEASUREMENT, [{**row, "repository_id": repository, "measured_at": now} for row in found])
    mine = (MEASUREMENT.c.repository_id == repository) & MEASUREMENT.c.commit_id.in_(commits)
    await conn.execute(delete(MEASUREMENT).where(mine & (MEASUREMENT.c.method == method)))


async def forget(conn: AsyncConnection, people: Sequence[PersonKey]) -> None:
    """Drop every measurement that names these people: what is in force is cleaned by the ledger's own rules."""
    wanted = set(people)
    rows: list[Any] = []
    async with conn.stream(select(MEASUREMENT)) as found:
        async for row in found:
            fact = fact_from_json(row.payload)
            if wanted & {person_key(sig) for sig in (fact.author, fact.committer, *fact.co_authors)}:
                rows.append(row)
    for row in rows:
        same = (MEASUREMENT.c.repository_id == row.repository_id) & (MEASUREMENT.c.commit_id == row.commit_id)
        await conn.execute(delete(MEASUREMENT).where(same & (MEASUREMENT.c.method == row.method)))
