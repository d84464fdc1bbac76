"""Which digests does a change of the record affect?"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy import Connection

from bot.landing.months import month_after
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.services.context import Context
from bot.services.digests.scope import home_of, repositories_by_name
from bot.services.recording.record import Recorded
from bot.services.recording.record import RecordingTarget as Target
from bot.services.repository_settings import stored_settings
from bot.store import outbox
from bot.store.digests import DigestRow, digests_posted_in, of_target, posted_elsewhere, repository_of, target_of
from bot.store.jobs import DIGESTS


def refresh_digests(connection: Connection, context: Context, target: Target, recorded: Recorded) -> None:
    """Update the digests of the months that a recording affects."""
    # A month of the digest may begin a day before or after the operator's, so include its neighbours.
    near = {month_after(month, step) for month in recorded.months for step in (-1, 0, 1)}
    refresh_months(connection, context, (target.installation, target.repository), near)


def refresh_months(
    connection: Connection,
    context: Context,
    where: tuple[InstallationId, RepositoryId],
    months: Collection[Month] | None = None,
    *,
    taking_back: bool = False,
) -> None:
    """Update the digests of these months (None: all); an unchanged text is not posted again.

    Digests of other repositories that are posted here are updated too, each once. With `taking_back`, comments whose
    text changes are deleted and written again.
    """
    own = of_target(connection, target_of(where[1]))
    posted = {row.month for row in own if row.state == "posted"}
    others = {row.month: row for row in digests_posted_in(connection, where[1]) if row.month not in posted}
    if taking_back:
        take_back_digests(connection, (*own, *others.values()))
    for row in (*own, *others.values()):
        if months is None or row.month in months:
            defer_digest(connection, context, (where[0], repository_of(row.target), row.month))


def take_back_digests(connection: Connection, rows: Iterable[DigestRow]) -> None:
    """Delete the comments of these digests and write them again, if their text changes."""
    outbox.take_back(connection, {f"digest:{row.repository_id}:{row.month}" for row in rows if row.state == "posted"})


def refresh_digests_elsewhere(
    connection: Connection,
    context: Context,
    installation: InstallationId,
    moved: Collection[RepositoryId],
    *,
    taking_back: bool = False,
) -> None:
    """Update digests in other repositories that cover these, which have become unreachable or reachable again."""
    rows = posted_elsewhere(connection, [target_of(one) for one in moved])
    if taking_back:
        take_back_digests(connection, rows)
    # One text covers all repositories whose digests are posted in the same place.
    for row in {(row.repository_id, row.month): row for row in rows}.values():
        defer_digest(connection, context, (installation, repository_of(row.target), row.month))


def defer_digest(connection: Connection, context: Context, one: DigestId, *, run_at: datetime | None = None) -> None:
    """Defer writing one digest; digests posted in the same repository are written one after the other."""
    installation, repository, month = one
    ref = f'{{"installation":{installation},"month":"{month}","repository":{repository}}}'
    context.queue.defer(
        connection,
        "close_month",
        ref,
        serial_key=f"digest:{current_home(connection, one)}",
        dedupe_key=f"close_month:{ref}",
        installation_id=installation,
        run_at=run_at,
        priority=DIGESTS,
    )


def current_home(connection: Connection, one: DigestId) -> int:
    """The repository where this month's digest is posted, or would be by the stored settings."""
    installation, repository, month = one
    rows = {row.month: row for row in of_target(connection, target_of(repository))}
    if month in rows and rows[month].state == "posted":
        return rows[month].repository_id or repository
    names = repositories_by_name(connection, installation)
    subject = next((known for known in names.values() if known.id == repository), None)
    return (
        repository
        if subject is None
        else home_of(connection, subject, names, stored_settings(connection, repository)).id or repository
    )


DigestId = tuple[InstallationId, RepositoryId, Month]
