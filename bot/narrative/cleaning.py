"""What does a changelog entry, a title or a subject say once its markup, references, credits and prefix are taken off?

Only these rules apply (WORDS: nothing is paraphrased): what is left stands in the text, word for word.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from bot.landing.changelogs.headings import heading_token
from bot.narrative.markup import visible_text
from bot.narrative.prefixes import take_prefix
from bot.narrative.references import without_credits, without_leading_references, without_trailing_references

LONGEST_READ = 400
"""characters of a text that are read"""
LONGEST = 120
"""characters of an entry, after which it is cut at a word"""
_SENTENCE_END = re.compile(
    r"(?<=[\w)\]'’\"”`])\.(?=\s+(?:[^a-z\s]|[a-z_]+[._(]\w))|(?<=[\w)\]'’\"”`])[!?](?=\s+[A-Z])|(?<=[。！？])(?=.)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|nr|fig|al|(?-i:[A-Z]))|\.\w)$", re.IGNORECASE
)
_DOUBLE = re.compile('["“”„«»]')
_ORDINARY = re.compile(r"[a-z][a-z'’-]*")
_BULLET = re.compile(r"(?:[-*•·–—+]\s+){1,3}|#{1,6}\s+|\*:\s+")
_FENCE = re.compile(r"(?<=\S)\s(?:```|~~~)[\w{}.-]{0,20}(?=\s|$)")
"""where an example begins whose lines were joined to the text"""
_UNCLOSED = re.compile(r"(?<=\S)\s[(\[][^()\[\]]{0,20}$")
"""a bracket that lost its end with a number"""
_CLAUSE_END = re.compile(r"\s[–—]\s|;\s")
_SCOPE = re.compile(r"(?:\[([^\[\]]{1,40})\]:?|\(([^()]{1,40})\):?|([\w./ -]{1,40}):)\s+(?=\S)")
_SHORTEST = 40
"""characters that a cut at the end of a clause leaves at least"""
_CLOSERS = {"(": ")", "[": "]"}


class Cleaned(NamedTuple):
    """A text as it is quoted, the tag from the prefix that was taken off, and the scope in that prefix."""

    text: str
    tag: str | None = None
    scope: str = ""
    needs_tag: bool = False
    """whether "closes #n" was taken off in front, so that it may name a fault"""


@lru_cache(maxsize=1 << 14)
def clean(raw: str) -> Cleaned:
    """The text as it is quoted; empty where nothing is left.

    >>> clean("fix(router): closed the socket (#12)")
    Cleaned(text='Closed the socket', tag='Fix', scope='router')
    """
    text = visible_text(_without_bullet(_one_line(_FENCE.split(raw[:LONGEST_READ], 1)[0])))
    text, before = without_leading_references(text)
    found = take_prefix(text)
    text, after = without_leading_references(found.text)
    text = without_trailing_references(without_credits(first_sentence(without_credits(text))))
    if found.scope and len(text.split()) < 3:
        text = f"{found.scope}: {text}" if text else ""
    text = _UNCLOSED.sub("", text)
    text = _DOUBLE.sub("'", text).strip(" ,;:-–—").rstrip("([ ")
    tag = found.tag or ("Fix" if "fixed" in (before, after) else None)
    return Cleaned(shorten(raise_first(text)), tag, found.scope, needs_tag=tag is None and "closed" in (before, after))


def _without_bullet(text: str) -> str:
    bullet = _BULLET.match(text)
    return text[bullet.end() :] if bullet else text


def _one_line(text: str) -> str:
    """Composed, without what cannot be seen, a blank where a line ended."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    kept = unicodedata.normalize("NFC", text)
    return " ".join(
        "".join(
            " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
            for char in kept
            if unicodedata.category(char) not in ("Cf", "Cs", "Co") and not 0xFE00 <= ord(char) <= 0xFE0F
        ).split()
    )


def first_sentence(text: str) -> str:
    """The first sentence without its full stop; a stop in brackets or after an abbreviation ends none."""
    for match in _SENTENCE_END.finditer(text):
        before = text[: match.start()]
        if not _ABBREVIATION.search(before) and _is_closed(before):
            return text[: match.end()] if match[0] in ("!", "?") else before
    return text[:-1] if text.endswith(".") and not text.endswith("..") else text


def _is_closed(text: str) -> bool:
    return all(text.count(opening) <= text.count(closing) for opening, closing in _CLOSERS.items())


def without_scope(text: str, name: str) -> str:
    """Without the scope in front that only says the name of the heading above it.

    >>> without_scope("dev: make styles public", "dev")
    'Make styles public'
    """
    match = _SCOPE.match(text)
    scope = next(filter(None, match.groups())) if match else ""
    if match is None or heading_token(scope) != heading_token(name) or len(text[match.end() :].split()) < 3:
        return text
    return raise_first(text[match.end() :])


def raise_first(text: str) -> str:
    """With a capital letter, if it begins with an ordinary lower-case word."""
    first = text.split(" ", 1)[0].rstrip(",;")
    return text[:1].upper() + text[1:] if (_ORDINARY.fullmatch(first) and len(first) > 1) or first == "a" else text


def shorten(text: str) -> str:
    """Cut at a word, with an ellipsis, past `LONGEST` characters; at the end of a clause, if one ends before."""
    if len(text) <= LONGEST:
        return text
    kept = text[: LONGEST + 1].rsplit(" ", 1)[0] if " " in text[1 : LONGEST + 1] else text[:LONGEST]
    ends = [match.start() for match in _CLAUSE_END.finditer(kept, _SHORTEST)]
    kept = kept[: ends[-1]] if ends else kept
    return kept.rstrip(" ,;:.-–—([{'") + "…"
