"""Which changed lines only moved, or changed in nothing but blanks.

Both answers do not depend on how much context a patch shows: blanks are compared where lines took the place of
others, moves over all files of a commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter

from bot.landing.patch import PatchLines

LEAST_LINES = 3
"""A move is a block of so many lines that are not blank ..."""
LEAST_CHARACTERS = 40
"""... with so many characters besides blanks, or else braces and returns would count as moved."""
_MOST_PLACES = 8
_WORTH = 8
_FEW = 4
"""lines that are counted one by one sooner than all at once"""


Sides = tuple[list[str], list[str]]
"""the lines that a file gets and loses, without the blanks around them"""


def whitespace_only(lines: PatchLines) -> tuple[list[str], list[str]] | None:
    """(removed, added) lines that stand again in the same place with other blanks, each as often as it does.

    None where there are none, which is quickly seen of nearly every file.
    """
    was, now = squeezed(lines.removed), squeezed(lines.added)
    common = set(was).intersection(now)
    if not common:
        return None
    old: list[str] = []
    new: list[str] = []
    places = (at for at, key in enumerate(was) if key in common)
    next_place = next(places)
    for lost, lost_end, got, got_end in lines.replaced():
        while next_place < lost:
            if (next_place := next(places, -1)) < 0:
                return (old, new) if old else None
        if next_place >= lost_end:
            continue
        again = common.intersection(was[lost:lost_end]).intersection(now[got:got_end])
        if again:
            both = _common(again, was[lost:lost_end], now[got:got_end])
            old += _take(lines.removed[lost:lost_end], was[lost:lost_end], both)
            new += _take(lines.added[got:got_end], now[got:got_end], both)
    return (old, new) if old else None


def squeezed(lines: Sequence[str]) -> list[bytes]:
    """The lines without any blank, tab or carriage return, much as `git diff -w` compares; bytes lose them soonest."""
    return "\n".join(lines).encode("utf-8", "surrogatepass").translate(None, b" \t\r").split(b"\n")


def _common(keys: set[bytes], was: Sequence[bytes], now: Sequence[bytes]) -> Mapping[bytes, int]:
    """How often each of the keys stands in both."""
    if len(keys) < _FEW:
        return {key: min(was.count(key), now.count(key)) for key in keys}
    return Counter(was) & Counter(now)


def _take(lines: Sequence[str], keys: Sequence[bytes], both: Mapping[bytes, int]) -> list[str]:
    left = dict(both)
    taken = []
    for line, key in [(line, key) for line, key in zip(lines, keys, strict=True) if key in left]:
        if left[key]:
            left[key] -= 1
            taken.append(line)
    return taken


def without(lines: Sequence[str], taken: Sequence[str]) -> list[str]:
    """The lines less those taken, as often as they were, without the blanks around them."""
    left = Counter(taken)
    out = []
    for line in lines:
        if left.get(line):
            left[line] -= 1
        else:
            out.append(line.strip())
    return out


@dataclass(slots=True, eq=False)
class Text:
    """The bare lines that one file gets and loses, and how many turn out to be moved."""

    added: list[str]
    removed: list[str]
    moved: int = 0
    used: list[bool] = field(default_factory=list)


def count_moves(files: Sequence[Sides]) -> list[int]:
    """How many of the bare lines of each file are blocks that one place lost and another got.

    Empty where there is no move at all, as in most commits.
    """
    lost = set(chain.from_iterable([removed for _, removed in files]))
    if not lost:
        return []
    common = lost.intersection(chain.from_iterable([added for added, _ in files]))
    both = {line for line in common if len(line) >= _WORTH}
    if not both:
        return []
    texts = [Text(added, removed) for added, removed in files]
    places = _places(texts, both)
    for text in texts:
        _find_blocks(text, both, places)
    return [text.moved for text in texts]


def _places(texts: Sequence[Text], both: set[str]) -> dict[str, list[tuple[Text, int]]]:
    """Where each line that also appears elsewhere was removed."""
    places: dict[str, list[tuple[Text, int]]] = {}
    for text in texts:
        text.used = [False] * len(text.removed)
        for at, key in [(at, key) for at, key in enumerate(text.removed) if key in both]:
            found = places.setdefault(key, [])
            if len(found) < _MOST_PLACES:
                found.append((text, at))
    return places


def _find_blocks(text: Text, both: set[str], places: dict[str, list[tuple[Text, int]]]) -> None:
    keys = text.added
    end = 0
    for at in [at for at, key in enumerate(keys) if key in both]:
        if at < end:
            continue
        length, source, start = max(
            ((_run(keys, at, other, place), other, place) for other, place in places[keys[at]]),
            key=itemgetter(0),
        )
        if _is_move(keys[at : at + length]):
            source.used[start : start + length] = [True] * length
            source.moved += length
            text.moved += length
            end = at + length


def _run(keys: list[str], at: int, source: Text, start: int) -> int:
    """How many lines from here on were removed there in the same order."""
    length = 0
    most = min(len(keys) - at, len(source.removed) - start)
    while length < most and keys[at + length] == source.removed[start + length] and not source.used[start + length]:
        length += 1
    return length


def _is_move(block: list[str]) -> bool:
    if len(block) < LEAST_LINES:
        return False
    said = [key for key in block if key]
    return len(said) >= LEAST_LINES and sum(map(len, said)) >= LEAST_CHARACTERS
