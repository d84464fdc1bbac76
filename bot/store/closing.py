"""Which repositories have a month that is over and not digested yet?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.months import begins_at, closed_months, month_after, month_of
from bot.model import InstallationId, Month, RepositoryId
from bot.store import digests
from bot.store.installations import INSTALLATION, REPOSITORY
from bot.store.ledger import FACT

Due = tuple[InstallationId, RepositoryId, Month]


def target_of(repository: RepositoryId) -> str:
    """The digest target of a repository's own issue."""
    return f"repository:{repository}"


async def due(conn: AsyncConnection, now: datetime, zone: ZoneInfo) -> list[Due]:
    """Closed months with landings and without a digest, oldest first.

    The month before the installation came is the first: older history is shown on pages, not posted.
    """
    query = (
        select(REPOSITORY.c.id, INSTALLATION.c.id, INSTALLATION.c.created_at)
        .join(INSTALLATION, INSTALLATION.c.id == REPOSITORY.c.installation_id)
        .where(REPOSITORY.c.removed_at.is_(None), INSTALLATION.c.removed_at.is_(None))
        .where(INSTALLATION.c.suspended_at.is_(None))
        .order_by(REPOSITORY.c.id)
    )
    found: list[Due] = []
    for repository, installation, created in (await conn.execute(query)).all():
        first = month_after(month_of(int(created.timestamp()), zone), -1)
        closed = closed_months(first, int(now.timestamp()), zone)
        missing = await digests.missing(conn, target_of(RepositoryId(repository)), closed)
        active = await _with_landings(conn, RepositoryId(repository), missing, zone)
        found += [(InstallationId(installation), RepositoryId(repository), month) for month in active]
    return sorted(found, key=lambda one: (one[2], one[1]))


async def _with_landings(
    conn: AsyncConnection, repository: RepositoryId, closed: Sequence[Month], zone: ZoneInfo
) -> list[Month]:
    active = []
    for month in closed:
        landed = (FACT.c.landed_at >= begins_at(month, zone)) & (FACT.c.landed_at < begins_at(month_after(month), zone))
        some = await conn.execute(select(FACT.c.id).where(FACT.c.repository_id == repository, landed).limit(1))
        if some.first() is not None:
            active.append(month)
    return active
