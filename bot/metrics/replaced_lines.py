"""Whose lines does each landing replace or remove, as far as patches alone show?

Landings are read oldest first. Each file keeps the hashes of its standing lines with the commit that they came from; a
commit that removes a line takes it from the youngest commit that added it. Commits that landed in the same second are
one landing, so that their order makes no difference. A line that moves to another file of the same landing, a renamed
file and a file that is only formatted keep their owners.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, Protocol

from bot.metrics.line_hashes import FileHashes, unpack

MOSTLY_REMOVES = 20
"""a landing that removes at least this many lines for each line it adds takes something away on purpose"""

Number = int
"""the row number of a commit's fact"""
Stack = dict[int, Number | list[Number]]
"""the standing lines of one file: the owner of each hash, or its owners, youngest last"""


class HashedCommit(NamedTuple):
    """What a store keeps of one landed commit."""

    number: Number
    landed_at: int
    hashes: bytes


class Loss(NamedTuple):
    """How many lines of one commit another one took away."""

    owner: Number
    by: Number
    replaced: int
    dropped: int
    """those in files that were deleted whole, or by a landing that mostly removes"""


class Fates:
    """How many lines each commit added, and what became of them."""

    def __init__(self) -> None:
        self.added: Counter[Number] = Counter()
        self._lost: defaultdict[tuple[Number, Number], list[int]] = defaultdict(lambda: [0, 0])

    def lose(self, owner: Number, by: Number, *, dropped: bool) -> None:
        self._lost[owner, by][dropped] += 1

    def losses(self) -> Iterator[Loss]:
        for (owner, by), counts in sorted(self._lost.items()):
            yield Loss(owner, by, *counts)


class _Taken(NamedTuple):
    owner: Number
    by: Number
    dropped: bool


class StandingLines:
    """The standing lines of the files of one repository, and which files have changed since they were loaded."""

    def __init__(self, files: dict[int, Stack] | None = None) -> None:
        self.files: dict[int, Stack] = files or {}
        self.touched: set[int] = set()

    def land_all(self, commits: Iterable[HashedCommit], fates: Fates) -> None:
        """Land these commits, which are sorted by the time of their landing."""
        for _, together in groupby(commits, key=attrgetter("landed_at")):
            self.land([(one.number, list(unpack(one.hashes))) for one in together], fates)

    def land(self, group: Sequence[tuple[Number, Sequence[FileHashes]]], fates: Fates) -> None:
        """Land commits of the same second."""
        edits = self._edits(group)
        if len(group) > 1:
            edits = _net_edits(edits)
        added, removed = sum(len(one.added) for one in edits), sum(len(one.removed) for one in edits)
        taken = self._take(edits, on_purpose=removed >= MOSTLY_REMOVES * added)
        for edit in edits:
            self._keep_formatted(edit)
            self._add(edit, taken, fates)
        for lost in taken.values():
            for one in lost:
                fates.lose(one.owner, one.by, dropped=one.dropped)

    def _edits(self, group: Sequence[tuple[Number, Sequence[FileHashes]]]) -> list[_Edit]:
        """What happens to each file, under its last name."""
        names: dict[int, int] = {}
        for _, files in group:
            for one in files:
                if one.former:
                    self._rename(one.former, one.file)
                    names[one.former] = one.file
        edits = [
            _Edit(_last_name(one.file, names), number, one.added, one.removed, one.pairs, one.deleted)
            for number, files in group
            for one in files
        ]
        self.touched.update([edit.file for edit in edits])
        return edits

    def _rename(self, before: int, after: int) -> None:
        self.touched.update((before, after))
        if before in self.files:
            self.files[after] = self.files.pop(before)

    def _take(self, edits: Sequence[_Edit], *, on_purpose: bool) -> dict[int, list[_Taken]]:
        """The owners of all removed lines, by hash."""
        taken: dict[int, list[_Taken]] = {}
        for edit in edits:
            stack = self.files.get(edit.file)
            if stack:
                dropped = edit.deleted or on_purpose
                for line in edit.removed:
                    owner = _pop(stack, line)
                    if owner is not None:
                        taken.setdefault(line, []).append(_Taken(owner, edit.by, dropped))
                if edit.deleted:
                    del self.files[edit.file]
        return taken

    def _keep_formatted(self, edit: _Edit) -> None:
        stack = self.files.get(edit.file)
        for before, after in zip(edit.pairs[::2], edit.pairs[1::2], strict=True) if stack else ():
            owner = _pop(stack, before) if stack else None
            if stack is not None and owner is not None:
                _push(stack, after, owner)

    def _add(self, edit: _Edit, taken: dict[int, list[_Taken]], fates: Fates) -> None:
        if not edit.added:
            return
        stack = self.files.setdefault(edit.file, {})
        own = 0
        for line in edit.added:
            moved = taken.get(line)
            if moved:
                owner = moved.pop().owner
            else:
                owner = edit.by
                own += 1
            if line in stack:
                _push(stack, line, owner)
            else:
                stack[line] = owner
        if own:
            fates.added[edit.by] += own


