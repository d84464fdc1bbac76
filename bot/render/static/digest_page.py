"""How does a month's digest look as a page? From its Markdown, cleaned of everything but text, lists and tables."""

from __future__ import annotations

from bot.render.escaping import HtmlText
from bot.render.html.site import PageLocation, site_page
from bot.render.static.addresses import MonthLinks

_TAGS = frozenset(
    {"h2", "h3", "p", "ul", "li", "a", "code", "strong", "em", "blockquote", "details", "summary"}
    | {"table", "thead", "tbody", "tr", "th", "td"}
)
_FIRST_HEADING = "<th></th>"
_TABLE = "<div class=wide tabindex=0 role=region aria-label=Contributors><table>"


def digest_page(repository: str, markdown: str, links: MonthLinks) -> str:
    """The page of a month's digest."""
    return site_page(
        "static_digest.html",
        repository,
        PageLocation(public=True),
        title=f"{repository}, digest of {links.name}",
        home=links.home,
        document=digest_html(markdown),
        links=links,
    )


def digest_html(markdown: str) -> HtmlText:
    """The digest's Markdown as HTML."""
    import nh3
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    clean = nh3.clean(html, tags=set(_TAGS), attributes={"a": {"href"}}, url_schemes={"https"}, link_rel=None)
    clean = clean.replace("https://redirect.github.com/", "https://github.com/")
    clean = clean.replace(_FIRST_HEADING, "<th><span class=sr>Contributor</span></th>")
    return HtmlText(clean.replace("<table>", _TABLE).replace("</table>", "</table></div>"))
