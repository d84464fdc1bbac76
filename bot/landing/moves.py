"""Which changed lines only moved, or changed in nothing but blanks.

Both answers do not depend on how much context a patch shows: blanks are compared where lines took the place of
others, moves over all files of a commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.landing.patch import PatchLines

LEAST_LINES = 3
"""A move is a block of so many lines that are not blank ..."""
LEAST_CHARACTERS = 40
"""... with so many characters besides blanks, or else braces and returns would count as moved."""
_MOST_PLACES = 8
_WORTH = 8
_FEW = 4
"""lines that are counted one by one sooner than all at once"""
_NOTHING: tuple[Counter[str], Counter[str]] = (Counter(), Counter())


def whitespace_only(lines: PatchLines) -> tuple[Counter[str], Counter[str]]:
    """(removed, added) lines that stand again in the same place with other blanks, each as often as it does."""
    was, now = squeezed(lines.removed), squeezed(lines.added)
    if set(was).isdisjoint(now):
        return _NOTHING
    old: Counter[str] = Counter()
    new: Counter[str] = Counter()
    for lost, lost_end, got, got_end in lines.replaced():
        again = set(was[lost:lost_end]).intersection(now[got:got_end])
        if again:
            both = _common(again, was[lost:lost_end], now[got:got_end])
            old.update(_take(lines.removed[lost:lost_end], was[lost:lost_end], both))
            new.update(_take(lines.added[got:got_end], now[got:got_end], both))
    return old, new


def squeezed(lines: Sequence[str]) -> list[str]:
    """The lines without any blank, tab or carriage return, much as `git diff -w` compares."""
    return "\n".join(lines).replace(" ", "").replace("\t", "").replace("\r", "").split("\n")


def _common(keys: set[str], was: Sequence[str], now: Sequence[str]) -> Mapping[str, int]:
    """How often each of the keys stands in both."""
    if len(keys) < _FEW:
        return {key: min(was.count(key), now.count(key)) for key in keys}
    return Counter(was) & Counter(now)


def _take(lines: Sequence[str], keys: Sequence[str], both: Mapping[str, int]) -> list[str]:
    left = dict(both)
    taken = []
    for line, key in [(line, key) for line, key in zip(lines, keys, strict=True) if key in left]:
        if left[key]:
            left[key] -= 1
            taken.append(line)
    return taken


def without(lines: Sequence[str], taken: Counter[str]) -> Sequence[str]:
    """The lines less those taken, as often as they were."""
    if not taken:
        return lines
    left = Counter(taken)
    out = []
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        else:
            out.append(line)
    return out


@dataclass(slots=True)
class Text:
    """The added and the removed lines of one file, with how many of them turn out to be moved."""

    added: Sequence[str]
    removed: Sequence[str]
    moved_in: int = 0
    moved_out: int = 0
    keys: list[str] = field(default_factory=list)
    used: list[bool] = field(default_factory=list)


def count_moves(texts: Sequence[Text]) -> None:
    """Finds blocks of lines that one place lost and another got, and counts them in both."""
    lost: set[str] = set()
    got: set[str] = set()
    for text in texts:
        lost.update(map(str.strip, text.removed))
        got.update(map(str.strip, text.added))
    both = {line for line in lost & got if len(line) >= _WORTH}
    if not both:
        return
    places = _places(texts, both)
    for text in texts:
        _find_blocks(text, both, places)


def _places(texts: Sequence[Text], both: set[str]) -> dict[str, list[tuple[Text, int]]]:
    """Where each line that also appears elsewhere was removed."""
    places: dict[str, list[tuple[Text, int]]] = {}
    for text in texts:
        text.keys = list(map(str.strip, text.removed))
        text.used = [False] * len(text.keys)
        for at, key in [(at, key) for at, key in enumerate(text.keys) if key in both]:
            found = places.setdefault(key, [])
            if len(found) < _MOST_PLACES:
                found.append((text, at))
    return places


def _find_blocks(text: Text, both: set[str], places: dict[str, list[tuple[Text, int]]]) -> None:
    keys = list(map(str.strip, text.added))
    at = 0 if not both.isdisjoint(keys) else len(keys)
    while at < len(keys):
        if keys[at] not in both:
            at += 1
            continue
        length, source, start = max(
            ((_run(keys, at, other, place), other, place) for other, place in places[keys[at]]),
            key=lambda found: found[0],
        )
        if not _is_move(keys[at : at + length]):
            at += 1
            continue
        source.used[start : start + length] = [True] * length
        source.moved_out += length
        text.moved_in += length
        at += length


def _run(keys: list[str], at: int, source: Text, start: int) -> int:
    """How many lines from here on were removed there in the same order."""
    length = 0
    most = min(len(keys) - at, len(source.keys) - start)
    while length < most and keys[at + length] == source.keys[start + length] and not source.used[start + length]:
        length += 1
    return length


def _is_move(block: list[str]) -> bool:
    said = [key for key in block if key]
    return len(said) >= LEAST_LINES and sum(map(len, said)) >= LEAST_CHARACTERS
