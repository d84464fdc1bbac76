"""What are the lines of a message, in original and lower case, split once for all readers?"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

LONGEST_LINE = 1024
MOST_LINES = 4000
_KEYS = re.compile(r"\n([a-z0-9_-][a-z0-9_ -]{0,39}+):(?=\s|\Z)")


class Message(NamedTuple):
    """A commit's message. `lower` is the whole text: what is not found in it is in no line."""

    lower: str
    lines: tuple[str, ...]
    """without trailing blanks, each cut at 1 KiB, at most 4,000 (a longer message keeps its start and its end)"""
    keys: Mapping[str, Sequence[int]]
    """numbers of the lines after the first that start like a trailer, by the text before the colon in lower case"""

    def lines_with_keys(self, wanted: Container[str]) -> list[str]:
        """The lines that start like a trailer with one of these keys, in order."""
        numbers = [number for key, found in self.keys.items() if key in wanted for number in found]
        return [self.lines[number] for number in sorted(numbers)]


@lru_cache(maxsize=128)
def read_message(text: str) -> Message:
    """Cached for a short time: each reader of a commit needs the same message, and a merge's is needed many times."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    lower = lower_kept = text.lower()
    if len(lines) > MOST_LINES:
        lines = lines[: MOST_LINES // 2] + lines[-MOST_LINES // 2 :]
        lower_kept = "\n".join(lines).lower()
    if len(text) > LONGEST_LINE and max(map(len, lines)) > LONGEST_LINE:
        lines = [line[:LONGEST_LINE] for line in lines]
    return Message(lower, tuple(map(str.rstrip, lines)), _keys(lower_kept))


def _keys(lower: str) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    number = before = 0
    for match in _KEYS.finditer(lower):
        number += lower.count("\n", before, match.end())
        before = match.end()
        found.setdefault(match[1].rstrip(), []).append(number)
    return found


def message_lines(text: str) -> list[str]:
    """The lines of a message, as in `Message.lines`."""
    return list(read_message(text).lines)
