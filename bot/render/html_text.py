"""How does a stranger's text reach HTML, SVG or XML so that nothing in it acts?

Templates escape every plain `str`; `HtmlText` alone passes as it is. Python code that builds rows by hand takes its
pieces from `html_text`, `html_words`, `html_link` and `html_name`, and the tests put hostile text into every field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from markupsafe import Markup, escape

from bot.render.plain import LONGEST, LONGEST_TEXT, plain

_BARE_URL = re.compile("[A-Za-z0-9:/._~#@+-]+")
_SAFE_URL = "%:/?#@!$&+,;=-._~"


class HtmlText(Markup):
    """HTML that this room wrote, at the place where it enters a template."""

    __slots__ = ()


def html_text(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, with the characters that mean something to HTML escaped."""
    text = plain(text, longest)
    # Looking for each is four times as fast as a pattern, and most texts hold none.
    if "'" in text or '"' in text or "&" in text or "<" in text or ">" in text:
        return str(escape(text))
    return text


def html_words(words: Sequence[str]) -> Sequence[str]:
    """`html_text` of each of many short texts. Nearly always they are letters and digits, as one look at all tells."""
    joined = "".join(words)
    if joined.isascii() and joined.isalnum() and max(map(len, words)) <= LONGEST:
        return words
    return [html_text(word) for word in words]


def html_name(name: str) -> str:
    """A name or title of unknown script, verbatim and apart from the direction of the words around it."""
    return html_text(name) if name.isascii() else f"<bdi>{html_text(name)}</bdi>"


def printed(value: object) -> object:
    """What a template prints of a value: text folded as everywhere, ready to be escaped; `HtmlText` as it is."""
    return plain(value, LONGEST_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


def html_link(url: str | None, text: str) -> str:
    """`<a href=…>text</a>` to an https address, else `text`, which is HTML already."""
    if url is None or not url.startswith("https://"):
        return text
    if _BARE_URL.fullmatch(url):
        return f"<a href={url}>{text}</a>"
    return f'<a href="{escape(quote(url, safe=_SAFE_URL, errors="replace"))}">{text}</a>'
