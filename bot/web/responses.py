"""How does text become a response: in which form, under which headers, and does the client have it already?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aiohttp import web
from msgspec import Struct

from bot.render.html.page import style_hash
from bot.render.html.site import picture_hashes, site_style_hash


class PageFormat(Struct, frozen=True):
    """One form of a page: its name, the suffix of its address and its media type."""

    name: str
    suffix: str
    media: str


HTML = PageFormat("html", "", "text/html")
FORMATS: tuple[PageFormat, ...] = (
    HTML,
    PageFormat("json", "json", "application/json"),
    PageFormat("text", "txt", "text/plain"),
    PageFormat("markdown", "md", "text/markdown"),
    PageFormat("svg", "svg", "image/svg+xml"),
    PageFormat("atom", "atom", "application/atom+xml"),
    PageFormat("csv", "csv", "text/csv"),
    PageFormat("svg-heatmap", "heatmap.svg", ""),
    PageFormat("svg-months", "months.svg", ""),
    PageFormat("svg-languages", "languages.svg", ""),
    PageFormat("svg-share", "share.svg", ""),
    PageFormat("svg-badge", "badge.svg", ""),
    PageFormat("jsonresume", "resume.json", ""),
)
"""forms without a media type are requested only by their suffix"""
_BY_SUFFIX = MappingProxyType({form.suffix: form for form in FORMATS if form.suffix})
_MEDIA = MappingProxyType({"svg": "image/svg+xml", "json": "application/json"})


def media_of(form: PageFormat) -> str:
    """The media type of the response."""
    return form.media or _MEDIA[form.suffix.rpartition(".")[2]]


def format_by_suffix(suffix: str) -> PageFormat | None:
    """The form for a suffix of an address."""
    return _BY_SUFFIX.get(suffix)


def negotiate_format(accept: str, offered: Sequence[PageFormat] = FORMATS) -> PageFormat | None:
    """The form that an Accept header prefers, the first of equals; None if it accepts none of them."""
    wanted = _qualities(accept)
    if not wanted:
        return offered[0]
    rated = [
        (max((_precision(form, *want) for want in wanted), default=(0, 0.0))[1], form) for form in offered if form.media
    ]
    quality, best = max(rated, key=lambda pair: pair[0])
    return best if quality > 0 else None


def _qualities(accept: str) -> list[tuple[str, float]]:
    wanted = []
    for part in accept[:1000].split(","):
        media, *parameters = (piece.strip() for piece in part.lower().split(";"))
        if media:
            wanted.append((media, _quality(parameters)))
    return wanted


def _quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0


def _precision(form: PageFormat, media: str, quality: float) -> tuple[int, float]:
    """How precisely a range names the form, and its quality: the most precise range decides (RFC 9110)."""
    if media == form.media:
        return 3, quality
    if media == form.media.partition("/")[0] + "/*":
        return 2, quality
    return (1, quality) if media == "*/*" else (0, 0.0)


# --- headers ---------------------------------------------------------------------------------------------------------

_ALWAYS = MappingProxyType(
    {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
        "Cross-Origin-Opener-Policy": "same-origin",
        "X-Frame-Options": "DENY",
    }
)


def policy(*, forms: bool = False) -> str:
    """The Content-Security-Policy of every page: only its own styles, and nothing from elsewhere."""
    styles = " ".join(f"'{found}'" for found in (style_hash(), site_style_hash(), *picture_hashes()))
    action = "'self'" if forms else "'none'"
    return (
        f"default-src 'none'; style-src {styles}; img-src 'self'; base-uri 'none'; "
        f"form-action {action}; frame-ancestors 'none'"
    )


class Manner(Struct, frozen=True):
    """How a response may be cached and indexed. Caches must always revalidate: what is withdrawn disappears at once."""

    cache: str = "no-store"
    indexed: bool = False
    forms: bool = False
    """the page contains a form that is sent to us"""
    vary: bool = False
    """the same address has other forms"""


NOT_CACHED = Manner()
PUBLIC = Manner("public, no-cache", indexed=True, vary=True)
UNINDEXED = Manner("public, no-cache", vary=True)
"""public, but at an address that nothing leads to"""
UNLISTED = Manner("private, no-cache", vary=True)


def headers_of(manner: Manner, *, media: str, secure: bool) -> dict[str, str]:
    """All headers except length, date and tag."""
    # A card is embedded in READMEs elsewhere; everything else is read here.
    shared = manner.indexed and media == "image/svg+xml"
    found = {
        **_ALWAYS,
        "Content-Security-Policy": policy(forms=manner.forms),
        "Cache-Control": manner.cache,
        "Cross-Origin-Resource-Policy": "cross-origin" if shared else "same-origin",
    }
    if manner.forms:
        # Without a referrer, browsers send `null` as the origin of a form. Other sites do not receive it.
        found["Referrer-Policy"] = "same-origin"
    if not manner.indexed:
        found["X-Robots-Tag"] = "noindex"
    if manner.vary:
        found["Vary"] = "Accept"
    if secure:
        found["Strict-Transport-Security"] = "max-age=31536000"
    return found


def answer(
    request: web.Request, body: bytes, media: str, manner: Manner = NOT_CACHED, *, status: int = 200
) -> web.Response:
    """The response, or 304 if the client already has the same bytes."""
    headers = headers_of(manner, media=media, secure=request.app[SECURE])
    if status == 200 and manner.cache != "no-store":
        tag = f'"{_digest(media, body)}"'
        headers["ETag"] = tag
        if etag_matches(request.headers.get("If-None-Match", ""), tag):
            return web.Response(status=304, headers=headers)
    return web.Response(status=status, body=body, headers=headers | {"Content-Type": _content_type(media)})


def _digest(media: str, body: bytes) -> str:
    found = hashlib.sha256(media.encode())
    found.update(body)
    return found.hexdigest()[:32]


def _content_type(media: str) -> str:
    return media if media == "application/json" else f"{media}; charset=utf-8"


def etag_matches(header: str, tag: str) -> bool:
    """If-None-Match compares weakly (RFC 9110, 13.1.2)."""
    given = [one.strip().removeprefix("W/") for one in header[:4000].split(",")]
    return tag in given or given == ["*"]


SECURE = web.AppKey("secure", bool)
"""whether the pages are served over https"""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def problem(request: web.Request, status: int, more: Mapping[str, str] = NO_HEADERS) -> web.Response:
    """A plain error page: equal bytes for equal statuses."""
    from bot.render.html.site import problem_page

    response = answer(request, problem_page(status).encode(), "text/html", status=status)
    response.headers.update(more)
    return response
