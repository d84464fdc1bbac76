"""Which closed months are due and which are posted? One digest per target and month; one row per schedule period."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Index,
    Table,
    delete,
    exists,
    func,
    literal,
    select,
    union_all,
    update,
)

from bot.landing.months import closed_months, month_after, month_of, month_start
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.configurations import CONFIGURATION
from bot.store.dialect import among, insert_into
from bot.store.inserts import upsert
from bot.store.installations import INSTALLATION, REPOSITORY
from bot.store.ledger import FACT

DIGEST = Table(
    "digest",
    METADATA,
    Column("target", CleanText, primary_key=True),
    Column("month", CleanText, primary_key=True),
    Column("repository_id", WholeNumber),
    Column("state", CleanText, nullable=False, server_default="due"),
    Column("issue_number", WholeNumber),
    Column("comment_id", WholeNumber),
    Column("body_hash", CleanText),
    Column("opened_at", Instant, nullable=False),
    Index(None, "repository_id"),
)
PERIOD = Table(
    "period",
    METADATA,
    Column("schedule", CleanText, primary_key=True),
    Column("period", CleanText, primary_key=True),
    Column("begun_at", Instant, nullable=False),
    Column("ended_at", Instant),
)

Due = tuple[InstallationId, RepositoryId, Month]


class DigestRow(Struct, frozen=True):
    """The digest of one target (`repository:<id>`) and month; once posted, `repository_id` is where the post is."""

    target: str
    month: Month
    opened_at: datetime
    repository_id: int | None = None
    state: str = "due"
    issue_number: int | None = None
    comment_id: int | None = None
    body_hash: str | None = None


def open_digest(connection: Connection, digest: DigestRow) -> bool:
    """Reserve the digest; False if another process has. This row, not a clock, ensures that a month is posted once."""
    row = {name: getattr(digest, name) for name in digest.__struct_fields__}
    statement = insert_into(connection, DIGEST).values(row).on_conflict_do_nothing().returning(DIGEST.c.target)
    return connection.execute(statement).first() is not None


def kept_issue(connection: Connection, repository: RepositoryId) -> int | None:
    """The number of the issue in which a repository's digests are posted; None if it is not known."""
    mine = (DIGEST.c.repository_id == repository) & DIGEST.c.issue_number.is_not(None)
    return connection.execute(select(func.max(DIGEST.c.issue_number)).where(mine)).scalar()


def keep_issue(connection: Connection, repository: RepositoryId, number: int | None) -> None:
    """Remember that number; None forgets it."""
    connection.execute(update(DIGEST).where(DIGEST.c.repository_id == repository).values(issue_number=number))


def record(connection: Connection, digest: DigestRow) -> None:
    """Record where the digest was posted."""
    names = ("state", "issue_number", "comment_id", "body_hash", "repository_id")
    same = (DIGEST.c.target == digest.target) & (DIGEST.c.month == digest.month)
    connection.execute(update(DIGEST).where(same).values({name: getattr(digest, name) for name in names}))


def of_target(connection: Connection, target: str) -> list[DigestRow]:
    """All digests of the target, oldest month first."""
    query = select(DIGEST).where(DIGEST.c.target == target).order_by(DIGEST.c.month)
    return [DigestRow(**row) for row in connection.execute(query).mappings()]


def digests_posted_in(connection: Connection, repository_id: int, month: Month | None = None) -> list[DigestRow]:
    """The digests posted in a repository, its own and those of other targets, oldest month first."""
    posted = (DIGEST.c.repository_id == repository_id) & (DIGEST.c.state == "posted")
    if month is not None:
        posted &= DIGEST.c.month == month
    rows = connection.execute(select(DIGEST).where(posted).order_by(DIGEST.c.month, DIGEST.c.target))
    return [DigestRow(**row) for row in rows.mappings()]


def posted_elsewhere(connection: Connection, targets: Collection[str]) -> list[DigestRow]:
    """The digests of these targets (`repository:<id>`) that were posted in another repository, oldest month first."""
    found: list[DigestRow] = []
    for these in among(DIGEST.c.target, sorted(targets)):
        posted = these & (DIGEST.c.state == "posted")
        rows = connection.execute(select(DIGEST).where(posted)).mappings()
        found += [DigestRow(**row) for row in rows if row["target"] != f"repository:{row['repository_id']}"]
    return sorted(found, key=lambda row: (row.month, row.target))


def missing_months(connection: Connection, target: str, closed: Sequence[Month]) -> list[Month]:
    """The closed months that have no digest row yet."""
    known = {digest.month for digest in of_target(connection, target)}
    return [month for month in closed if month not in known]


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
        missing = missing_months(connection, target_of(RepositoryId(repository)), closed)
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


def begin_period(connection: Connection, schedule: str, period: str, now: datetime) -> bool:
    """Claim one period of a schedule; False if this or another process has claimed it already."""
    row = {"schedule": schedule, "period": period, "begun_at": now}
    statement = insert_into(connection, PERIOD).values(row).on_conflict_do_nothing().returning(PERIOD.c.period)
    return connection.execute(statement).first() is not None


def periods_of(connection: Connection, schedule: str) -> set[str]:
    """The periods that were claimed and not deleted."""
    rows = connection.execute(select(PERIOD.c.period).where(PERIOD.c.schedule == schedule))
    return {str(row.period) for row in rows}


def forget_periods(connection: Connection, schedule: str, before: datetime) -> int:
    """Delete periods claimed before then; return how many."""
    old = (PERIOD.c.schedule == schedule) & (PERIOD.c.begun_at < before)
    return connection.execute(delete(PERIOD).where(old)).rowcount


def touch_period(connection: Connection, schedule: str, period: str, now: datetime) -> None:
    """Record that the period was checked now."""
    upsert(connection, PERIOD, [{"schedule": schedule, "period": period, "begun_at": now}])
