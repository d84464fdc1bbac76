"""What does a message say, line by line and in lower case, split once for all who read it?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

LONGEST_LINE = 1024
MOST_LINES = 4000
_KEYS = re.compile(r"\n([a-z0-9_-][a-z0-9_ -]{0,39}+):(?=\s|\Z)")


class Message(NamedTuple):
    """A commit's message. `lower` holds all of it: what is not found there, no line says."""

    lower: str
    lines: tuple[str, ...]
    """without blanks at their ends, each cut at 1 KiB, at most 4,000 (a longer message keeps its start and its end)"""
    keys: frozenset[str]
    """in lower case what stands before the colon of every line, but the first, that starts like a trailer"""


@lru_cache(maxsize=64)
def read_message(text: str) -> Message:
    """Kept for a moment: each reader of a commit asks for the same message, and a merge's is asked for many times."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        lines = lines[: MOST_LINES // 2] + lines[-MOST_LINES // 2 :]
    if len(text) > LONGEST_LINE and max(map(len, lines)) > LONGEST_LINE:
        lines = [line[:LONGEST_LINE] for line in lines]
    lower = text.lower()
    return Message(lower, tuple(map(str.rstrip, lines)), frozenset(map(str.rstrip, _KEYS.findall(lower))))


def message_lines(text: str) -> list[str]:
    """The lines of a message as `Message.lines` has them."""
    return list(read_message(text).lines)
