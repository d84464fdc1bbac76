"""How does untrusted text enter HTML, SVG or XML without any effect?

Templates escape every plain `str`; only `HtmlText` passes unchanged. Python code that builds rows by hand uses
`html_text`, `html_texts`, `html_link` and `html_name`, and the tests put hostile text into every field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from markupsafe import Markup, escape

from bot.render.plain_text import LONGEST, LONGEST_TEXT, plain_text

_BARE_URL = re.compile("[A-Za-z0-9:/._~#@+-]+")
_COMMANDS = bytes((*range(32), 127))
"""all non-printable ASCII characters"""
_SAFE_URL = "%:/?#@!$&+,;=-._~"


class HtmlText(Markup):
    """HTML that this package wrote and that a template prints unchanged."""

    __slots__ = ()


def html_text(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, escaped for HTML."""
    text = plain_text(text, longest)
    return str(escape(text)) if _needs_escaping(text) else text


def _needs_escaping(text: str) -> bool:
    """Searching for each character is four times as fast as a pattern, and most texts contain none."""
    return "'" in text or '"' in text or "&" in text or "<" in text or ">" in text


def html_texts(texts: Sequence[str], longest: int = LONGEST) -> Sequence[str]:
    """`html_text` of each text; all are checked and escaped together, one per line, which is faster."""
    lines = "\n".join(texts)
    if not _all_plain(texts, lines, longest):
        texts = [plain_text(text, longest) for text in texts]
        lines = "\n".join(texts)
    return str(escape(lines)).split("\n") if _needs_escaping(lines) else texts


def _all_plain(texts: Sequence[str], lines: str, longest: int) -> bool:
    """Whether `plain_text` would leave every text unchanged; `lines` holds one text per line."""
    if not lines.isascii() or "  " in lines or max(map(len, texts), default=0) > longest:
        return False
    # Deleting control characters is five times as fast as checking the category of every character.
    commands = len(lines) - len(lines.encode().translate(None, _COMMANDS))
    return commands == max(0, len(texts) - 1) and all(text.strip(" ") is text for text in texts)


def html_name(name: str) -> str:
    """A name or title in any script, isolated from the text direction around it."""
    return html_text(name) if name.isascii() else f"<bdi>{html_text(name)}</bdi>"


def html_names(names: Sequence[str]) -> list[str]:
    """`html_name` of each of many names."""
    escaped = html_texts(names)
    return [one if name.isascii() else f"<bdi>{one}</bdi>" for name, one in zip(names, escaped, strict=True)]


def finalize_value(value: object) -> object:
    """What a template prints for a value: text made plain, ready to be escaped; `HtmlText` unchanged."""
    return plain_text(value, LONGEST_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


def html_link(url: str | None, text: str) -> str:
    """`<a href=…>text</a>` for an https address, else `text`, which must be HTML already."""
    if url is None or not url.startswith("https://"):
        return text
    if _BARE_URL.fullmatch(url):
        return f"<a href={url}>{text}</a>"
    return f'<a href="{escape(quote(url, safe=_SAFE_URL, errors="replace"))}">{text}</a>'
