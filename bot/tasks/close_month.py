"""A month is over: tell it once where the repository's digest stands, and again where late facts change it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.months import month_after
from bot.model import InstallationId, Month, Repository, RepositoryId
from bot.queue.interface import Job
from bot.render.wording import month_name
from bot.store import outbox
from bot.store.closing import due, repository_of, target_of
from bot.store.digests import DigestRow, of_target, open_digest, told_at, told_elsewhere
from bot.store.digests import record as record_digest
from bot.tasks.announcing import post
from bot.tasks.configuring import InForce, in_force, keep, read_in_force
from bot.tasks.digest_home import Scope, home_of, repositories_here, scope_of, standing
from bot.tasks.month_note import MonthNote, month_note
from bot.tasks.recording import Place as Target
from bot.tasks.recording import Recorded
from bot.tasks.wording import find_words
from bot.tasks.workplace import Workplace, arguments, asking_github

One = tuple[InstallationId, RepositoryId, Month]


class _Plan(Struct, frozen=True):
    """One digest to be told: of which repository, in which scope, as a preview or as a post."""

    row: DigestRow
    here: Repository
    scope: Scope
    preview: bool


async def close_months(place: Workplace) -> int:
    """Defer the digest of every closed month that has none; how many. The row and the job are one transaction."""
    now = place.clock()
    found = await place.store.read(due, now, place.zone)
    taken = 0
    for installation, repository, month in found:
        taken += await place.store.write(_open, place, (installation, repository, month), now)
    return taken


def _open(connection: Connection, place: Workplace, one: One, now: datetime) -> bool:
    """Whether this digest was not there yet."""
    _, repository, month = one
    is_new = open_digest(connection, DigestRow(target_of(repository), month, now, repository_id=repository))
    if is_new:
        defer_digest(connection, place, one)
    return is_new


def retell(connection: Connection, place: Workplace, target: Target, recorded: Recorded) -> None:
    """Late facts: the digests of months that they touch are written anew."""
    # A month of the digest may begin a day before or after the operator's, so its neighbours are looked at too.
    near = {month_after(month, step) for month in recorded.months for step in (-1, 0, 1)}
    retell_months(connection, place, (target.installation, target.repository), near)


def retell_months(
    connection: Connection,
    place: Workplace,
    where: tuple[InstallationId, RepositoryId],
    months: Collection[Month] | None = None,
) -> None:
    """Write the digests of these months (None: of all) anew where they are told; an unchanged text posts nothing.

    Those of other repositories that stand here are told anew too, each once.
    """
    own = of_target(connection, target_of(where[1]))
    posted = {row.month for row in own if row.state == "posted"}
    others = {row.month: row for row in told_at(connection, where[1]) if row.month not in posted}
    for row in (*own, *others.values()):
        if months is None or row.month in months:
            defer_digest(connection, place, (where[0], repository_of(row.target), row.month))


def retell_elsewhere(
    connection: Connection, place: Workplace, installation: InstallationId, moved: Collection[RepositoryId]
) -> None:
    """Write anew what stands at other repositories and told of these, which are out of reach now, or back."""
    rows = told_elsewhere(connection, [target_of(one) for one in moved])
    # One text tells of all that are told at the same place.
    for row in {(row.repository_id, row.month): row for row in rows}.values():
        defer_digest(connection, place, (installation, repository_of(row.target), row.month))


def defer_digest(connection: Connection, place: Workplace, one: One) -> None:
    """Ask for the text of one digest and its posting; the texts for one place are made one after the other."""
    installation, repository, month = one
    ref = f'{{"installation":{installation},"month":"{month}","repository":{repository}}}'
    place.queue.defer(
        connection,
        "close_month",
        ref,
        serial_key=f"digest:{_home_now(connection, one)}",
        dedupe_key=f"close_month:{ref}",
        installation_id=installation,
    )


def _home_now(connection: Connection, one: One) -> int:
    """The repository where this month stands, or would stand by the settings as they are kept."""
    installation, repository, month = one
    rows = {row.month: row for row in of_target(connection, target_of(repository))}
    if month in rows and rows[month].state == "posted":
        return rows[month].repository_id or repository
    names = repositories_here(connection, installation)
    here = next((known for known in names.values() if known.id == repository), None)
    return repository if here is None else home_of(here, names, in_force(connection, repository)).id or repository


async def close_month(job: Job, place: Workplace) -> None:
    """A month without work posts nothing. The first one of a repository is a preview, unless its settings say post."""
    given = arguments(job.ref_id)
    one = InstallationId(given["installation"]), RepositoryId(given["repository"]), Month(given["month"])
    await _renew_settings(place, one)
    plan = await place.store.read(_plan, one)
    if plan is not None:
        await find_words(place, plan.scope)

    def save(connection: Connection) -> None:
        plan = _plan(connection, one)
        if plan is not None and plan.preview:
            _show(connection, place, plan)
        elif plan is not None:
            _tell(connection, place, plan)
        job.finish(connection)

    await place.store.write(save)


async def _renew_settings(place: Workplace, one: One) -> None:
    """Keep the settings as their files are now: of the repository, and of another one that takes its digest."""
    installation, repository, _ = one
    names = await place.store.read(repositories_here, installation)
    here = next((known for known in names.values() if known.id == repository), None)
    if here is None:
        return
    settings = await _read_settings(place, installation, here)
    home = home_of(here, names, settings)
    if home is not here:
        await _read_settings(place, installation, home)


async def _read_settings(place: Workplace, installation: InstallationId, repository: Repository) -> InForce:
    number = RepositoryId(repository.id or 0)
    with asking_github():
        settings = await read_in_force(place, place.reader(installation, number), repository)
    await place.store.write(keep, number, settings)
    return settings


def _plan(connection: Connection, one: One) -> _Plan | None:
    """None where nothing is to be told: the repository is paused, or wants no digest, or left and was told nowhere."""
    installation, repository, month = one
    names = repositories_here(connection, installation)
    here = next((known for known in names.values() if known.id == repository), None)
    settings = in_force(connection, repository)
    rows = {row.month: row for row in of_target(connection, target_of(repository))}
    row = rows.get(month)
    if here is None:
        return None if row is None else _plan_without(connection, one, row)
    if row is None or settings.paused or settings.digest == "off":
        return None
    if _is_preview(row, rows, settings):
        return _Plan(row, here, scope_of(installation, month, here), preview=True)
    home = home_of(here, names, settings)
    if row.state == "posted":
        # What is posted stays where it is, whatever the settings say later.
        home = next((known for known in names.values() if known.id == row.repository_id), home)
    return _Plan(row, here, standing(connection, (installation, month, home), here), preview=False)


def _plan_without(connection: Connection, one: One, row: DigestRow) -> _Plan | None:
    """The digest that told of a repository which is out of reach now, where it stands in another one."""
    installation, repository, month = one
    names = repositories_here(connection, installation)
    home = next((known for known in names.values() if known.id == row.repository_id), None)
    if home is None or row.state != "posted" or row.repository_id == repository:
        return None
    return _Plan(row, home, standing(connection, (installation, month, home)), preview=False)


def _is_preview(row: DigestRow, rows: dict[Month, DigestRow], settings: InForce) -> bool:
    """Once posted, a month stays posted; once previewed, it stays a preview until the settings ask for it."""
    if settings.config.first_digest == "post" or row.state == "posted":
        return False
    return row.state == "preview" or row.month == min(rows)


def _show(connection: Connection, place: Workplace, plan: _Plan) -> None:
    """A check run on the month's newest commit, for those who installed us."""
    note = month_note(connection, place, plan.scope, preview=True)
    if note is None:
        return
    scope = plan.scope
    body = {"title": f"Preview of the digest for {scope.month}", "summary": note.text}
    key = f"preview:{scope.home_id}:{scope.month}"
    intent = outbox.Intent(key, "preview", scope.home_id, {"commit": note.newest}, body, scope.installation)
    post(connection, place, intent)
    record_digest(connection, replace(plan.row, state="preview"))


def _tell(connection: Connection, place: Workplace, plan: _Plan) -> None:
    """Post the text; a month that has none any more keeps its comment, which then says so."""
    scope = plan.scope
    note = month_note(connection, place, scope)
    if note is None:
        if not outbox.is_posted(connection, scope.key):
            return
        note = MonthNote(f"Nothing in {month_name(scope.month)} is counted any more.\n")
    target = {"month": scope.month, "form": _form(connection, plan)}
    post(
        connection,
        place,
        outbox.Intent(scope.key, "digest", scope.home_id, target, {"text": note.text}, scope.installation),
    )
    record_digest(connection, replace(plan.row, state="posted", repository_id=scope.home_id))


def _form(connection: Connection, plan: _Plan) -> str:
    """An issue or a discussion, as the settings of the place say; where they want none of its own, as ours do."""
    home = in_force(connection, plan.scope.home_id)
    own = in_force(connection, RepositoryId(plan.here.id or 0))
    return home.digest if home.digest != "off" else own.digest
