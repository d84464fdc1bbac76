"""Which addresses are there? `add_routes` lists all pages except the webhook."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from aiohttp import web
from sqlalchemy import Connection

from bot.store.engine import StoreUnavailableError
from bot.web import organisations, profiles, settings, site, subjects
from bot.web.answer_cache import AnswerCache
from bot.web.collaborators import PAGE_CONTEXT, PageContext, Pages, page_context
from bot.web.limits import RateLimit
from bot.web.page_budget import PageRefusedError
from bot.web.profile_reader import Reader
from bot.web.responses import NO_HEADERS, SECURE, problem
from bot.web.subjects import OpenOrganisation, OpenPerson

__all__ = ["Pages", "add_routes"]
log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PersonPage = Callable[[web.Request, OpenPerson], Awaitable[web.Response]]
_WEBHOOK = "/webhook"
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""for the operator's monitoring, which must not be limited"""


def add_routes(app: web.Application, pages: Pages) -> None:
    """Serve every page with these collaborators. Raises ValueError for a secret that can be guessed."""
    if len(pages.secret) < 32:
        raise ValueError("the secret that signs links has at least 32 bytes")
    limit = RateLimit(pages.requests_a_minute, timer=pages.timer)
    cache = AnswerCache(pages.store, lambda: pages.clock().date().isoformat())
    app[PAGE_CONTEXT] = PageContext(
        pages, Reader(pages.store, pages.zone, timer=pages.timer, totals=pages.totals), limit, cache, pages.budget
    )
    app[SECURE] = pages.public_url.startswith("https://")
    app.middlewares.append(_handle_errors)
    app.add_routes([web.get(path, handler) for path, handler in ROUTES])
    if pages.sign_in is not None:
        settings.add_routes(app)
    app.router.add_get("/{anything:.*}", _not_found)


@web.middleware
async def _handle_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn every error into a plain page that reveals nothing; the log has the error's name."""
    if request.path == _WEBHOOK:
        return await handler(request)
    context = page_context(request)
    probe, address = request.path in _PROBES, context.pages.address(request)
    if not probe and context.limit.is_over_limit(address):
        return problem(request, 429, {"Retry-After": str(int(context.limit.window))})
    if not all(cookie.isascii() for cookie in request.headers.getall("Cookie", ())):
        return problem(request, 400)
    try:
        return await handler(request) if probe else await context.budget.answer(address, request, handler)
    except PageRefusedError as refused:
        return problem(request, refused.status, {"Retry-After": "10"} if refused.status == 429 else NO_HEADERS)
    except web.HTTPMethodNotAllowed as error:
        return problem(request, 405, {"Allow": ", ".join(sorted(error.allowed_methods))})
    except web.HTTPException as error:
        return problem(request, error.status)
    except StoreUnavailableError as error:
        log.warning("page not available", extra={"reason": str(error)})
        return problem(request, 503, {"Retry-After": "30"})
    except Exception:
        log.exception("page failed")
        return problem(request, 500)


def with_cache(handler: Handler) -> Handler:
    """The handler behind the cache of public answers."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return await page_context(request).cache.answer(request, handler)

    return handle


async def _not_found(request: web.Request) -> web.Response:
    return problem(request, 404)


# --- which page an address opens -------------------------------------------------------------------------------------


def _name_and_suffix(name: str) -> tuple[str, str]:
    """`ada.months.svg` is `ada` in the form `months.svg`."""
    stem, _, suffix = name.partition(".")
    return stem, suffix


Opened = OpenPerson | OpenOrganisation | None


async def _open(request: web.Request, stem: str) -> Opened:
    """What the first parts of the address open for this viewer."""
    return await page_context(request).pages.store.read(_open_in, request, stem)


def _open_in(connection: Connection, request: web.Request, stem: str) -> Opened:
    if request.path.startswith("/organisations/"):
        return subjects.open_by_organisation(connection, stem)
    if request.path.startswith("/@"):
        found: Opened = subjects.open_by_login(connection, stem)
    elif request.path.startswith("/anonymous/"):
        found = subjects.open_by_alias(connection, stem)
    else:
        found = subjects.open_by_token(connection, stem, page_context(request).pages)
    return subjects.with_mark(connection, found) if isinstance(found, OpenPerson) else found


async def _show_front(request: web.Request) -> web.Response:
    """One transaction reads everything from the database for a known page: each transaction costs as much as its
    statements."""
    stem, suffix = _name_and_suffix(request.match_info["name"])
    options = profiles.requested_options(request, suffix)
    if options is None:
        # Before anything is looked up: a wrong option is wrong whoever is asked about.
        return problem(request, 400)

    def open_front(connection: Connection) -> tuple[Opened, profiles.PageLinks]:
        opened = _open_in(connection, request, stem)
        if not isinstance(opened, OpenPerson) or suffix:
            return opened, profiles.PageLinks()
        return opened, profiles.page_links(connection, opened)

    opened, links = await page_context(request).pages.store.read(open_front)
    if isinstance(opened, OpenPerson) and not request.match_info["name"].endswith("."):
        asked = profiles.RequestedForm(suffix, options)
        return await profiles.show_profile(request, opened, asked, links)
    if isinstance(opened, OpenOrganisation) and "." not in request.match_info["name"]:
        return await organisations.show_organisation(request, opened)
    return problem(request, 404)


def _person_page(page: PersonPage) -> Handler:
    """A handler for a page below a person's."""

    async def handle(request: web.Request) -> web.Response:
        opened = await _open(request, request.match_info["name"])
        return await page(request, opened) if isinstance(opened, OpenPerson) else problem(request, 404)

    return handle


async def _repository_month(request: web.Request) -> web.Response:
    opened = await _open(request, request.match_info["name"])
    if isinstance(opened, OpenOrganisation):
        return await organisations.show_repository_month(request, opened)
    return problem(request, 404)


_PEOPLE = ("/p/{name}", "/@{name}", "/anonymous/{name}")
_ORGANISATIONS = ("/p/{name}", "/organisations/{name}")
ROUTES: tuple[tuple[str, Handler], ...] = (
    ("/", site.show_welcome),
    ("/definitions", site.show_definitions),
    (f"/definitions/{{page:{site.DOCUMENT.pattern}}}", site.show_definitions),
    ("/favicon.ico", site.show_icon),
    ("/robots.txt", site.show_robots),
    ("/sitemap.xml", with_cache(site.show_sitemap)),
    ("/.well-known/almanac-key.json", site.show_key),
    ("/healthz", site.show_health),
    ("/readyz", site.show_readiness),
    *((base, with_cache(_show_front)) for base in dict.fromkeys((*_PEOPLE, *_ORGANISATIONS))),
    *((f"{base}/months/{{month}}", with_cache(_person_page(profiles.show_month))) for base in _PEOPLE),
    *((f"{base}/compare/{{before}}/{{after}}", with_cache(_person_page(profiles.show_difference))) for base in _PEOPLE),
    *((f"{base}/snapshots/{{snapshot}}", with_cache(_person_page(profiles.show_snapshot))) for base in _PEOPLE),
    *((f"{base}/repositories/{{repository}}/{{month}}", with_cache(_repository_month)) for base in _ORGANISATIONS),
)
