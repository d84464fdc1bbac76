"""Which changed lines only moved, or changed only in whitespace?

Neither answer depends on how much context a patch shows: whitespace is compared where lines replaced others, moves are
detected across all files of a commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter

from bot.landing.lines.patch import PatchLines

LEAST_LINES = 3
"""A move is a block of at least this many lines that are not blank ..."""
LEAST_CHARACTERS = 40
"""... with at least this many non-blank characters; otherwise braces and returns would count as moved."""
_MOST_POSITIONS = 8
_WORTH = 8
_FEW = 4
"""below this number of lines, counting them one by one is faster than all at once"""


Sides = tuple[list[str], list[str]]
"""the lines added to and removed from a file, without surrounding blanks"""


def whitespace_only(lines: PatchLines) -> tuple[list[str], list[str]] | None:
    """(removed, added) lines that were replaced by the same text with different whitespace, as often as they occur.

    None if there are none, which is the case for nearly every file and quick to see.
    """
    was, now = strip_blanks(lines.removed), strip_blanks(lines.added)
    common = set(was).intersection(now)
    if not common:
        return None
    old: list[str] = []
    new: list[str] = []
    positions = (at for at, key in enumerate(was) if key in common)
    next_position = next(positions)
    for lost, lost_end, got, got_end in lines.replacements():
        while next_position < lost:
            if (next_position := next(positions, -1)) < 0:
                return (old, new) if old else None
        if next_position >= lost_end:
            continue
        repeated = common.intersection(was[lost:lost_end]).intersection(now[got:got_end])
        if repeated:
            both = _common(repeated, was[lost:lost_end], now[got:got_end])
            old += _take_lines(lines.removed[lost:lost_end], was[lost:lost_end], both)
            new += _take_lines(lines.added[got:got_end], now[got:got_end], both)
    return (old, new) if old else None


def strip_blanks(lines: Sequence[str]) -> list[bytes]:
    """The lines without blanks, tabs and carriage returns, much as `git diff -w` compares; bytes
    are the fastest way.
    """
    return "\n".join(lines).encode("utf-8", "surrogatepass").translate(None, b" \t\r").split(b"\n")


def _common(keys: set[bytes], was: Sequence[bytes], now: Sequence[bytes]) -> Mapping[bytes, int]:
    """How often each of the keys occurs in both."""
    if len(keys) < _FEW:
        return {key: min(was.count(key), now.count(key)) for key in keys}
    return Counter(was) & Counter(now)


def _take_lines(lines: Sequence[str], keys: Sequence[bytes], both: Mapping[bytes, int]) -> list[str]:
    left = dict(both)
    taken = []
    for line, key in [(line, key) for line, key in zip(lines, keys, strict=True) if key in left]:
        if left[key]:
            left[key] -= 1
            taken.append(line)
    return taken


def without_lines(lines: Sequence[str], taken: Sequence[str]) -> list[str]:
    """The lines minus those taken, as many times as given, without surrounding blanks."""
    left = Counter(taken)
    out = []
    for line in lines:
        if left.get(line):
            left[line] -= 1
        else:
            out.append(line.strip())
    return out


@dataclass(slots=True, eq=False)
class FileLines:
    """The stripped lines added to and removed from one file, and how many of them moved."""

    added: list[str]
    removed: list[str]
    moved: int = 0
    used: list[bool] = field(default_factory=list)


def count_moves(files: Sequence[Sides]) -> list[int]:
    """How many of each file's stripped lines belong to blocks removed in one place and added in another.

    Empty if there are no moves, as in most commits.
    """
    lost = set(chain.from_iterable([removed for _, removed in files]))
    if not lost:
        return []
    common = lost.intersection(chain.from_iterable([added for added, _ in files]))
    both = {line for line in common if len(line) >= _WORTH}
    if not both:
        return []
    texts = [FileLines(added, removed) for added, removed in files]
    positions = _removed_positions(texts, both)
    for text in texts:
        _find_blocks(text, both, positions)
    return [text.moved for text in texts]


def _removed_positions(texts: Sequence[FileLines], both: set[str]) -> dict[str, list[tuple[FileLines, int]]]:
    """The positions where each line that was also added elsewhere was removed."""
    positions: dict[str, list[tuple[FileLines, int]]] = {}
    for text in texts:
        text.used = [False] * len(text.removed)
        for at, key in [(at, key) for at, key in enumerate(text.removed) if key in both]:
            found = positions.setdefault(key, [])
            if len(found) < _MOST_POSITIONS:
                found.append((text, at))
    return positions


def _find_blocks(text: FileLines, both: set[str], positions: dict[str, list[tuple[FileLines, int]]]) -> None:
    keys = text.added
    end = 0
    for at in [at for at, key in enumerate(keys) if key in both]:
        if at < end:
            continue
        length, source, start = max(
            ((_run(keys, at, other, position), other, position) for other, position in positions[keys[at]]),
            key=itemgetter(0),
        )
        if _is_move(keys[at : at + length]):
            source.used[start : start + length] = [True] * length
            source.moved += length
            text.moved += length
            end = at + length


def _run(keys: list[str], at: int, source: FileLines, start: int) -> int:
    """How many lines from `at` on were removed from `start` on in the same order."""
    length = 0
    most = min(len(keys) - at, len(source.removed) - start)
    while length < most and keys[at + length] == source.removed[start + length] and not source.used[start + length]:
        length += 1
    return length


def _is_move(block: list[str]) -> bool:
    if len(block) < LEAST_LINES:
        return False
    filled = [key for key in block if key]
    return len(filled) >= LEAST_LINES and sum(map(len, filled)) >= LEAST_CHARACTERS
