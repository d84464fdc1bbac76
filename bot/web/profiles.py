"""What is served of a person: the profile in every form, a month, two months, and dated snapshots."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from aiohttp import web

from bot.landing.months import parse_month
from bot.model import Month, Profile
from bot.render import RENDERERS
from bot.render.atom import render_feed
from bot.render.html import DatedLink, Page, render_page
from bot.render.site import Place, difference_page, month_page, months_of
from bot.store import links
from bot.store.engine import StoreUnavailableError
from bot.store.snapshots import Dated, snapshot
from bot.web import dated
from bot.web.collaborators import Desk, desk_of
from bot.web.reading import Reading
from bot.web.responses import (
    FORMS,
    HTML,
    PUBLIC,
    UNLISTED,
    Form,
    Manner,
    answer,
    form_accepted,
    form_called,
    media_of,
    problem,
)
from bot.web.subjects import OpenPerson

log = logging.getLogger(__name__)


def manner_of(opened: OpenPerson) -> Manner:
    return PUBLIC if opened.grant.public else UNLISTED


def wanted_form(request: web.Request, suffix: str) -> Form | None:
    """The form that the address's suffix or else the Accept header asks for; None for none of ours."""
    return form_called(suffix) if suffix else form_accepted(request.headers.get("Accept", ""))


async def show_profile(
    request: web.Request, opened: OpenPerson, *, suffix: str, snapshots: Sequence[Dated]
) -> web.Response:
    """The profile in the form that was asked for; as a page it leads to the snapshots."""
    form = wanted_form(request, suffix)
    if form is None:
        return problem(request, 404 if suffix else 406)
    desk = desk_of(request)
    taken = _links(desk, opened, snapshots) if form is HTML else ()
    reading = await read(desk, opened)
    address = _Address(desk.pages.public_url, opened, taken)
    body = await desk.reader.text(reading, (form.name, address.base, taken), address.renderer(form))
    await note_use(desk, opened, form.name)
    return answer(request, body, media_of(form), manner_of(opened))


def _links(desk: Desk, opened: OpenPerson, found: Sequence[Dated]) -> tuple[DatedLink, ...]:
    zone = desk.pages.zone
    return tuple(
        DatedLink(
            f"{opened.base}/snapshots/{one.id}", one.month or "", one.taken_at.astimezone(zone).date().isoformat()
        )
        for one in found
    )


async def read(desk: Desk, opened: OpenPerson) -> Reading:
    return await desk.reader.read(opened, desk.pages.clock())


class _Address:
    """Where a profile is served, for the forms that name their own address."""

    def __init__(self, public_url: str, opened: OpenPerson, taken: tuple[DatedLink, ...]) -> None:
        self._url, self._public = public_url, opened.grant.public
        self.base, self._taken = opened.base, taken

    def renderer(self, form: Form) -> Callable[[Profile], str]:
        if form is HTML:
            return self._page
        return self._feed if form.name == "atom" else RENDERERS[form.name]

    def _page(self, profile: Profile) -> str:
        page = Page(
            public=self._public,
            canonical=self._url + self.base if self._public else "",
            picture=f"{self._url}{self.base}.share.svg" if self._public else "",
            record=f"{self.base}.json",
            feed=f"{self.base}.atom",
            snapshots=self._taken,
        )
        return render_page(profile, page)

    def _feed(self, profile: Profile) -> str:
        return render_feed(profile, f"{self._url}{self.base}.atom", self._url + self.base)


async def note_use(desk: Desk, opened: OpenPerson, form: str) -> None:
    """Write into the access log of a link. A page is shown even where the database cannot be written."""
    if opened.link is None:
        return
    try:
        await desk.pages.store.write(links.note_use, opened.link, form, desk.pages.clock())
    except StoreUnavailableError as error:
        log.warning("a link's use was not recorded: %s", error)


# --- months ----------------------------------------------------------------------------------------------------------


def _month(text: str) -> Month | None:
    try:
        parse_month(text)
    except ValueError:
        return None
    return Month(text)


def _place(desk: Desk, opened: OpenPerson, path: str) -> Place:
    public = opened.grant.public
    return Place(opened.base, desk.pages.public_url + opened.base + path if public else "", public)


async def show_month(request: web.Request, opened: OpenPerson) -> web.Response:
    """The permalink of one active month."""
    desk, month = desk_of(request), _month(request.match_info["month"])
    reading = await read(desk, opened)
    if month is None or month not in months_of(reading.profile):
        return problem(request, 404)
    place = _place(desk, opened, f"/months/{month}")
    body = await desk.reader.text(reading, ("month", month, place), lambda found: month_page(found, month, place))
    await note_use(desk, opened, "month")
    return answer(request, body, HTML.media, manner_of(opened))


async def show_difference(request: web.Request, opened: OpenPerson) -> web.Response:
    """Two months beside each other, the earlier one first; at least one of them active."""
    desk = desk_of(request)
    before, after = _month(request.match_info["before"]), _month(request.match_info["after"])
    reading = await read(desk, opened)
    known = months_of(reading.profile)
    if before is None or after is None or before >= after or before not in known or after not in known:
        return problem(request, 404)
    pair = (before, after)
    place = _place(desk, opened, f"/compare/{before}/{after}")
    body = await desk.reader.text(reading, ("two", pair, place), lambda found: difference_page(found, pair, place))
    await note_use(desk, opened, "difference")
    return answer(request, body, HTML.media, manner_of(opened))


# --- snapshots -------------------------------------------------------------------------------------------------------


async def show_snapshot(request: web.Request, opened: OpenPerson) -> web.Response:
    """A dated snapshot with its signature: the same bytes for ever, as long as all it tells of may be shown."""
    desk, identity = desk_of(request), request.match_info["snapshot"].removesuffix(".json")
    found = await desk.pages.store.read(snapshot, opened.person.key, identity)
    if found is None or not dated.shows(opened, found):
        return problem(request, 404)
    await note_use(desk, opened, "snapshot")
    return answer(request, dated.envelope(found), "application/json", manner_of(opened))


async def take_snapshot(desk: Desk, opened: OpenPerson) -> str | None:
    """Sign and keep the profile as it is now; its id. None where nothing signs, or nothing has landed."""
    reading = await read(desk, opened)
    return await dated.take_now(desk.pages, opened, reading.profile)


__all__ = ["FORMS", "show_difference", "show_month", "show_profile", "show_snapshot", "take_snapshot"]
