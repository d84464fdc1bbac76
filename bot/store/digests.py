"""Which months are closed and told: one digest for each target and month, one row for each period of a schedule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Column, Index, Table, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.model import Month
from bot.store.columns import METADATA, Instant, Whole, Words
from bot.store.dialect import among, insert_into, upsert

DIGEST = Table(
    "digest",
    METADATA,
    Column("target", Words, primary_key=True),
    Column("month", Words, primary_key=True),
    Column("repository_id", Whole),
    Column("state", Words, nullable=False, server_default="due"),
    Column("issue_number", Whole),
    Column("comment_id", Whole),
    Column("body_hash", Words),
    Column("opened_at", Instant, nullable=False),
    Index(None, "repository_id"),
)
PERIOD = Table(
    "period",
    METADATA,
    Column("schedule", Words, primary_key=True),
    Column("period", Words, primary_key=True),
    Column("begun_at", Instant, nullable=False),
    Column("ended_at", Instant),
)


@frozen
class DigestRow:
    """The digest of one target (`repository:<id>`) and month; once posted, `repository_id` is where it stands."""

    target: str
    month: Month
    opened_at: datetime
    repository_id: int | None = None
    state: str = "due"
    issue_number: int | None = None
    comment_id: int | None = None
    body_hash: str | None = None


async def open_digest(conn: AsyncConnection, digest: DigestRow) -> bool:
    """Reserve the digest; False where another process has. This row, not a clock, says that a month is told once."""
    row = {name: getattr(digest, name) for name in digest.__match_args__}
    statement = insert_into(conn, DIGEST).values(row).on_conflict_do_nothing().returning(DIGEST.c.target)
    return (await conn.execute(statement)).first() is not None


async def record(conn: AsyncConnection, digest: DigestRow) -> None:
    """Where it stands now."""
    names = ("state", "issue_number", "comment_id", "body_hash", "repository_id")
    same = (DIGEST.c.target == digest.target) & (DIGEST.c.month == digest.month)
    await conn.execute(update(DIGEST).where(same).values({name: getattr(digest, name) for name in names}))


async def of_target(conn: AsyncConnection, target: str) -> list[DigestRow]:
    """All digests of the target, oldest month first."""
    query = select(DIGEST).where(DIGEST.c.target == target).order_by(DIGEST.c.month)
    return [DigestRow(**row) for row in (await conn.execute(query)).mappings()]


async def told_at(conn: AsyncConnection, repository_id: int, month: Month | None = None) -> list[DigestRow]:
    """The digests that stand at a repository, its own and those of others that are told there, oldest month first."""
    stands = (DIGEST.c.repository_id == repository_id) & (DIGEST.c.state == "posted")
    if month is not None:
        stands &= DIGEST.c.month == month
    rows = await conn.execute(select(DIGEST).where(stands).order_by(DIGEST.c.month, DIGEST.c.target))
    return [DigestRow(**row) for row in rows.mappings()]


async def told_elsewhere(conn: AsyncConnection, targets: Collection[str]) -> list[DigestRow]:
    """The posted digests of these targets (`repository:<id>`) that stand in another repository, oldest month first."""
    found: list[DigestRow] = []
    for these in among(DIGEST.c.target, sorted(targets)):
        posted = these & (DIGEST.c.state == "posted")
        rows = (await conn.execute(select(DIGEST).where(posted))).mappings()
        found += [DigestRow(**row) for row in rows if row["target"] != f"repository:{row['repository_id']}"]
    return sorted(found, key=lambda row: (row.month, row.target))


async def missing(conn: AsyncConnection, target: str, closed: Sequence[Month]) -> list[Month]:
    """Those of the closed months that have no digest row yet."""
    told = {digest.month for digest in await of_target(conn, target)}
    return [month for month in closed if month not in told]


async def begin_period(conn: AsyncConnection, schedule: str, period: str, now: datetime) -> bool:
    """Take one period of a schedule in hand; False where that has been done, here or in another process."""
    row = {"schedule": schedule, "period": period, "begun_at": now}
    statement = insert_into(conn, PERIOD).values(row).on_conflict_do_nothing().returning(PERIOD.c.period)
    return (await conn.execute(statement)).first() is not None


async def periods_of(conn: AsyncConnection, schedule: str) -> set[str]:
    """Those that were taken in hand and not forgotten."""
    rows = await conn.execute(select(PERIOD.c.period).where(PERIOD.c.schedule == schedule))
    return {str(row.period) for row in rows}


async def forget_periods(conn: AsyncConnection, schedule: str, before: datetime) -> int:
    """Delete what began before then; rows deleted."""
    old = (PERIOD.c.schedule == schedule) & (PERIOD.c.begun_at < before)
    return (await conn.execute(delete(PERIOD).where(old))).rowcount


async def touch_period(conn: AsyncConnection, schedule: str, period: str, now: datetime) -> None:
    """Write that it was looked at now."""
    await upsert(conn, PERIOD, [{"schedule": schedule, "period": period, "begun_at": now}])
