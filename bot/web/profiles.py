"""What is served about a person? The profile in every form, a month, two months compared, and dated snapshots."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo

from aiohttp import web
from msgspec import Struct
from sqlalchemy import Connection

from bot.landing.months import month_of, parse_month
from bot.model.ids import Month, PersonKey
from bot.model.profile import Profile
from bot.render import PICTURES, RENDERERS
from bot.render.html.page import DatedLink, PageOptions, render_page
from bot.render.html.site import PageLocation, difference_page, month_page, months_with_page
from bot.render.images.options import ADDRESS_OPTIONS, PLAIN, PictureOptions, read_options
from bot.render.text.atom import render_feed
from bot.store import links as signed_links
from bot.store import visibility
from bot.store.engine import StoreUnavailableError
from bot.store.snapshots import SnapshotEntry, snapshot
from bot.web import month_snapshots, subjects
from bot.web.collaborators import PageContext, page_context
from bot.web.profile_reader import Reading, profile_as_of
from bot.web.responses import (
    FORMATS,
    HTML,
    PUBLIC,
    UNINDEXED,
    UNLISTED,
    Manner,
    PageFormat,
    answer,
    format_by_suffix,
    media_of,
    negotiate_format,
    problem,
)
from bot.web.subjects import OpenPerson
from bot.web.sums import has_visible_author

log = logging.getLogger(__name__)


def manner_of(opened: OpenPerson) -> Manner:
    if opened.listed:
        return PUBLIC
    return UNINDEXED if opened.grant.public else UNLISTED


def requested_format(request: web.Request, suffix: str) -> PageFormat | None:
    """The form requested by the address's suffix, else by the Accept header; None if we do not offer it."""
    return format_by_suffix(suffix) if suffix else negotiate_format(request.headers.get("Accept", ""))


class RequestedForm(Struct, frozen=True):
    """The form that an address asks for by its suffix, and the options of a picture."""

    suffix: str = ""
    options: PictureOptions = PLAIN


def requested_options(request: web.Request, suffix: str) -> PictureOptions | None:
    """The options that the query asks for if the address is that of a picture; None if one of them is wrong."""
    form = format_by_suffix(suffix)
    if form is None or form.name not in PICTURES:
        return PLAIN
    query = request.query
    try:
        return read_options(
            form.name, {name: ",".join(query.getall(name)) for name in ADDRESS_OPTIONS if name in query}
        )
    except ValueError:
        return None


class PageLinks(Struct, frozen=True):
    """Where a page may lead: its snapshots, and the pages of repositories that everybody may open."""

    snapshots: tuple[SnapshotEntry, ...] = ()
    repositories: tuple[tuple[str, str], ...] = ()
    """(full name, path)"""
    without: frozenset[PersonKey] = frozenset()
    """people in whose changes a repository's page does not show"""


def page_links(connection: Connection, opened: OpenPerson) -> PageLinks:
    """Where the person's page leads."""
    repositories = subjects.repository_pages(connection, opened)
    without = visibility.hidden_people(connection) if repositories else frozenset[PersonKey]()
    return PageLinks(tuple(month_snapshots.visible_snapshots(connection, opened)), repositories, without)


def _newest_months(profile: Profile, links: PageLinks) -> tuple[tuple[str, str, Month], ...]:
    """(full name, path, month): the newest month of each of the repositories whose page shows the person's work."""
    zone = ZoneInfo(profile.method.timezone)
    newest = {
        change.repository: month_of(change.landed_at, zone)
        for change in profile.changes
        if links.repositories and change.id in profile.credits and has_visible_author(change, links.without)
    }
    return tuple((name, f"{path}/{newest[name]}", newest[name]) for name, path in links.repositories if name in newest)


async def show_profile(
    request: web.Request, opened: OpenPerson, asked: RequestedForm, links: PageLinks
) -> web.Response:
    """The profile in the requested form; as a page it links to others."""
    form = requested_format(request, asked.suffix)
    if form is None:
        return problem(request, 404 if asked.suffix else 406)
    context = page_context(request)
    dated_links = _snapshot_links(context, opened, links.snapshots) if form is HTML else ()
    reading = await read_profile(context, opened)
    if opened.grant.public and not reading.profile.changes:
        # Work that others only claim for somebody opens no page.
        return problem(request, 404)
    address = _Address(context.pages.public_url, opened, dated_links, links)
    name = (form.name, address.base, dated_links, asked.options, links if form is HTML else None)
    body = await context.reader.text(reading, name, address.renderer(form, asked.options))
    await note_use(context, opened, form.name)
    return answer(request, body, media_of(form), manner_of(opened))


def _snapshot_links(context: PageContext, opened: OpenPerson, found: Sequence[SnapshotEntry]) -> tuple[DatedLink, ...]:
    zone = context.pages.zone
    return tuple(
        DatedLink(
            f"{opened.base}/snapshots/{one.id}", one.month or "", one.taken_at.astimezone(zone).date().isoformat()
        )
        for one in found
    )


