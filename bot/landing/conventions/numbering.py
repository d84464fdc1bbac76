"""Which pull request numbers in a history are its own repository's, and which another one's?

A fork has its own numbers, and so has a repository that was moved without its pull requests. When such a history is
merged, "Merge pull request #13" names another pull request than the one that this repository calls #13. GitHub gives
numbers in order of opening, so a number and two dates tell them apart: a pull request is opened with at least one
commit, and before any pull request with a higher number lands.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import NamedTuple

_SLACK = 365 * 86_400
"""seconds by which dates may contradict the order of numbers: clocks are wrong, and commits are rewritten"""
_RESTART = 20
"""from this many later numbers below the highest one, the repository began to count again"""
_NEAR = 90 * 86_400
"""seconds between pull requests of one numbering that was in use for a while"""
_FEW = 3
"""so many late numbers may be pull requests whose commits were written again"""


class NumberUse(NamedTuple):
    """One pull request that a history names; times are epoch seconds."""

    number: int
    named_at: int
    """when the commit that names it was made"""
    authored_at: int
    """when the first of its known commits was written"""
    label: int
    """equal for equal words beside the number"""


def foreign_uses(uses: Sequence[NumberUse]) -> set[int]:
    """The indexes of the uses whose number cannot be this repository's.

    A late number alone proves little: the commits of an old pull request may have been written again. It is foreign if
    another pull request had it in time, or if it is among several late numbers for which that is so.
    """
    order = sorted(range(len(uses)), key=lambda index: (uses[index].named_at, uses[index].number))
    own = _own_order([uses[index] for index in order])
    numbers, named = [use.number for use in own], [use.named_at for use in own]
    ahead = {index for index, use in enumerate(uses) if _is_ahead(use, own, named)}
    late = [index for index in order if index not in ahead and _is_late(uses[index], numbers, named)]
    labels: dict[int, set[int]] = defaultdict(set)
    for index in set(order).difference(ahead, late):
        labels[uses[index].number].add(uses[index].label)
    taken = {index for index in late if labels[uses[index].number] - {uses[index].label}}
    return ahead | taken | _among_taken(uses, late, taken)


def _among_taken(uses: Sequence[NumberUse], late: Sequence[int], taken: Collection[int]) -> set[int]:
    """The late uses near which several are late, and the number of every fourth one of them is taken."""
    times = [uses[index].named_at for index in late]
    sums = [0, *accumulate(index in taken for index in late)]
    found = set()
    for index, moment in zip(late, times, strict=True):
        first, end = bisect_left(times, moment - _NEAR), bisect_right(times, moment + _NEAR)
        if _FEW < end - first <= 4 * (sums[end] - sums[first]):
            found.add(index)
    return found


def _is_late(use: NumberUse, numbers: Sequence[int], named: Sequence[int]) -> bool:
    """Whether its first commit was written long after a higher number was in use."""
    at = bisect_left(numbers, use.number)
    return at < len(numbers) and use.authored_at > named[at] + _SLACK


def _is_ahead(use: NumberUse, own: Sequence[NumberUse], named: Sequence[int]) -> bool:
    """Whether it was in use long before the repository had counted so far."""
    at = bisect_right(named, use.named_at + _SLACK)
    return at < len(own) and own[at].number <= use.number and own[at] != use


def _own_order(uses: Sequence[NumberUse]) -> list[NumberUse]:
    """The longest run of rising numbers, in order of time; after a restart, that of the later numbers."""
    run = _longest_rising(uses)
    if not run:
        return run
    later = uses[bisect_right(uses, (run[-1].named_at, run[-1].number), key=lambda use: (use.named_at, use.number)) :]
    numbers, named = [use.number for use in run], [use.named_at for use in run]
    late = [use for use in later if _is_late(use, numbers, named)]
    return _own_order(late) if len(late) >= _RESTART else run


def _longest_rising(uses: Sequence[NumberUse]) -> list[NumberUse]:
    """The longest subsequence with strictly rising numbers, by patience sorting."""
    tops: list[int] = []
    piles: list[int] = []
    below: list[int] = []
    for index, use in enumerate(uses):
        pile = bisect_left(tops, use.number)
        below.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [use.number]
        piles[pile : pile + 1] = [index]
    run: list[NumberUse] = []
    at = piles[-1] if piles else -1
    while at >= 0:
        run.append(uses[at])
        at = below[at]
    return run[::-1]
