"""What is served that is about no person? The first page, the definitions, robots, the sitemap, the key and health."""

from __future__ import annotations

import json
import posixpath
import re
from xml.sax.saxutils import escape

from aiohttp import web
from sqlalchemy import Connection

from bot.render.escaping import HtmlText
from bot.render.html.site import document_page, welcome_page
from bot.store import organisations, visibility
from bot.store.engine import StoreUnavailableError
from bot.store.migrate import is_enough
from bot.web import subjects
from bot.web.access import ANYBODY
from bot.web.collaborators import page_context
from bot.web.responses import HTML, Manner, answer, problem

_OPEN = Manner("public, no-cache", indexed=True)
DOCUMENT = re.compile(r"(?:models/|decisions/)?[a-z0-9_-]{1,60}", re.IGNORECASE)
"""documents beside the definitions, by path without suffix"""
_SITEMAP_MOST = 50_000
"""addresses in one sitemap: https://www.sitemaps.org/protocol.html"""
_DOCUMENT_TAGS = frozenset(
    {"h1", "h2", "h3", "h4", "h5", "p", "ul", "ol", "li", "a", "code", "pre", "em", "strong", "blockquote", "hr", "br"}
    | {"table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "sup", "sub"}
)


async def show_welcome(request: web.Request) -> web.Response:
    """The first page, which names nobody."""
    pages = page_context(request).pages
    text = welcome_page(settings=pages.sign_in is not None, definitions=pages.definitions is not None)
    return answer(request, text.encode(), HTML.media, _OPEN)


async def show_definitions(request: web.Request) -> web.Response:
    """The Markdown file that defines each metric, as a page, and the documents it links to; 404 for others."""
    context = page_context(request)
    file, name = context.pages.definitions, request.match_info.get("page", "")
    if file is None:
        return problem(request, 404)
    try:
        text = await context.reader.in_thread((file.parent / f"{name}.md" if name else file).read_text, "utf-8")
    except OSError:
        return problem(request, 404)

    async def make() -> bytes:
        return (await context.reader.in_thread(_document, text, name)).encode()

    return answer(request, await context.reader.cached_page(("document", name, text), make), HTML.media, _OPEN)


def _document(text: str, name: str) -> str:
    """The page of a Markdown text; raw HTML in it is escaped. `name` is its path without suffix."""
    import nh3
    from markdown_it import MarkdownIt

    title, _, rest = text.partition("\n")
    if not title.startswith("# "):
        title, rest = "# Definitions", text
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(rest)
    clean = nh3.clean(
        html,
        tags=set(_DOCUMENT_TAGS),
        attributes={"a": {"href"}},
        url_schemes={"https"},
        link_rel=None,
        attribute_filter=lambda _tag, _attribute, value: _address(value, name),
    )
    return document_page(title[2:].strip(), HtmlText(clean.replace("<pre>", "<pre tabindex=0>")))


def _address(link: str, name: str) -> str | None:
    """The address on this site for a document's link; None for a link into the repository, which is not served here."""
    if link.startswith("https://"):
        return link
    path, _, _ = link.partition("#")
    full_path = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    page = full_path.removesuffix(".md")
    return f"/definitions/{page}" if full_path.endswith(".md") and DOCUMENT.fullmatch(page) else None


async def show_robots(request: web.Request) -> web.Response:
    pages = page_context(request).pages
    lines = ("User-agent: *", "Disallow: /p/", "Disallow: /settings", f"Sitemap: {pages.public_url}/sitemap.xml", "")
    return answer(request, "\n".join(lines).encode(), "text/plain", _OPEN)


async def show_sitemap(request: web.Request) -> web.Response:
    """The pages that their owners published under their name and that are not empty; no anonymous page is listed."""
    pages = page_context(request).pages

    def read(connection: Connection) -> list[str]:
        paths = ["/"]
        for organisation in organisations.public_organisations(connection):
            found = subjects.open_by_organisation(connection, organisation.login)
            paths += [found.base] if found else []
        for person in visibility.public_people(connection):
            if person.naming == "named" and person.login:
                opened = subjects.open_person(connection, person, ANYBODY, base=f"/@{person.login}")
                paths += [opened.base] if opened else []
        return paths

    paths = await pages.store.read(read)
    addresses = [escape(pages.public_url + path) for path in sorted(paths)[:_SITEMAP_MOST]]
    rows = "".join(f"<url><loc>{address}</loc></url>\n" for address in addresses)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{rows}</urlset>\n'
    return answer(request, text.encode(), "application/xml", _OPEN)


_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2f6f5e" '
    'd="M2 10h3v4H2zM6.5 6h3v8h-3zM11 2h3v12h-3z"/></svg>\n'
)


async def show_icon(request: web.Request) -> web.Response:
    """The icon that browsers request by themselves: three bars of a month's chart."""
    return answer(request, _ICON.encode(), "image/svg+xml", _OPEN)


async def show_key(request: web.Request) -> web.Response:
    """The public keys that verify snapshots, the newest first."""
    signing = page_context(request).pages.signing
    if signing is None:
        return problem(request, 404)
    text = json.dumps({"schema": "almanac.keys/1", "keys": signing.public_entries()}, indent=1) + "\n"
    return answer(request, text.encode(), "application/json", _OPEN)


async def show_health(request: web.Request) -> web.Response:
    """The process is alive."""
    return answer(request, b"ok\n", "text/plain")


async def show_readiness(request: web.Request) -> web.Response:
    """The database is readable, and its tables are new enough for this version."""
    try:
        ready = await is_enough(page_context(request).pages.store)
    except StoreUnavailableError:
        ready = False
    return answer(request, b"ready\n" if ready else b"not ready\n", "text/plain", status=200 if ready else 503)
