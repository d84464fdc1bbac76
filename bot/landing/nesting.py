"""Which merge inside a branch brought each of its commits, when the branch itself was merged later?

A pull request may be merged into `develop` or `stable` and reach the default branch with that branch's own merge. Its
merge commit then lies inside, and its message still says which pull request it was. A branch may also be the history of
another repository that this one took in: the numbers which it names are that one's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from bot.frozen import frozen
from bot.landing.carriers import numbered_merge

Name = TypeVar("Name", bound=str)


@frozen
class Spot:
    """Where a commit stands below a carrier, and the pull request of the innermost merge that tells one.

    `place` is a path of depths: along the first parents its last number grows, into a merged branch it becomes longer.
    Of two ways to a commit the greater one (compared from the left) is the older: what a branch held already, a later
    merge into it did not bring.
    """

    place: tuple[int, ...]
    brought_by: int | None = None


def below(spot: Spot, parents: Sequence[str], subject: str) -> Iterator[tuple[str, Spot]]:
    """The parents of a commit inside a branch, each with its spot; `subject` is read where it is a merge."""
    number = numbered_merge(subject) if len(parents) > 1 else None
    for at, parent in enumerate(parents):
        if at == 0:
            yield parent, Spot((*spot.place[:-1], spot.place[-1] + 1), spot.brought_by)
        else:
            yield parent, Spot((*spot.place, 0), number or spot.brought_by)


def unrelated(parents: Mapping[Name, Sequence[Name]]) -> set[Name]:
    """Those of what one merge brought that stand on nothing that was there before; `parents` of each thing brought."""
    if all(parents.values()):
        return set()
    children = defaultdict[Name, list[Name]](list)
    for name, theirs in parents.items():
        for parent in theirs:
            children[parent].append(name)
    found = set(parents)
    waiting = [parent for parent in children if parent not in parents]
    while waiting:
        standing = found.intersection(children.get(waiting.pop(), ()))
        found -= standing
        waiting += standing
    return found
