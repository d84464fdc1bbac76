"""Which repositories have a closed month without a digest?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, exists, func, literal, select, union_all

from bot.landing.months import closed_months, month_after, month_of, month_start
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.store import digests
from bot.store.configurations import CONFIGURATION
from bot.store.installations import INSTALLATION, REPOSITORY
from bot.store.ledger import FACT

Due = tuple[InstallationId, RepositoryId, Month]


def target_of(repository: RepositoryId) -> str:
    """The digest target of a repository."""
    return f"repository:{repository}"


def repository_of(target: str) -> RepositoryId:
    """The repository of a digest target."""
    return RepositoryId(int(target.partition(":")[2]))


def due(connection: Connection, now: datetime, zone: ZoneInfo) -> list[Due]:
    """Closed months with landings but no digest, oldest first, in each repository's own time zone, else `zone`.

    The first is the month before the installation: older history appears on pages and is not posted. Nothing is due
    while posting is paused; it becomes due after the pause.
    """
    query = (
        select(REPOSITORY.c.id, INSTALLATION.c.id, INSTALLATION.c.created_at, CONFIGURATION.c.zone)
        .join(INSTALLATION, INSTALLATION.c.id == REPOSITORY.c.installation_id)
        .outerjoin(CONFIGURATION, CONFIGURATION.c.repository_id == REPOSITORY.c.id)
        .where(REPOSITORY.c.removed_at.is_(None), INSTALLATION.c.removed_at.is_(None))
        .where(INSTALLATION.c.suspended_at.is_(None), CONFIGURATION.c.paused_at.is_(None))
        .where(func.coalesce(CONFIGURATION.c.digest, "issue") != "off")
        .order_by(REPOSITORY.c.id)
    )
    found: list[Due] = []
    for repository, installation, created, own_zone in connection.execute(query).all():
        repositories = ZoneInfo(own_zone) if own_zone else zone
        first = month_after(month_of(int(created.timestamp()), repositories), -1)
        closed = closed_months(first, int(now.timestamp()), repositories)
        missing = digests.missing_months(connection, target_of(RepositoryId(repository)), closed)
        active = _with_landings(connection, RepositoryId(repository), missing, repositories)
        found += [(InstallationId(installation), RepositoryId(repository), month) for month in active]
    return sorted(found, key=lambda one: (one[2], one[1]))


def _with_landings(
    connection: Connection, repository: RepositoryId, closed: Sequence[Month], zone: ZoneInfo
) -> list[Month]:
    """One statement, however many quiet months there are."""
    if not closed:
        return []
    asked = [select(literal(month).label("month")).where(_landed_in(repository, month, zone)) for month in closed]
    return [Month(row.month) for row in connection.execute(union_all(*asked))]


def _landed_in(repository: RepositoryId, month: Month, zone: ZoneInfo) -> ColumnElement[bool]:
    since, until = month_start(month, zone), month_start(month_after(month), zone)
    mine = FACT.c.repository_id == repository, FACT.c.landed_at >= since, FACT.c.landed_at < until
    return exists(select(FACT.c.id).where(*mine))
