"""What does the title of a revert say was taken back?"""

from __future__ import annotations

import re

_HEAD = re.compile(
    r"\s{0,3}(?:[-*]\s|[\w./+*-]{1,40}:\s{1,3})?(?:revert|reverts|reverted|back out|backout|undo)\b[\s:\-–]{0,4}",
    re.IGNORECASE,
)
_MARKS = "\"'“”‘’"
_LONGEST = 300


def reverted_title(title: str) -> str:
    """`Revert "Add X" (#12)` as `Add X`; a revert of a revert keeps its inner `Revert`."""
    head = _HEAD.match(title)
    rest = title[head.end() :] if head else title
    return _quoted(rest[:_LONGEST]) or rest.lstrip(_MARKS)


def _quoted(text: str) -> str | None:
    """What stands between the mark that the text begins with and the one that closes it."""
    depth = 0
    for at, char in enumerate(text):
        if char not in _MARKS:
            if not depth:
                return None
            continue
        before, after = text[at - 1 : at].strip() if at else "", text[at + 1 : at + 2]
        if before.isalnum() and after.isalnum():
            continue
        depth += 1 if not before or before in "([{" else -1
        if not depth:
            return text[1:at]
    return None
