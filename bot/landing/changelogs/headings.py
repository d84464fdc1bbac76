"""Which short headings does a landing add to the project's documentation? They spell the names of its parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bot.landing.changelogs.paths import is_own_page
from bot.model.commit import FileChange

MOST_HEADINGS = 12
_PAGES = (".md", ".mdx", ".rst", ".adoc", ".markdown")
_MARKED = re.compile(r"\n\+(?:#{1,4}|={1,4}) +([^\n]{2,60}?)[ #]*(?=\n|\Z)")
_UNDERLINED = re.compile(r"\n\+([A-Z`][^\n]{1,59})\n\+(?:={3,}|-{3,}|~{3,}|\^{3,}|\"{3,}|'{3,}|\*{3,}|\+{3,})(?=\n|\Z)")
_RULES = ("\n+===", "\n+---", "\n+~~~", "\n+^^^", '\n+"""', "\n+'''", "\n+***", "\n++++")
_WORD = re.compile(r"[A-Za-z0-9]+")
_PLAIN = re.compile(r"[A-Za-z][\w .+#/&-]{1,38}[\w+#]")


def added_headings(files: Sequence[FileChange]) -> tuple[str, ...]:
    """The headings of one to three words that a commit with these files adds to pages, changelogs excepted."""
    found: dict[str, None] = {}
    for file in files:
        if file.patch and file.path.lower().endswith(_PAGES) and is_own_page(file.path):
            found.update(dict.fromkeys(_headings(file.patch)))
            if len(found) >= MOST_HEADINGS:
                break
    return tuple(found)[:MOST_HEADINGS]


def _headings(patch: str) -> Iterator[str]:
    patch = patch[:200_000]
    found: list[str] = _MARKED.findall(patch) if "\n+#" in patch or "\n+=" in patch else []
    if any(rule in patch for rule in _RULES):
        found += _UNDERLINED.findall(patch)
    for written in found:
        text = written.strip().strip("`*_ ")
        if _PLAIN.fullmatch(text) and len(text.split()) <= 3:
            yield text


@lru_cache(maxsize=1 << 14)
def heading_token(text: str) -> str:
    """A heading or a path component in the form in which the two are compared: lower case, without plural or signs.

    >>> heading_token("WebSockets"), heading_token("_websocket")
    ('websocket', 'websocket')
    """
    plain = "".join(_WORD.findall(text)).lower()
    return plain[:-1] if len(plain) > 4 and plain.endswith("s") and not plain.endswith("ss") else plain
