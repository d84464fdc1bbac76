"""Which short headings does a landing add to the project's documentation? They spell the names of its parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.landing.changelogs.paths import changelog_file
from bot.model.commit import FileChange

MOST_HEADINGS = 12
_PAGES = (".md", ".mdx", ".rst", ".adoc", ".markdown")
_ADDED = re.compile(
    r"\n\+(?:#{1,4} +(?P<md>[^\n]{2,60}?)[ #]*|={1,4} +(?P<adoc>[^\n]{2,60}?)"
    r"|(?P<rst>[A-Z`][^\n]{1,59})\n\+([=\-~^\"'*+])\4{2,})(?=\n|\Z)"
)
_WORD = re.compile(r"[A-Za-z0-9]+")
_PLAIN = re.compile(r"[A-Za-z][\w .+#/&-]{1,38}[\w+#]")


def added_headings(files: Sequence[FileChange]) -> tuple[str, ...]:
    """The headings of one to three words that a commit with these files adds to pages, changelogs excepted."""
    found: dict[str, None] = {}
    for file in files:
        if file.patch and file.path.lower().endswith(_PAGES) and changelog_file(file.path) is None:
            found.update(dict.fromkeys(_headings(file.patch)))
            if len(found) >= MOST_HEADINGS:
                break
    return tuple(found)[:MOST_HEADINGS]


def _headings(patch: str) -> Iterator[str]:
    for match in _ADDED.finditer("\n" + patch[:200_000]):
        text = (match["md"] or match["adoc"] or match["rst"]).strip().strip("`*_ ")
        if _PLAIN.fullmatch(text) and len(text.split()) <= 3:
            yield text


def heading_token(text: str) -> str:
    """A heading or a path component in the form in which the two are compared: lower case, without plural or signs.

    >>> heading_token("WebSockets"), heading_token("_websocket")
    ('websocket', 'websocket')
    """
    plain = "".join(_WORD.findall(text)).lower()
    return plain[:-1] if len(plain) > 4 and plain.endswith("s") and not plain.endswith("ss") else plain
