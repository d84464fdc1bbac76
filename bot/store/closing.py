"""Which repositories have a month that is over and not digested yet?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.months import begins_at, closed_months, month_after, month_of
from bot.model import InstallationId, Month, RepositoryId
from bot.store import digests
from bot.store.configurations import CONFIGURATION
from bot.store.installations import INSTALLATION, REPOSITORY
from bot.store.ledger import FACT

Due = tuple[InstallationId, RepositoryId, Month]


def target_of(repository: RepositoryId) -> str:
    """The digest target of a repository's own issue."""
    return f"repository:{repository}"


async def due(conn: AsyncConnection, now: datetime, zone: ZoneInfo) -> list[Due]:
    """Closed months with landings and without a digest, oldest first, cut in each repository's own zone, else `zone`.

    The month before the installation came is the first: older history is shown on pages, not posted. Where nothing
    may be posted nothing is due: what a pause held back is caught up after it.
    """
    query = (
        select(REPOSITORY.c.id, INSTALLATION.c.id, INSTALLATION.c.created_at, CONFIGURATION.c.zone)
        .join(INSTALLATION, INSTALLATION.c.id == REPOSITORY.c.installation_id)
        .outerjoin(CONFIGURATION, CONFIGURATION.c.repository_id == REPOSITORY.c.id)
        .where(REPOSITORY.c.removed_at.is_(None), INSTALLATION.c.removed_at.is_(None))
        .where(INSTALLATION.c.suspended_at.is_(None), CONFIGURATION.c.paused_at.is_(None))
        .where(func.coalesce(CONFIGURATION.c.digest, "issue") == "issue")
        .order_by(REPOSITORY.c.id)
    )
    found: list[Due] = []
    for repository, installation, created, own_zone in (await conn.execute(query)).all():
        here = ZoneInfo(own_zone) if own_zone else zone
        first = month_after(month_of(int(created.timestamp()), here), -1)
        closed = closed_months(first, int(now.timestamp()), here)
        missing = await digests.missing(conn, target_of(RepositoryId(repository)), closed)
        active = await _with_landings(conn, RepositoryId(repository), missing, here)
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
