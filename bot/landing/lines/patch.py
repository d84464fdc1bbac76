"""Which lines does a patch add and remove, and where did some replace others?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.model.commit import FileChange

HEAD_LINES = 40
"""number of lines in `PatchLines.head`"""

_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADERS = re.compile(r"\n@(?:@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@)?")
_AT_TOP = re.compile(r"@@ -(?:\d{1,9}(?:,\d{1,9})? \+1|1(?:,\d{1,9})? \+0)[ ,]")
_MANY = 20
"""from this many lines with one sign, it pays to check whether they form one block"""
# a single line break is found faster than one followed by a sign: the brackets keep the two separate
_ADDED = re.compile(r"\n[+]([^\n]*)")
_REMOVED = re.compile(r"\n[-]([^\n]*)")
_CHANGED = re.compile(r"\n([+-])")
_SIGN = re.compile(r"\n([^\n]?)")
# git writes removed lines before added ones; the second half is optional, or each line of a long removal would be
# tried as the first of a replacement
_REPLACED = re.compile(r"(-++)\\?+(\+*+)")


@dataclass(slots=True, eq=False)
class PatchLines:
    """The changed lines of one file, without their sign, in order."""

    added: list[str]
    removed: list[str]
    patch: str = ""
    """the hunks with these lines; derived values are not stored, because a patch may be large"""
    _bare: tuple[list[str], list[str]] | None = None

    @property
    def hunks(self) -> str:
        """Every line of the hunks, each preceded by a line break."""
        return _hunks(self.patch)

    @property
    def at_top(self) -> bool:
        """Whether the first hunk begins at line 1 of the new file (of the old one if nothing is left)."""
        return _AT_TOP.match(self.patch) is not None

    @property
    def head(self) -> list[str]:
        """The first lines of the new file (of the old one if nothing is left), if the patch begins there."""
        return _head(self.patch.split("\n", 3 * HEAD_LINES)) if self.at_top else []

    @property
    def bare(self) -> tuple[list[str], list[str]]:
        """The added and the removed lines without surrounding blanks."""
        if self._bare is None:
            self._bare = list(map(str.strip, self.added)), list(map(str.strip, self.removed))
        return self._bare

    def signed_texts(self) -> tuple[int, list[str]]:
        """The number of non-blank changed lines, and their text in the order of the patch: each line with its sign and
        without surrounding blanks, NULs between lines.
        """
        added, removed = self.bare
        if added and removed and self.hunks.rfind("\n-") > self.hunks.find("\n+"):
            following = {"+": iter(added).__next__, "-": iter(removed).__next__}
            signed = [sign + text for sign in _CHANGED.findall(self.hunks) if (text := following[sign]())]
            return len(signed), ["\0".join(signed)]
        # in most patches all removed lines precede all added ones
        lost, got = list(filter(None, removed)), list(filter(None, added))
        sides = [sign + f"\0{sign}".join(lines) for sign, lines in (("-", lost), ("+", got)) if lines]
        return len(lost) + len(got), sides

    @property
    def signs(self) -> str:
        """The first character of each line of the hunks."""
        return "".join([sign or " " for sign in _SIGN.findall(self.hunks)])

    def replacements(self) -> Iterator[tuple[int, int, int, int]]:
        """Where lines replaced others: start and end in `removed`, start and end in `added`.

        The result does not depend on the width of the context.
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
    """The lines of each file; None for a file without a patch."""
    return tuple(
        [read_patch(file.patch, (file.additions, file.deletions)) if file.patch is not None else None for file in files]
    )


def read_patch(patch: str, counted: tuple[int, int] | None = None) -> PatchLines:
    """The lines of a patch: only hunks, from the first `@@`, with at least one line of context.

    Hunk headers give the number of lines that follow; text outside all hunks is not counted. If the number of lines
    that look added and removed is what git `counted`, there is no such text, and the headers need not be read.
    """
    hunks = _hunks(patch)
    if counted and not min(counted) and max(counted) >= _MANY:
        added, removed = _block(hunks, "+", counted[0]), _block(hunks, "-", counted[1])
    else:
        added, removed = _ADDED.findall(hunks), _REMOVED.findall(hunks)
    if (len(added), len(removed)) != counted and not _adds_up(hunks, len(added), len(removed)):
        hunks = _restore_signs(patch)
        added, removed = _ADDED.findall(hunks), _REMOVED.findall(hunks)
        patch = hunks[1:]
    return PatchLines(added, removed, patch)


def _hunks(patch: str) -> str:
    """The lines of a patch, each preceded by a line break."""
    return "\n" + patch.removesuffix("\n")


def _block(hunks: str, sign: str, expected: int) -> list[str]:
    """The lines with a sign; if they form one block, as in a new file, they are split instead of searched for."""
    mark = "\n" + sign
    if expected:
        end = hunks.find("\n", hunks.rfind(mark) + 1)
        block = hunks[hunks.find(mark) + 2 : end if end >= 0 else len(hunks)]
        if block.count("\n") == expected - 1 and len(lines := block.split(mark)) == expected:
            return lines
    return (_ADDED if sign == "+" else _REMOVED).findall(hunks)


def _adds_up(hunks: str, added: int, removed: int) -> bool:
    """Whether the lines that look like headers account for all the others.

    Counting is far cheaper than examining each line, and succeeds for nearly every patch.
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


def _restore_signs(patch: str) -> str:
    """The hunks of a patch in which some (blank) lines lost their sign, or belong to no hunk."""
    lines = patch.split("\n")
    if not lines[-1]:
        lines.pop()
    if not _agrees(lines, "".join([line[:1] or " " for line in lines])):
        lines = _hunk_lines(lines)
    return "".join(["\n" + (line or " ") for line in lines])


def _agrees(lines: list[str], signs: str) -> bool:
    """Whether every line that looks like part of a hunk is one: then the counts in the headers match."""
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


def _hunk_lines(lines: list[str]) -> list[str]:
    """Only the lines of the hunks, by the counts in their headers."""
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
    """The first lines of the first hunk in the new file, or in the old one if nothing is left."""
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
