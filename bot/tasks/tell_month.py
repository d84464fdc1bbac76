"""What an operator asks for: one month of one repository, shown, or told again at GitHub."""

from __future__ import annotations

from bot.errors import UnusableInputError
from bot.landing.months import month_of, parse_month
from bot.model import InstallationId, Month, Repository, RepositoryId
from bot.narrator import NO_WRITER
from bot.store import installations
from bot.store.closing import target_of
from bot.store.digests import DigestRow, open_digest
from bot.tasks.close_month import defer_digest
from bot.tasks.configuring import in_force
from bot.tasks.digest_home import expected, home_of, repositories_here
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
    async with place.store.read() as conn:
        settings = await in_force(conn, one[1])
        names = await repositories_here(conn, installation)
        home = home_of(names.get(repository.full_name, repository), names, settings)
        scope = await expected(conn, (installation, one[2]), home)
    failures = await find_words(place, scope)
    async with place.store.read() as conn:
        note = await month_note(conn, place, scope)
    if note is None:
        return ""
    if not dry_run:
        if one[2] >= month_of(int(place.clock().timestamp()), settings.zone(place.zone)):
            raise UnusableInputError(f"{month} is not over yet; use --dry-run to see it")
        async with place.store.begin() as conn:
            await open_digest(conn, DigestRow(target_of(one[1]), one[2], place.clock(), repository_id=one[1]))
            await defer_digest(conn, place, one)
    if dry_run and place.writer is not NO_WRITER:
        return f"{note.text}\n{await words_report(place, scope, failures)}\n"
    return note.text


async def _known(place: Workplace, full_name: str) -> tuple[InstallationId, Repository]:
    async with place.store.read() as conn:
        stored = await installations.repository_named(conn, full_name)
    if stored is None or stored.installation_id is None or stored.removed_at is not None:
        raise UnusableInputError(f"{full_name} is not in the record; install Almanac on it first")
    return stored.installation_id, stored.repository


def _month(text: str) -> Month:
    try:
        parse_month(text)
    except ValueError as error:
        raise UnusableInputError(str(error)) from None
    return Month(text)
