"""Which lines a patch adds and removes, and where some took the place of others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.model import FileChange

HEAD_LINES = 40
"""how many of them"""

_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADERS = re.compile(r"\n@(?:@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@)?")
_AT_TOP = re.compile(r"@@ -(?:\d{1,9}(?:,\d{1,9})? \+1|1(?:,\d{1,9})? \+0)[ ,]")
_MANY = 20
"""lines of one sign from which it is worth while to see whether they stand in one block"""
# a line end alone is found sooner than one with a sign behind it: the brackets keep the two apart
_ADDED = re.compile(r"\n[+]([^\n]*)")
_REMOVED = re.compile(r"\n[-]([^\n]*)")
_CHANGED = re.compile(r"\n([+-])")
_SIGN = re.compile(r"\n([^\n]?)")
# git writes what a place loses before what it gets; the second half is optional, or each line of a long loss would be
# tried as the first of a replacement
_REPLACED = re.compile(r"(-++)\\?+(\+*+)")


@dataclass(slots=True, eq=False)
class PatchLines:
    """The changed lines of one file, without their sign, in order."""

    added: list[str]
    removed: list[str]
    patch: str = ""
    """the hunks they stand in; what else is asked of it is not kept, as a patch may be large"""
    _bare: tuple[list[str], list[str]] | None = None

    @property
    def hunks(self) -> str:
        """Every line of the hunks, each behind a line end."""
        return _hunks(self.patch)

    @property
    def at_top(self) -> bool:
        """The first hunk begins with the first line of the new file (of the old one where nothing is left)."""
        return _AT_TOP.match(self.patch) is not None

    @property
    def head(self) -> list[str]:
        """The first lines of the new file (of the old one where nothing is left), if the patch begins there."""
        return _head(self.patch.split("\n", 3 * HEAD_LINES)) if self.at_top else []

    @property
    def bare(self) -> tuple[list[str], list[str]]:
        """The added and the removed lines without the blanks around them."""
        if self._bare is None:
            self._bare = list(map(str.strip, self.added)), list(map(str.strip, self.removed))
        return self._bare

    def said(self) -> tuple[int, list[str]]:
        """How many changed lines are not blank, and pieces of text that tell them, with a NUL between any two lines, in
        the order of the patch: each its sign, and its text without blanks around it."""
        added, removed = self.bare
        if added and removed and self.hunks.rfind("\n-") > self.hunks.find("\n+"):
            following = {"+": iter(added).__next__, "-": iter(removed).__next__}
            told = [sign + text for sign in _CHANGED.findall(self.hunks) if (text := following[sign]())]
            return len(told), ["\0".join(told)]
        # most often, all that is lost stands before all that is got
        lost, got = list(filter(None, removed)), list(filter(None, added))
        sides = [sign + f"\0{sign}".join(lines) for sign, lines in (("-", lost), ("+", got)) if lines]
        return len(lost) + len(got), sides

    @property
    def signs(self) -> str:
        """The first character of each line of the hunks."""
        return "".join([sign or " " for sign in _SIGN.findall(self.hunks)])

    def replaced(self) -> Iterator[tuple[int, int, int, int]]:
        """Where lines took the place of others: first and end in `removed`, first and end in `added`.

        These places are the same whatever the width of the context.
        """
        lost = got = at = 0
        signs = self.signs
        for run in _REPLACED.finditer(signs):
            if not run[2]:
                continue
            first, end = run.span()
            lost += signs.count("-", at, first)
            got += signs.count("+", at, first)
            lost_end, got_end = lost + len(run[1]), got + len(run[2])
            yield lost, lost_end, got, got_end
            lost, got, at = lost_end, got_end, end


def read_patches(files: Sequence[FileChange]) -> tuple[PatchLines | None, ...]:
    """The lines of each file, None where none are shown."""
    return tuple(
        [read_patch(file.patch, (file.additions, file.deletions)) if file.patch is not None else None for file in files]
    )


def read_patch(patch: str, counted: tuple[int, int] | None = None) -> PatchLines:
    """The lines of a patch: hunks alone, from the first `@@`, with one line of context or more.

    Hunk headers say how many lines follow; text after that which belongs to no hunk is not counted. Where as many lines
    look added and removed as git `counted`, there is no such text, and headers need not be read.
    """
    hunks = _hunks(patch)
    if counted and not min(counted) and max(counted) >= _MANY:
        added, removed = _block(hunks, "+", counted[0]), _block(hunks, "-", counted[1])
    else:
        added, removed = _ADDED.findall(hunks), _REMOVED.findall(hunks)
    if (len(added), len(removed)) != counted and not _adds_up(hunks, len(added), len(removed)):
        hunks = _restored(patch)
        added, removed = _ADDED.findall(hunks), _REMOVED.findall(hunks)
        patch = hunks[1:]
    return PatchLines(added, removed, patch)


def _hunks(patch: str) -> str:
    """The lines of a patch, each behind a line end."""
    return "\n" + patch.removesuffix("\n")


def _block(hunks: str, sign: str, expected: int) -> list[str]:
    """The lines with a sign, split rather than sought where they stand in one block, as those of a new file do."""
    mark = "\n" + sign
    if expected:
        end = hunks.find("\n", hunks.rfind(mark) + 1)
        block = hunks[hunks.find(mark) + 2 : end if end >= 0 else len(hunks)]
        if block.count("\n") == expected - 1 and len(lines := block.split(mark)) == expected:
            return lines
    return (_ADDED if sign == "+" else _REMOVED).findall(hunks)


def _adds_up(hunks: str, added: int, removed: int) -> bool:
    """Whether the lines that look like headers count all others between them.

    Counting is far cheaper than looking at each line, and true of nearly every patch.
    """
    if hunks[:2] != "\n@":
        return False
    headers = _HEADERS.findall(hunks)
    remarks = hunks.count("\n\\") if "\\" in hunks else 0
    context = hunks.count("\n") - len(headers) - added - removed - remarks
    old = new = 0
    for start, lost, _, got in headers:
        if not start:
            return False
        old += int(lost or 1)
        new += int(got or 1)
    return old - removed == context == new - added


def _restored(patch: str) -> str:
    """The hunks of a patch in which some lines lost their sign (blank ones), or belong to no hunk."""
    lines = patch.split("\n")
    if not lines[-1]:
        lines.pop()
    if not _agrees(lines, "".join([line[:1] or " " for line in lines])):
        lines = _followed(lines)
    return "".join(["\n" + (line or " ") for line in lines])


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
