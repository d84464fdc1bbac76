"""Which entries tell of one doing, so that they differ in one place, and what stands there?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from bot.narrative.entry import Entry

LEAST_RUN = 3
_LEAST_SHARED = 2
"""words that the entries of a run share"""
_LONGEST_SLOT = 4
_SERIES = re.compile(r"\s?[\[(](?:part |patch )?\d{1,3}(?:\.\d+)?\s?(?:/|of)\s?(?:\d{1,3}|n)[\])]", re.IGNORECASE)
_BETWEEN = frozenset(
    (
        "a",
        "an",
        "the",
        "to",
        "of",
        "for",
        "in",
        "on",
        "with",
        "and",
        "or",
        "from",
        "by",
        "at",
        "as",
        "is",
        "into",
        "when",
    )
)
"""words that join an object to the words around it"""
_PLAIN = _BETWEEN | frozenset(
    [
        "add",
        "added",
        "adds",
        "fix",
        "fixes",
        "fixed",
        "update",
        "updated",
        "use",
        "remove",
        "removed",
        "support",
        "allow",
        "make",
        "handle",
        "improve",
        "implement",
        "change",
        "new",
    ]
)
"""words that say nothing of a doing by themselves"""
_Frame = tuple[tuple[str, ...], tuple[str, ...]]
"""the words before and after the place in which the entries differ"""


def join_runs(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries with each run of at least `LEAST_RUN` as one, in the place of its first."""
    words = [tuple(_SERIES.sub("", entry.quoted).split()) for entry in entries]
    members: dict[_Frame, dict[int, None]] = defaultdict(dict)
    for index, each in enumerate(words):
        if not entries[index].quoted.endswith("…"):
            for frame in _frames(each):
                members[frame].setdefault(index)
    taken: dict[int, Entry | None] = {}
    runs = [frame for frame, found in members.items() if len(found) >= LEAST_RUN]
    for frame in sorted(runs, key=lambda frame: (-len(members[frame]), -_shared(frame), frame)):
        left = [index for index in members[frame] if index not in taken and _is_object(_slot(words[index], frame))]
        if _are_objects({_slot(words[index], frame) for index in left}, frame[0]):
            taken.update(dict.fromkeys(left))
            taken[left[0]] = _joined(frame, [(entries[index], _slot(words[index], frame)) for index in left])
    found = [taken.get(index, entry) for index, entry in enumerate(entries)]
    return tuple(entry for entry in found if entry is not None)


def _frames(words: tuple[str, ...]) -> set[_Frame]:
    """What is left of the words without one to four neighbours; enough of it has to say something."""
    found = set()
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST_SLOT, len(words)) + 1):
            frame = words[:start], words[end:]
            if _shared(frame) >= _LEAST_SHARED:
                found.add(frame)
    return found


def _shared(frame: _Frame) -> int:
    return sum(word.lower() not in _PLAIN for part in frame for word in part)


def _slot(words: tuple[str, ...], frame: _Frame) -> str:
    before, after = frame
    return " ".join(words[len(before) : len(words) - len(after)])


def _is_object(slot: str) -> bool:
    """Whether it neither begins nor ends with a word that belongs to what stands around it."""
    first, *_, last = slot.lower().split() * 2
    return first not in _BETWEEN and last not in _BETWEEN


def _are_objects(slots: Collection[str], before: Sequence[str]) -> bool:
    """Whether what stands in the place differs as objects do; where a text begins, its verb stands, or a scope."""
    first = not before or before[-1].endswith(":")
    return len(slots) >= LEAST_RUN and (not first or all(slot.endswith(":") for slot in slots))


def _joined(frame: _Frame, found: Sequence[tuple[Entry, str]]) -> Entry:
    """One entry for all; its change is the first in the order of rank, the objects are oldest first."""
    first = found[0][0]
    objects = [slot for entry, slot in sorted(found, key=lambda each: (each[0].month, each[0].number or 0))]
    tags = {entry.tag for entry, _ in found}
    return replace(
        first,
        quoted=" ".join((*frame[0], "…", *frame[1])),
        tag=first.tag if len(tags) == 1 else None,
        people=tuple(dict.fromkeys(name for entry, _ in found for name in entry.people)),
        unnamed=max(entry.unnamed for entry, _ in found),
        release=None,
        objects=tuple(dict.fromkeys(objects)),
        count=len(found),
        members=tuple(entry.change for entry, _ in found),
    )
