"""When a branch was merged, which earlier merge inside it brought each of its commits?

A pull request may be merged into `develop` or `stable` and reach the default branch with that branch's own merge. Its
merge commit is then inside the branch, and its message still names the pull request. A branch may also be the imported
history of another repository: the numbers in its messages are then that repository's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from bot.landing.conventions.merge_commits import numbered_merge

Name = TypeVar("Name", bound=str)


class Spot(Struct, frozen=True):
    """A commit's position below a merge commit, and the pull request of the innermost merge that names one.

    `depths` is a path of depths: its last number grows along the first parents, and it becomes longer in a merged
    branch. Of two ways to a commit the greater one (compared from the left) is the older: a later merge into a branch
    did not bring what the branch already contained.
    """

    depths: tuple[int, ...]
    brought_by: int | None = None


def parent_spots(spot: Spot, parents: Sequence[str], subject: str) -> Iterator[tuple[str, Spot]]:
    """The parents of a commit inside a branch, each with its spot; `subject` is read if the commit is a merge."""
    number = numbered_merge(subject) if len(parents) > 1 else None
    for at, parent in enumerate(parents):
        if at == 0:
            yield parent, Spot((*spot.depths[:-1], spot.depths[-1] + 1), spot.brought_by)
        else:
            yield parent, Spot((*spot.depths, 0), number or spot.brought_by)


def unrelated_commits(parents: Mapping[Name, Sequence[Name]]) -> set[Name]:
    """The commits of one merge that share no history with anything before it; `parents` lists those of each commit."""
    if all(parents.values()):
        return set()
    children = defaultdict[Name, list[Name]](list)
    for name, theirs in parents.items():
        for parent in theirs:
            children[parent].append(name)
    found = set(parents)
    waiting = [parent for parent in children if parent not in parents]
    while waiting:
        children_found = found.intersection(children.get(waiting.pop(), ()))
        found -= children_found
        waiting += children_found
    return found
