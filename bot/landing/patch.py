"""Which lines a patch adds and removes, and where some took the place of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

HEAD_LINES = 40
"""how many of them"""

_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
# git writes what a place loses before what it gets; the second half is optional, or each line of a long loss would be
# tried as the first of a replacement
_REPLACED = re.compile(r"(-++)\\?+(\+*+)")


@dataclass(frozen=True, slots=True)
class PatchLines:
    """The changed lines of one file, without their sign, in order.

    `top` is the number of the first line shown of the new file (of the old one where nothing is left), 0 if no hunk.
    """

    added: list[str]
    removed: list[str]
    top: int = 0
    head: list[str] = field(default_factory=list)
    """the first lines of the new file (of the old one where nothing is left), if the patch begins there"""
    signs: str = ""
    """the first character of each line of the hunks"""

    def replaced(self) -> Iterator[tuple[int, int, int, int]]:
        """Where lines took the place of others: first and end in `removed`, first and end in `added`.

        These places are the same whatever the width of the context.
        """
        lost = got = at = 0
        for run in _REPLACED.finditer(self.signs):
            if not run[2]:
                continue
            first, end = run.span()
            lost += self.signs.count("-", at, first)
            got += self.signs.count("+", at, first)
            lost_end, got_end = lost + len(run[1]), got + len(run[2])
            yield lost, lost_end, got, got_end
            lost, got, at = lost_end, got_end, end


def read_patch(patch: str) -> PatchLines:
    """The lines of a patch: hunks alone, from the first `@@`, with one line of context or more.

    Hunk headers say how many lines follow; text after that which belongs to no hunk is not counted.
    """
    lines = patch.split("\n")
    if not lines[-1]:
        lines.pop()
    signs = "".join([line[:1] or " " for line in lines])
    if not _agrees(lines, signs):
        lines = _followed(lines)
        signs = "".join([line[:1] or " " for line in lines])
    top = _top(lines[0]) if lines else 0
    return PatchLines(
        [line[1:] for line in lines if line[:1] == "+"],
        [line[1:] for line in lines if line[:1] == "-"],
        top,
        _head(lines) if top == 1 else [],
        signs,
    )


def _agrees(lines: list[str], signs: str) -> bool:
    """Whether every line that looks like one of a hunk is one: then the sums of the headers hold."""
    old = new = hunks = 0
    at = signs.find("@")
    while at >= 0:
        counts = _HEADER.match(lines[at])
        if counts is None:
            return False
        old += int(counts[2] or 1)
        new += int(counts[4] or 1)
        hunks += 1
        at = signs.find("@", at + 1)
    context, lost, got = signs.count(" "), signs.count("-"), signs.count("+")
    return (
        old - lost == context == new - got
        and signs[:1] in ("@", "")
        and hunks + context + lost + got + signs.count("\\") == len(signs)
    )


def _followed(lines: list[str]) -> list[str]:
    """The lines of the hunks by the counts of their headers, nothing else."""
    kept: list[str] = []
    old = new = 0
    for line in lines:
        if old <= 0 and new <= 0:
            counts = _HEADER.match(line)
            if counts:
                old, new = int(counts[2] or 1), int(counts[4] or 1)
                kept.append(line)
            elif line[:1] == "\\" and kept:
                kept.append(line)
            continue
        sign = line[:1]
        if sign != "\\":
            old -= sign != "+"
            new -= sign != "-"
        kept.append(line if sign in ("+", "-", "\\") else " " + line[1:])
    return kept


def _top(header: str) -> int:
    counts = _HEADER.match(header)
    return (int(counts[3]) or int(counts[1])) if counts else 0


def _head(lines: list[str]) -> list[str]:
    """The lines of the first hunk as the new file has them, or the old one where nothing is left."""
    kept: list[str] = []
    gone: list[str] = []
    for line in lines[1 : 3 * HEAD_LINES]:
        sign = line[:1]
        if sign == "@" or len(kept) >= HEAD_LINES:
            break
        if sign == "-":
            gone.append(line[1:])
        elif sign != "\\":
            kept.append(line[1:])
    return kept or gone[:HEAD_LINES]
