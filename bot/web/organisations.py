"""What is served of an organisation: sums over at least five people, and what landed in a repository's month."""

from __future__ import annotations

import asyncio
from datetime import datetime

from aiohttp import web
from msgspec import Struct
from sqlalchemy import Connection

from bot.landing.identity import is_bot, person_key
from bot.landing.months import begins_at, month_after, month_of, parse_month
from bot.model import Change, Month, PersonKey
from bot.render.organisation import Landed, organisation_page, repository_month_page
from bot.render.site import Place
from bot.store import links, records, visibility
from bot.store.engine import StoreUnavailableError
from bot.store.records import Found, Mark
from bot.store.visibility import RepositoryState
from bot.web.collaborators import Desk, desk_of
from bot.web.reading import repositories_of
from bot.web.responses import HTML, PUBLIC, UNLISTED, Manner, answer, problem
from bot.web.subjects import OpenOrganisation
from bot.web.sums import sums


class _Frame(Struct, frozen=True):
    """What a page of sums is made of, beside facts."""

    opened: OpenOrganisation
    place: Place
    without: frozenset[PersonKey]


def _manner(opened: OpenOrganisation) -> Manner:
    return PUBLIC if opened.grant.public else UNLISTED


def _place(desk: Desk, opened: OpenOrganisation, path: str = "") -> Place:
    public = opened.grant.public
    return Place(opened.base, desk.pages.public_url + opened.base + path if public else "", public)


async def show_organisation(request: web.Request, opened: OpenOrganisation) -> web.Response:
    """The organisation's months, repositories and languages; 404 where too few people took part."""
    desk = desk_of(request)

    mark, without = await desk.pages.store.read(_mark_and_left_out, opened)
    frame = _Frame(opened, _place(desk, opened), without)

    async def make() -> bytes:
        found = await desk.pages.store.read(records.facts_inside, opened.grant.repositories)
        return await asyncio.to_thread(_organisation, desk, frame, found)

    body = await desk.reader.made(("organisation", mark, frame, _day(desk)), make)
    if not body:
        return problem(request, 404)
    await _note_use(desk, opened, "organisation")
    return answer(request, body, HTML.media, _manner(opened))


def _mark_and_left_out(connection: Connection, opened: OpenOrganisation) -> tuple[Mark, frozenset[PersonKey]]:
    return records.mark_of(connection, opened.grant.repositories), visibility.left_out(connection)


def _day(desk: Desk) -> str:
    return desk.pages.clock().strftime("%Y-%m-%d")


def _organisation(desk: Desk, frame: _Frame, found: Found) -> bytes:
    changes = found.changes(repositories_of(frame.opened.repositories))
    added = sums(changes, desk.pages.zone, without=frame.without)
    if added is None:
        return b""
    names = {one.full_name for one in frame.opened.repositories}
    newest: dict[str, Month] = {}
    for change in changes:
        if change.repository in names:
            newest[change.repository] = max(
                newest.get(change.repository, Month("")), month_of(change.landed_at, desk.pages.zone)
            )
    return organisation_page(frame.opened.organisation.login, added, newest, frame.place).encode("utf-8", "replace")


# --- a repository's month --------------------------------------------------------------------------------------------


async def show_repository_month(request: web.Request, opened: OpenOrganisation) -> web.Response:
    """What landed in one repository in one month, as changes and without people; 404 where nothing did."""
    desk = desk_of(request)
    repository = _named(opened, request.match_info["repository"])
    month = _month(request.match_info["month"])
    if repository is None or month is None:
        return problem(request, 404)
    name = repository.full_name.rpartition("/")[2]
    span = (begins_at(month, desk.pages.zone), begins_at(month_after(month), desk.pages.zone))

    mark, without = await desk.pages.store.read(_mark_and_left_out, opened)
    frame = _Frame(opened, _place(desk, opened, f"/repositories/{name}/{month}"), without)

    async def make() -> bytes:
        found = await desk.pages.store.read(records.facts_of_month, repository.id, span, opened.grant.repositories)
        return await asyncio.to_thread(_repository_month, desk, frame, found, (repository, month))

    body = await desk.reader.made(("repository", repository.id, month, mark, frame), make)
    if not body:
        return problem(request, 404)
    await _note_use(desk, opened, "repository")
    return answer(request, body, HTML.media, _manner(opened))


def _named(opened: OpenOrganisation, name: str) -> RepositoryState | None:
    found = [one for one in opened.repositories if one.full_name.rpartition("/")[2].lower() == name.lower()]
    return found[0] if len(found) == 1 else None


def _month(text: str) -> Month | None:
    try:
        parse_month(text)
    except ValueError:
        return None
    return Month(text)


def _repository_month(desk: Desk, frame: _Frame, found: Found, which: tuple[RepositoryState, Month]) -> bytes:
    repository, month = which
    zone = desk.pages.zone
    changes = [
        change
        for change in found.changes(repositories_of(frame.opened.repositories))
        if change.repository == repository.full_name
        and month_of(change.landed_at, zone) == month
        and _by_somebody(change, frame.without)
    ]
    if not changes:
        return b""
    landed = Landed(repository.full_name, month, tuple(changes), str(zone))
    return repository_month_page(landed, frame.place).encode("utf-8", "replace")


def _by_somebody(change: Change, without: frozenset[PersonKey]) -> bool:
    """At least one person who is shown at all, and no one who is not."""
    authors = [commit.fact.author for commit in change.counted]
    keys = {person_key(author) for author in authors if not is_bot(author)}
    return bool(keys) and not keys & without


async def _note_use(desk: Desk, opened: OpenOrganisation, form: str) -> None:
    if opened.link is None:
        return
    now: datetime = desk.pages.clock()
    try:
        await desk.pages.store.write(links.note_use, opened.link, form, now)
    except StoreUnavailableError:
        return