class _Edit(NamedTuple):
    """What one commit does to one file."""

    file: int
    by: Number
    added: Sequence[int]
    removed: Sequence[int]
    pairs: Sequence[int]
    deleted: bool


def _last_name(file: int, names: dict[int, int]) -> int:
    seen: set[int] = set()
    while file in names and file not in seen:
        seen.add(file)
        file = names[file]
    return file


def _net_edits(edits: Sequence[_Edit]) -> list[_Edit]:
    """Without the lines that one commit of the landing adds to a file and another removes."""
    more: defaultdict[int, Counter[int]] = defaultdict(Counter)
    fewer: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for edit in edits:
        more[edit.file].update(edit.added)
        fewer[edit.file].update(edit.removed)
    both = {file: found for file in more if (found := more[file] & fewer[file])}
    if not both:
        return list(edits)
    left = {file: (Counter(found), Counter(found)) for file, found in both.items()}
    return [
        edit
        if edit.file not in left
        else edit._replace(
            added=_without(edit.added, left[edit.file][0]), removed=_without(edit.removed, left[edit.file][1])
        )
        for edit in edits
    ]


def _without(lines: Sequence[int], gone: Counter[int]) -> list[int]:
    """The lines minus those counted, each as often as it is counted there."""
    kept = []
    for line in lines:
        if gone.get(line):
            gone[line] -= 1
        else:
            kept.append(line)
    return kept


def _pop(stack: Stack, line: int) -> Number | None:
    """Take the line from its youngest owner."""
    owner = stack.pop(line, None)
    if type(owner) is not list:
        return owner  # type: ignore[return-value]  # mypy does not narrow by exact type
    youngest = owner.pop()
    stack[line] = owner if len(owner) > 1 else owner[0]
    return youngest


def _push(stack: Stack, line: int, owner: Number) -> None:
    known = stack.get(line)
    if known is None:
        stack[line] = owner
    elif type(known) is list:
        known.append(owner)
    else:
        stack[line] = [known, owner]  # type: ignore[list-item]  # likewise


class Mark(NamedTuple):
    """Up to where the lines of a repository are attributed."""

    last_fact: Number = 0
    landed_at: int = 0
    commits: int = 0


class LineStore(Protocol):
    """The lines of one repository, wherever they are stored."""

    def mark(self) -> Mark: ...

    def count(self) -> int:
        """How many commits with hashes there are."""

    def commits(self, after: Number) -> list[HashedCommit]:
        """Those with a number above `after`, oldest landing first."""

    def forget(self) -> None:
        """Delete everything that was derived."""

    def stacks(self, files: Collection[int]) -> dict[int, Stack]:
        """The standing lines of these files."""

    def save(self, standing: StandingLines, fates: Fates, mark: Mark) -> None:
        """Add the fates, replace the lines of the files that were touched, and the mark."""


def attribute_lines(store: LineStore) -> None:
    """Attribute the lines of every commit that came since the last time.

    If one of them landed before what is attributed already, lines may have other owners: all are attributed again.
    """
    mark, count = store.mark(), store.count()
    new = store.commits(mark.last_fact)
    if count == mark.commits and not new:
        return
    if mark.commits and (count != mark.commits + len(new) or new[0].landed_at <= mark.landed_at):
        mark = Mark()
        new = store.commits(0)
    if not mark.commits:
        store.forget()
    standing = StandingLines(store.stacks(_files(new)) if mark.commits else None)
    fates = Fates()
    standing.land_all(new, fates)
    landed_at = new[-1].landed_at if new else 0
    store.save(standing, fates, Mark(max((one.number for one in new), default=0), landed_at, count))


def _files(commits: Iterable[HashedCommit]) -> set[int]:
    return {name for commit in commits for one in unpack(commit.hashes) for name in (one.file, one.former)}


# --- stored form -----------------------------------------------------------------------------------------------------


def pack_stack(stack: Stack) -> bytes:
    """Hashes and owners in turn, as little-endian numbers of 64 bits."""
    numbers = array("Q")
    for line, owner in stack.items():
        for one in owner if isinstance(owner, list) else (owner,):
            numbers.extend((line, one))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def unpack_stack(stored: bytes) -> Stack:
    """What `pack_stack` wrote."""
    numbers = array("Q")
    numbers.frombytes(stored)
    if sys.byteorder == "big":
        numbers.byteswap()
    stack: Stack = {}
    for line, owner in zip(numbers[::2], numbers[1::2], strict=True):
        _push(stack, line, owner)
    return stack
