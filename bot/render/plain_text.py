"""Which characters of untrusted text may be shown?

Every format (terminal, Markdown, HTML, SVG, feed, CSV) starts from `plain_text`: one line, NFC, bounded length, no
control, format, surrogate or private-use characters. Escaping for the format comes afterwards.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 300
"""characters of one title or name; a longer one is cut, with an ellipsis"""
LONGEST_TEXT = 4000
"""characters of running text"""
_JOINER = "\u200d"
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_SPACES = frozenset({"Zs", "Zl", "Zp"})
_MARKS_IN_A_ROW = 8
_RARE = re.compile("[^\u0000-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u22ff]")
"""not Latin letters, common punctuation, currencies, arrows or operators, which are composed and contain no marks"""


def plain_text(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, without characters that hide, reorder or control text; at most `longest` characters."""
    # Printable text contains no control, format or private-use characters, and no spaces except the ASCII one.
    if not (text.isprintable() and (text.isascii() or not _RARE.search(text))):
        text = _normalise(unicodedata.normalize("NFC", text[: 4 * longest]))
    if "  " in text or text.strip(" ") is not text:
        text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def plain_lines(text: str) -> str:
    """Like `plain_text`, for running text: up to `LONGEST_TEXT` characters are kept."""
    return plain_text(text, LONGEST_TEXT)


def _normalise(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for index, character in enumerate(text):
        category = unicodedata.category(character)
        marks = marks + 1 if category[0] == "M" else 0
        if category in _SPACES or character in "\t\n\r\v\f":
            kept.append(" ")
        elif character == _JOINER:
            if kept and _pictures(kept[-1], text[index + 1 : index + 2]):
                kept.append(character)
        elif category not in _DROPPED and marks <= _MARKS_IN_A_ROW:
            kept.append(character)
    return "".join(kept)


def _pictures(before: str, after: str) -> bool:
    """Whether a zero-width joiner fits here: between two pictures (or after a skin tone or a variation selector)."""
    return bool(after) and _picture(before) and _picture(after)


def _picture(character: str) -> bool:
    return character == "\ufe0f" or ord(character) >= 0x1F000 or unicodedata.category(character) == "So"