async def read_profile(context: PageContext, opened: OpenPerson) -> Reading:
    return await context.reader.read(opened, context.pages.clock())


class _Address:
    """Where a profile is served, for the forms that contain their own address."""

    def __init__(self, public_url: str, opened: OpenPerson, snapshots: tuple[DatedLink, ...], links: PageLinks) -> None:
        self._url, self._public, self._links = public_url, opened.listed, links
        self.base, self._taken = opened.base, snapshots

    def renderer(self, form: PageFormat, options: PictureOptions) -> Callable[[Profile], str]:
        if form is HTML:
            return self._page
        if form.name in PICTURES:
            return lambda profile: PICTURES[form.name](profile, options)
        return self._feed if form.name == "atom" else RENDERERS[form.name]

    def _page(self, profile: Profile) -> str:
        page = PageOptions(
            public=self._public,
            canonical=self._url + self.base if self._public else "",
            picture=f"{self._url}{self.base}.share.svg" if self._public else "",
            record=f"{self.base}.json",
            feed=f"{self.base}.atom",
            snapshots=self._taken,
            months=f"{self.base}/months",
            repositories=_newest_months(profile, self._links),
        )
        return render_page(profile, page)

    def _feed(self, profile: Profile) -> str:
        return render_feed(profile, f"{self._url}{self.base}.atom", self._url + self.base)


async def note_use(context: PageContext, opened: OpenPerson, form: str) -> None:
    """Count the use of a link. The page is shown even if the database cannot be written."""
    if opened.link is None:
        return
    try:
        await context.pages.store.write(signed_links.note_use, opened.link, form, context.pages.clock())
    except StoreUnavailableError as error:
        log.warning("use of a link not recorded", extra={"reason": str(error)})


# --- months ----------------------------------------------------------------------------------------------------------


def _parsed_month(text: str) -> Month | None:
    try:
        parse_month(text)
    except ValueError:
        return None
    return Month(text)


def _location(context: PageContext, opened: OpenPerson, path: str) -> PageLocation:
    public = opened.listed
    return PageLocation(opened.base, context.pages.public_url + opened.base + path if public else "", public)


async def show_month(request: web.Request, opened: OpenPerson) -> web.Response:
    """The permalink of one active month."""
    context, month = page_context(request), _parsed_month(request.match_info["month"])
    reading = await read_profile(context, opened)
    if month is None or month not in months_with_page(reading.profile):
        return problem(request, 404)
    location = _location(context, opened, f"/months/{month}")
    body = await context.reader.text(
        reading, ("month", month, location), lambda found: month_page(found, month, location)
    )
    await note_use(context, opened, "month")
    return answer(request, body, HTML.media, manner_of(opened))


async def show_difference(request: web.Request, opened: OpenPerson) -> web.Response:
    """Two months side by side, the earlier one first; at least one of them active."""
    context = page_context(request)
    before, after = _parsed_month(request.match_info["before"]), _parsed_month(request.match_info["after"])
    reading = await read_profile(context, opened)
    known = months_with_page(reading.profile)
    if before is None or after is None or before >= after or before not in known or after not in known:
        return problem(request, 404)
    pair = (before, after)
    location = _location(context, opened, f"/compare/{before}/{after}")
    body = await context.reader.text(
        reading, ("two", pair, location), lambda found: difference_page(found, pair, location)
    )
    await note_use(context, opened, "difference")
    return answer(request, body, HTML.media, manner_of(opened))


# --- snapshots -------------------------------------------------------------------------------------------------------


async def show_snapshot(request: web.Request, opened: OpenPerson) -> web.Response:
    """A dated snapshot with its signature: the same bytes for ever, as long as all its content may be shown."""
    context, identity = page_context(request), request.match_info["snapshot"].removesuffix(".json")
    found = await context.pages.store.read(snapshot, opened.person.key, identity)
    if found is None or not month_snapshots.may_show(opened, found):
        return problem(request, 404)
    await note_use(context, opened, "snapshot")
    return answer(request, month_snapshots.envelope(found), "application/json", manner_of(opened))


async def take_snapshot(context: PageContext, opened: OpenPerson) -> str | None:
    """Sign and save the current profile; return its id. None without a signing key or landings."""
    now = int(context.pages.clock().timestamp())
    subject = (opened.person, opened.grant, opened.repositories)
    profile = await profile_as_of(context.pages.store, subject, context.pages.zone, now, totals=context.pages.totals)
    return await month_snapshots.take_snapshot_now(context.pages, opened, profile)


__all__ = ["FORMATS", "show_difference", "show_month", "show_profile", "show_snapshot", "take_snapshot"]
