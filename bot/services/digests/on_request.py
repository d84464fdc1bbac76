"""How does an operator print or repost one month's digest of one repository?"""

from __future__ import annotations

from sqlalchemy import Connection

from bot.configuration.errors import UnusableInputError
from bot.landing.months import month_of, parse_month
from bot.model.commit import Repository
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.services.context import Context
from bot.services.digests.month_note import month_note
from bot.services.digests.refresh import DigestId, defer_digest
from bot.services.digests.scope import DigestScope, expected_scope, home_of, repositories_by_name
from bot.services.digests.wording import request_wording, wording_report
from bot.services.repository_settings import RepositorySettings, stored_settings
from bot.services.writer import NO_WRITER
from bot.store import installations
from bot.store.digests import DigestRow, open_digest, target_of


async def publish_month(context: Context, full_name: str, month: str, *, dry_run: bool = False) -> str:
    """The Markdown of the digest from the current ledger. Unless `dry_run`, a job posts or edits it.

    A dry run also reports what the writer answered, if there is one, and what was refused. The answers are stored, so
    that the same text is posted later. Raises UnusableInputError for a repository without an installation, an invalid
    month, or, unless `dry_run`, a month that is not over.
    """
    installation, repository = await _installed_repository(context, full_name)
    one = installation, RepositoryId(repository.id or 0), _closed_month(month)
    scope, settings = await context.store.read(_scope_and_settings, one, repository)
    failure = await request_wording(context, scope)
    note = await context.store.read(month_note, context, scope)
    if note is None:
        return ""
    if not dry_run:
        if one[2] >= month_of(int(context.clock().timestamp()), settings.zone(context.zone)):
            raise UnusableInputError(f"{month} is not over yet; use --dry-run to see it")
        await context.store.write(_open_digest, context, one)
    if dry_run and context.writer is not NO_WRITER:
        return f"{note.text}\n{await wording_report(context, scope, failure)}\n"
    return note.text


def _scope_and_settings(
    connection: Connection, one: DigestId, repository: Repository
) -> tuple[DigestScope, RepositorySettings]:
    installation, number, month = one
    settings = stored_settings(connection, number)
    names = repositories_by_name(connection, installation)
    home = home_of(connection, names.get(repository.full_name, repository), names, settings)
    return expected_scope(connection, (installation, month), home), settings


def _open_digest(connection: Connection, context: Context, one: DigestId) -> None:
    """Record that the digest of this month is due, and ask for it."""
    _, number, month = one
    open_digest(connection, DigestRow(target_of(number), month, context.clock(), repository_id=number))
    defer_digest(connection, context, one)


async def _installed_repository(context: Context, full_name: str) -> tuple[InstallationId, Repository]:
    stored = await context.store.read(installations.repository_named, full_name)
    if stored is None or stored.installation_id is None or stored.removed_at is not None:
        raise UnusableInputError(f"{full_name} is not in the record; install Almanac on it first")
    return stored.installation_id, stored.repository


def _closed_month(text: str) -> Month:
    try:
        parse_month(text)
    except ValueError as error:
        raise UnusableInputError(str(error)) from None
    return Month(text)
