"""A month is over: tell it once in the repository's digest issue, and again where late facts change it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.months import month_after
from bot.model import InstallationId, Month, RepositoryId
from bot.queue.interface import Job
from bot.store import outbox
from bot.store.closing import due, target_of
from bot.store.digests import DigestRow, of_target, open_digest
from bot.store.digests import record as record_digest
from bot.store.installations import repositories_of
from bot.tasks.announcing import post
from bot.tasks.configuring import InForce, keep, read_in_force
from bot.tasks.month_note import MonthNote, month_note
from bot.tasks.recording import Place as Target
from bot.tasks.recording import Recorded
from bot.tasks.workplace import Workplace, arguments, asking_github

One = tuple[InstallationId, RepositoryId, Month]


async def close_months(place: Workplace) -> int:
    """Defer the digest of every closed month that has none; how many. The row and the job are one transaction."""
    now = place.clock()
    async with place.store.read() as conn:
        found = await due(conn, now, place.zone)
    taken = 0
    for installation, repository, month in found:
        async with place.store.begin() as conn:
            if await open_digest(conn, DigestRow(target_of(repository), month, now, repository_id=repository)):
                await defer_digest(conn, place, (installation, repository, month))
                taken += 1
    return taken


async def retell(conn: AsyncConnection, place: Workplace, target: Target, recorded: Recorded) -> None:
    """Late facts: the digests of months that they touch are written anew."""
    # A month of the digest may begin a day before or after the operator's, so its neighbours are looked at too.
    near = {month_after(month, step) for month in recorded.months for step in (-1, 0, 1)}
    await retell_months(conn, place, (target.installation, target.repository), near)


async def retell_months(
    conn: AsyncConnection,
    place: Workplace,
    where: tuple[InstallationId, RepositoryId],
    months: Collection[Month] | None = None,
) -> None:
    """Write the digests of these months (None: of all) anew where they are told; an unchanged text posts nothing."""
    for row in await of_target(conn, target_of(where[1])):
        if months is None or row.month in months:
            await defer_digest(conn, place, (*where, row.month))


async def defer_digest(conn: AsyncConnection, place: Workplace, one: One) -> None:
    """Ask for the text of one digest and its posting."""
    installation, repository, month = one
    ref = f'{{"installation":{installation},"month":"{month}","repository":{repository}}}'
    await place.queue.defer(
        conn,
        "close_month",
        ref,
        serial_key=f"repository:{repository}",
        dedupe_key=f"close_month:{ref}",
        installation_id=installation,
    )


async def close_month(job: Job, place: Workplace) -> None:
    """A month without work posts nothing. The first one of a repository is a preview, unless its settings say post."""
    given = arguments(job.ref_id)
    one = InstallationId(given["installation"]), RepositoryId(given["repository"]), Month(given["month"])
    settings = await _settings_now(place, one)
    async with place.store.begin() as conn:
        if settings is not None:
            await keep(conn, one[1], settings)
            rows = {row.month: row for row in await of_target(conn, target_of(one[1]))}
            row = rows.get(one[2])
            if row is not None and not settings.paused and settings.config.digest == "issue":
                preview = _is_preview(row, rows, settings)
                note = await month_note(conn, place, one, settings=settings, preview=preview)
                await _tell(conn, place, (one, row), note)
        await job.finish(conn)


async def _settings_now(place: Workplace, one: One) -> InForce | None:
    """The settings as their files are now; None where the repository is out of reach."""
    async with place.store.read() as conn:
        stored = {row.repository.id: row.repository for row in await repositories_of(conn, one[0])}
    repository = stored.get(one[1])
    if repository is None:
        return None
    with asking_github():
        return await read_in_force(place, place.reader(*one[:2]), repository)


def _is_preview(row: DigestRow, rows: dict[Month, DigestRow], settings: InForce) -> bool:
    """Once posted, a month stays posted; once previewed, it stays a preview until the settings ask for it."""
    if settings.config.first_digest == "post" or row.state == "posted":
        return False
    return row.state == "preview" or row.month == min(rows)


async def _tell(conn: AsyncConnection, place: Workplace, which: tuple[One, DigestRow], note: MonthNote | None) -> None:
    """Post the text; a month that has none any more keeps its comment, which then says so."""
    (installation, repository, month), row = which
    key = f"{'preview' if note and note.preview else 'digest'}:{repository}:{month}"
    if note is None:
        if row.state != "posted":
            return
        note = MonthNote(f"Nothing of {month} is counted any more.\n", repository)
    target: dict[str, str | None]
    body: dict[str, str]
    if note.preview:
        target, body = {"commit": note.newest}, {"title": f"Preview of the digest of {month}", "summary": note.text}
    else:
        target, body = {"month": month}, {"text": note.text}
    kind = "preview" if note.preview else "digest"
    if kind == "digest":
        # The comment stays where it was first posted, whatever the settings say later.
        before = [i for home in {note.home, repository} for i, _ in await outbox.intents(conn, home, ("digest",))]
        home = next((intent.repository_id for intent in before if intent.key == key), note.home)
    else:
        home = repository
    await post(conn, place, outbox.Intent(key, kind, home, target, body, installation))
    await record_digest(conn, replace(row, state="preview" if note.preview else "posted"))
