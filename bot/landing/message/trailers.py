"""Which `Key: value` lines does a commit message contain?

Messages are untrusted text, so lines are split and truncated, never matched by a backtracking pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.landing.message.lines import LONGEST_LINE, message_lines

_LONGEST_KEY = 40
_KEY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ")
_PICKED = "(cherry picked from commit "

Trailer = tuple[str, str]


def trailers(message: str) -> tuple[Trailer, ...]:
    """(key as written, value) of the message's closing block, in order.

    The block is the last paragraph that is not blank, and each paragraph before it that contains only trailers: merge
    bots and squash merges add theirs after a blank line. As in git-interpret-trailers, a paragraph with other text
    counts if at least a quarter of its lines are trailers, an indented line continues the one before it, and the
    subject is never one. Source: https://git-scm.com/docs/git-interpret-trailers
    """
    paragraphs = _paragraphs(message_lines(message))[1:]
    found: list[Trailer] = []
    for number, paragraph in enumerate(reversed(paragraphs)):
        block, others = _read_block(paragraph)
        if not block or (others * 3 > len(block) if number == 0 else others):
            break
        found[:0] = block
    return tuple(found)


def trailer_lines(lines: Sequence[str]) -> list[Trailer]:
    """Every line that starts like a trailer, anywhere except in the first line.

    Exporting tools put theirs in the middle of a message; if nothing follows the colon, the next line that is not blank
    is the value.
    """
    found: list[Trailer] = []
    waiting = ""
    for line in lines[1:]:
        trailer = as_trailer(line) if ":" in line else None
        if trailer is None:
            if waiting and line.strip():
                found.append((waiting, line.strip()))
                waiting = ""
            continue
        if trailer[1]:
            found.append(trailer)
        else:
            waiting = trailer[0]
    return found


def as_trailer(line: str) -> Trailer | None:
    """(key, value) of a line such as `Reviewed-by: A <a@example.org>`; None for anything else."""
    at = line.find(":", 0, _LONGEST_KEY + 1)
    if at < 1 or line[0] in " \t" or not _KEY.issuperset(line[:at]):
        return None
    value = line[at + 1 :]
    if value and not value[0].isspace():
        return None
    return line[:at].strip(), value.strip()


def _paragraphs(lines: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [paragraph for paragraph in found if paragraph]


def _read_block(paragraph: list[str]) -> tuple[list[Trailer], int]:
    """The trailers of a paragraph and the number of its other lines."""
    found: list[Trailer] = []
    others = 0
    for line in paragraph:
        trailer = as_trailer(line)
        if trailer is not None and (" " not in trailer[0] or trailer[0].lower() in _SPACED):
            found.append(trailer)
        elif found and line[0] in " \t":
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}"[:LONGEST_LINE])
        elif not line.startswith(_PICKED):
            others += 1
    return found, others


_SPACED = frozenset(
    (
        "differential revision",
        "pull request resolved",
        "approved by",
        "reviewed by",
        "pulled by",
        "test plan",
        "rollback plan",
        "ghstack dependencies",
        "original phabricator diff",
        "original commit changeset",
    )
)
"""keys that contain a blank: those of Phabricator and ghstack, which git itself would not accept"""
