"""What does the title of a revert say was taken back?"""

from __future__ import annotations

import re

_HEAD = re.compile(r"\s{0,3}(?:revert|reverts|reverted|back out|backout|undo)\b[\s:\-–]{0,4}", re.IGNORECASE)
_QUOTES = re.compile(r"[\"“'](.{1,300})[\"”']")


def reverted_title(title: str) -> str:
    """`Revert "Add X" (#12)` as `Add X`; a revert of a revert keeps its inner `Revert`."""
    rest = _HEAD.sub("", title, count=1)
    quoted = _QUOTES.match(rest)
    return quoted[1] if quoted else rest
