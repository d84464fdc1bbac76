"""Which prefix does a title have, and which tag does it become when it is taken off?

A prefix that becomes no tag stays: without it a text could mean its opposite.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TAGS: dict[str, tuple[str, ...]] = {
    "Feature": ("feat", "feature", "features", "enhancement", "enh", "new", "new feature", "added", "addition"),
    "Fix": ("fix", "fixes", "fixed", "bug", "bugfix", "bug fix", "bug-fix", "hotfix", "bugfixes", "regression"),
    "Performance": ("perf", "performance", "optimization", "optimisation", "optimize"),
    "Security": ("security", "sec", "secfix"),
    "Documentation": ("docs", "doc", "documentation", "docstring", "docstrings", "readme"),
    "Refactoring": ("refactor", "refactoring", "ref", "refact"),
    "Tests": ("test", "tests", "testing"),
    "Build": ("build", "ci", "packaging", "cicd", "ci/cd"),
    "Revert": ("revert",),
}
_BY_WORD = {word: tag for tag, words in TAGS.items() for word in words}
_GITMOJI = {
    "✨": "Feature", ":sparkles:": "Feature", "🐛": "Fix", ":bug:": "Fix", "🚑": "Fix", ":ambulance:": "Fix",
    "⚡": "Performance", ":zap:": "Performance", "🔒": "Security", ":lock:": "Security", "📝": "Documentation",
    ":memo:": "Documentation", ":pencil:": "Documentation", "♻": "Refactoring", ":recycle:": "Refactoring",
    "✅": "Tests", ":white_check_mark:": "Tests", "👷": "Build", ":construction_worker:": "Build",
    "💚": "Build", ":green_heart:": "Build", "⏪": "Revert", ":rewind:": "Revert", "🎉": "Feature",
}  # fmt: skip
_TYPE = re.compile(
    r"(?P<type>[A-Za-z]{2,13}(?:[ -]fix|/cd| feature)?)\s?!?\s?(?:\((?P<scope>[^()]{1,60})\)"
    r"|\[(?P<part>[^\[\]]{1,60})\])?\s?!?\s?"
    r"(?::(?![:/])|：| -(?= )|/(?=\w+:))\s{0,3}"
)
_BRACKET = re.compile(r"(?:\[(?P<square>[^\[\]]{1,24})\]|\((?P<round>[A-Za-z -]{1,16})\))\s?[:-]?\s+")
_WORD = re.compile(
    r"(?P<word>FIX|BUG|BUGFIX|DOC|DOCS|PERF|TST|ENH|FEAT|FEATURE|REF|CI|BLD|TEST|TESTS|SECURITY)\b[:,]?\s+"
)
_UPPER = {"TST": "Tests", "BLD": "Build", "ENH": "Feature"}


class Prefixed(NamedTuple):
    """A text without its prefix, and the prefix's tag and scope; the text itself where no prefix becomes a tag."""

    text: str
    tag: str | None = None
    scope: str = ""


def take_prefix(text: str) -> Prefixed:
    """The text without its first prefix that becomes a tag, and without what surrounds that one."""
    if found := _emoji(text):
        again = take_prefix(found.text)
        return again if again.tag else found
    return _bracket(text) or _type(text) or _capitals(text) or Prefixed(text)


def _emoji(text: str) -> Prefixed | None:
    word, _, rest = text.partition(" ")
    tag = _GITMOJI.get(word.rstrip("\ufe0f:") if not word.startswith(":") else word)
    return Prefixed(rest.strip(), tag) if tag and rest.strip() else None


def _type(text: str) -> Prefixed | None:
    match = _TYPE.match(text)
    if match is None:
        return None
    tag = _BY_WORD.get(match["type"].lower())
    rest = text[match.end() :].strip()
    if tag is None or not rest:
        return None
    return Prefixed(rest, tag, (match["scope"] or match["part"] or "").strip())


def _bracket(text: str) -> Prefixed | None:
    """A tag in brackets, alone or after other brackets, which are the scope."""
    scopes: list[str] = []
    rest = text
    while (match := _BRACKET.match(rest)) and len(scopes) < 3:
        word = match["square"] or match["round"]
        rest = rest[match.end() :]
        tag = _BY_WORD.get(word.lower().strip())
        if tag and rest:
            return Prefixed(" ".join(f"[{scope}]" for scope in scopes) + " " * bool(scopes) + rest, tag)
        if match["square"] is None:
            return None
        scopes.append(word)
    typed = _type(rest) if scopes else None
    return Prefixed(" ".join(f"[{scope}]" for scope in scopes) + " " + typed.text, typed.tag) if typed else None


def _capitals(text: str) -> Prefixed | None:
    match = _WORD.match(text)
    if match is None or len(text) - match.end() < 3:
        return None
    return Prefixed(text[match.end() :], _UPPER.get(match["word"]) or _BY_WORD[match["word"].lower()])
