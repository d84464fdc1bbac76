"""What is served about an organisation? Sums over at least five people, and what landed in a repository's month."""

from __future__ import annotations

from datetime import datetime

from aiohttp import web
from msgspec import Struct
from sqlalchemy import Connection

from bot.landing.months import month_of, parse_month
from bot.model.ids import Month, PersonKey
from bot.render.html.organisation import organisation_page
from bot.render.html.site import PageLocation
from bot.store import links, records, visibility
from bot.store.engine import StoreUnavailableError
from bot.store.records import LedgerMark, RecordedFacts
from bot.store.visibility import RepositoryState
from bot.web.collaborators import PageContext, page_context
from bot.web.profile_reader import repositories_of
from bot.web.repository_months import RepositoryMonths
from bot.web.responses import HTML, PUBLIC, UNLISTED, Manner, answer, problem
from bot.web.subjects import OpenOrganisation
from bot.web.sums import has_visible_author, sums


class _SumsPage(Struct, frozen=True):
    """What a page of sums needs beside facts."""

    opened: OpenOrganisation
    location: PageLocation
    without: frozenset[PersonKey]


def _manner(opened: OpenOrganisation) -> Manner:
    return PUBLIC if opened.grant.public else UNLISTED


def _location(context: PageContext, opened: OpenOrganisation) -> PageLocation:
    public = opened.grant.public
    return PageLocation(opened.base, context.pages.public_url + opened.base if public else "", public)


async def show_organisation(request: web.Request, opened: OpenOrganisation) -> web.Response:
    """The organisation's months, repositories and languages; 404 if too few people took part."""
    context = page_context(request)
    mark, without = await context.pages.store.read(_mark_and_left_out, opened)
    frame = _SumsPage(opened, _location(context, opened), without)

    async def make() -> bytes:
        found = await context.pages.store.read(records.facts_inside, opened.grant.repositories)
        return await context.reader.in_thread(_render_organisation, context, frame, found)

    body = await context.reader.cached_page(("organisation", mark, frame, _day(context)), make)
    if not body:
        return problem(request, 404)
    await _note_use(context, opened, "organisation")
    return answer(request, body, HTML.media, _manner(opened))


def _mark_and_left_out(connection: Connection, opened: OpenOrganisation) -> tuple[LedgerMark, frozenset[PersonKey]]:
    return records.mark_of(connection, opened.grant.repositories), visibility.hidden_people(connection)


def _day(context: PageContext) -> str:
    return context.pages.clock().strftime("%Y-%m-%d")


def _render_organisation(context: PageContext, frame: _SumsPage, found: RecordedFacts) -> bytes:
    changes = found.changes(repositories_of(frame.opened.repositories))
    added = sums(changes, context.pages.zone, without=frame.without)
    if added is None:
        return b""
    names = {one.full_name for one in frame.opened.repositories}
    newest: dict[str, Month] = {}
    for change in changes:
        if change.repository in names and has_visible_author(change, frame.without):
            newest[change.repository] = max(
                newest.get(change.repository, Month("")), month_of(change.landed_at, context.pages.zone)
            )
    return organisation_page(frame.opened.organisation.login, added, newest, frame.location).encode("utf-8", "replace")


# --- a repository's month --------------------------------------------------------------------------------------------


async def show_repository_month(request: web.Request, opened: OpenOrganisation) -> web.Response:
    """What landed in one repository in one month, as changes without people; 404 if nothing did."""
    context = page_context(request)
    repository = _repository_called(opened, request.match_info["repository"])
    month = _parsed_month(request.match_info["month"])
    if repository is None or month is None:
        return problem(request, 404)
    months = RepositoryMonths(context, opened, repository, *await context.pages.store.read(_mark_and_left_out, opened))
    body = await months.page(month)
    if not body:
        return problem(request, 404)
    await _note_use(context, opened, "repository")
    return answer(request, body, HTML.media, _manner(opened))


def _repository_called(opened: OpenOrganisation, name: str) -> RepositoryState | None:
    found = [one for one in opened.repositories if one.full_name.rpartition("/")[2].lower() == name.lower()]
    return found[0] if len(found) == 1 else None


def _parsed_month(text: str) -> Month | None:
    try:
        parse_month(text)
    except ValueError:
        return None
    return Month(text)


async def _note_use(context: PageContext, opened: OpenOrganisation, form: str) -> None:
    if opened.link is None:
        return
    now: datetime = context.pages.clock()
    try:
        await context.pages.store.write(links.note_use, opened.link, form, now)
    except StoreUnavailableError:
        return
