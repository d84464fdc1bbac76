"""What an operator asks for: one month of one repository, shown, or told again at GitHub."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.errors import UnusableInputError
from bot.landing.months import month_of, parse_month
from bot.model import InstallationId, Month, Repository, RepositoryId
from bot.narrator import NO_WRITER
from bot.store import installations
from bot.store.closing import target_of
from bot.store.digests import DigestRow, open_digest
from bot.tasks.close_month import One, defer_digest
from bot.tasks.configuring import InForce, in_force
from bot.tasks.digest_home import Scope, expected, home_of, repositories_here
from bot.tasks.month_note import month_note
from bot.tasks.wording import find_words, words_report
from bot.tasks.workplace import Workplace


async def tell_month(place: Workplace, full_name: str, month: str, *, dry_run: bool = False) -> str:
    """The Markdown of the digest from the ledger as it is now. Unless `dry_run` a job posts it, once, or edits it.

    A dry run also tells what a writer said, if there is one, and why it was refused; what it said is kept, so that what
    was shown is what is posted.

    Raises UnusableInputError for a repository that is not in the record, and for a month that is none or not over.
    """
    installation, repository = await _known(place, full_name)
    one = installation, RepositoryId(repository.id or 0), _month(month)
    scope, settings = await place.store.read(_scope_and_settings, one, repository)
    failures = await find_words(place, scope)
    note = await place.store.read(month_note, place, scope)
    if note is None:
        return ""
    if not dry_run:
        if one[2] >= month_of(int(place.clock().timestamp()), settings.zone(place.zone)):
            raise UnusableInputError(f"{month} is not over yet; use --dry-run to see it")
        await place.store.write(_open, place, one)
    if dry_run and place.writer is not NO_WRITER:
        return f"{note.text}\n{await words_report(place, scope, failures)}\n"
    return note.text


def _scope_and_settings(connection: Connection, one: One, repository: Repository) -> tuple[Scope, InForce]:
    installation, number, month = one
    settings = in_force(connection, number)
    names = repositories_here(connection, installation)
    home = home_of(names.get(repository.full_name, repository), names, settings)
    return expected(connection, (installation, month), home), settings


def _open(connection: Connection, place: Workplace, one: One) -> None:
    """Note that the digest of this month is due, and ask for it."""
    _, number, month = one
    open_digest(connection, DigestRow(target_of(number), month, place.clock(), repository_id=number))
    defer_digest(connection, place, one)


async def _known(place: Workplace, full_name: str) -> tuple[InstallationId, Repository]:
    stored = await place.store.read(installations.repository_named, full_name)
    if stored is None or stored.installation_id is None or stored.removed_at is not None:
        raise UnusableInputError(f"{full_name} is not in the record; install Almanac on it first")
    return stored.installation_id, stored.repository


def _month(text: str) -> Month:
    try:
        parse_month(text)
    except ValueError as error:
        raise UnusableInputError(str(error)) from None
    return Month(text)
