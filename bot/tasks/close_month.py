"""A month is over: tell it once in the repository's digest issue, and again where late facts change it."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.digest.repository_month import contributor_months
from bot.landing.changes import fold
from bot.landing.identity import person_key
from bot.landing.months import begins_at, month_after
from bot.model import InstallationId, Month, Person, PersonKey, RepositoryId
from bot.queue.interface import Job
from bot.render.digest_note import DigestPart, digest_note
from bot.store import installations, ledger, months, outbox, people
from bot.store.closing import due, target_of
from bot.store.digests import DigestRow, of_target, open_digest
from bot.tasks.announcing import post
from bot.tasks.recording import Place as Target
from bot.tasks.recording import Recorded
from bot.tasks.workplace import Workplace, arguments


async def close_months(place: Workplace) -> int:
    """Defer the digest of every closed month that has none; how many. The row and the job are one transaction."""
    now = place.clock()
    async with place.store.read() as conn:
        found = await due(conn, now, place.zone)
    for installation, repository, month in found:
        async with place.store.begin() as conn:
            if await open_digest(conn, DigestRow(target_of(repository), month, now, repository_id=repository)):
                await _defer(conn, place, (installation, repository, month))
    return len(found)


async def retell(conn: AsyncConnection, place: Workplace, target: Target, recorded: Recorded) -> None:
    """Late facts: the digests of months that they touch are written anew."""
    told = {row.month for row in await of_target(conn, target_of(target.repository))}
    for month in sorted(recorded.months & told):
        await _defer(conn, place, (target.installation, target.repository, month))


async def _defer(conn: AsyncConnection, place: Workplace, one: tuple[InstallationId, RepositoryId, Month]) -> None:
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
    """A month without work posts nothing; people who opted out are not named."""
    given = arguments(job.ref_id)
    repository_id, month = RepositoryId(given["repository"]), Month(given["month"])
    async with place.store.begin() as conn:
        stored = await installations.repository(conn, repository_id)
        text = None
        if stored is not None and stored.removed_at is None:
            text = await _text(conn, place, (InstallationId(given["installation"]), repository_id, month))
        if text:
            intent = outbox.Intent(
                key=f"digest:{repository_id}:{month}",
                kind="digest",
                repository_id=repository_id,
                target={"month": month},
                body={"text": text},
                installation_id=given["installation"],
            )
            await post(conn, place, intent)
        await job.finish(conn)


async def _text(
    conn: AsyncConnection, place: Workplace, which: tuple[InstallationId, RepositoryId, Month]
) -> str | None:
    installation, repository_id, month = which
    begin, end = begins_at(month, place.zone), begins_at(month_after(month), place.zone)
    facts = await ledger.facts_in(conn, repository_id, begin, end)
    keys = sorted({person_key(fact.author) for fact in facts})
    whole = await months.component_of_month(conn, keys, month, zone=place.zone, within=installation)
    names = {
        row.repository.full_name: row.repository for row in await installations.repositories_of(conn, installation)
    }
    repository = next((name for name, known in names.items() if known.id == repository_id), None)
    if repository is None:
        return None
    changes = fold(whole, names)
    persons = await _people(conn, keys)
    parts = contributor_months(changes, persons, repository, month=month, zone=place.zone)
    if not parts:
        return None
    by_id = {change.id: change for change in changes}
    return digest_note([DigestPart(person.display, record) for person, record in parts], by_id, zone=str(place.zone))


async def _people(conn: AsyncConnection, keys: list[PersonKey]) -> dict[PersonKey, Person]:
    """Those who may be named."""
    hidden = await people.opted_out(conn)
    found = {key: await people.person(conn, key) for key in keys if key not in hidden}
    return {key: person for key, person in found.items() if person is not None}
