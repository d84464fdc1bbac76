"""When one merge brought several pull requests, which of them held each commit?

bors-ng merges them as additional parents of one commit, homu's roll-ups as merge commits within one branch, and
`develop` contains its own merges. The shape of the history answers where no message does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from bot.landing.carriers import batch_numbers, is_roll_up, rolled_up_number
from bot.landing.nesting import Spot, below, unrelated
from bot.landing.reading import ELSEWHERE
from bot.model import Commit, CommitId

Name = TypeVar("Name", bound=str)
_NONE: Mapping[CommitId, int] = {}


def brought_by(
    carrier: Commit, inside: Collection[CommitId], known: Mapping[CommitId, Commit]
) -> Mapping[CommitId, int]:
    """The pull request of each commit that a merge brought (`inside`, merges included), where the shape of the history
    shows it; `ELSEWHERE` for commits that share no history with the default branch.

    Only the messages and parents of the commits are read. The merge's own number is not included: its message has it.
    """
    if len(carrier.parents) < 2:
        return _NONE
    parents = {name: known[name].parents for name in inside if name != carrier.id}
    spots = _spots(carrier, parents, known)
    found = {name: spot.brought_by for name, spot in spots.items() if spot.brought_by is not None}
    found |= dict.fromkeys(unrelated(parents), ELSEWHERE)
    return found | divide(parents, _tips(carrier, parents, known))


def _tips(
    carrier: Commit, parents: Mapping[CommitId, Sequence[CommitId]], known: Mapping[CommitId, Commit]
) -> list[tuple[CommitId, int]]:
    """The newest commit of each pull request that the merge names."""
    if is_batch(carrier):
        return list(zip(carrier.parents[1:], batch_numbers(_subject(carrier)), strict=True))
    if not is_rolled_up(carrier):
        return []
    merges = [known[name] for name in sorted(parents) if len(parents[name]) == 2]
    numbers = [(one.parents[1], rolled_up_number(_subject(one))) for one in merges]
    return [(tip, number) for tip, number in numbers if number is not None]


def is_batch(carrier: Commit) -> bool:
    """Whether it merges several pull requests as additional parents."""
    numbers = batch_numbers(_subject(carrier))
    return len(numbers) > 1 and len(carrier.parents) == len(numbers) + 1


def is_rolled_up(carrier: Commit) -> bool:
    """Whether it merges one branch into which several pull requests were merged for this purpose."""
    return is_roll_up(carrier.message) and len(carrier.parents) == 2


def divide(parents: Mapping[Name, Sequence[Name]], tips: Sequence[tuple[Name, int]]) -> dict[Name, int]:
    """Each commit by the smallest branch that contains it, since one branch may be based on another."""
    branches = sorted(((_reached(tip, parents), number) for tip, number in tips), key=lambda one: (len(one[0]), one[1]))
    found: dict[Name, int] = {}
    for branch, number in branches:
        for sha in branch:
            found.setdefault(sha, number)
    return found


def _reached(tip: Name, parents: Mapping[Name, Sequence[Name]]) -> set[Name]:
    found, waiting = set[Name](), [tip]
    while waiting:
        sha = waiting.pop()
        if sha in parents and sha not in found:
            found.add(sha)
            waiting += parents[sha]
    return found


def _spots(
    carrier: Commit, parents: Mapping[CommitId, Sequence[CommitId]], known: Mapping[CommitId, Commit]
) -> Mapping[CommitId, Spot]:
    """The position of each commit below the merge commit; children are visited before their parents."""
    children = Counter(parent for name in parents for parent in set(parents[name]) if parent in parents)
    spots: dict[CommitId, Spot] = {parent: Spot((0, 0)) for parent in carrier.parents[1:] if parent in parents}
    ready = sorted(name for name in parents if not children[name])
    while ready:
        name = ready.pop()
        for at, spot in below(spots.get(name, Spot((0, 0))), parents[name], _subject(known[name])):
            parent = CommitId(at)
            if parent in parents and (parent not in spots or spots[parent].place < spot.place):
                spots[parent] = spot
        for parent in sorted({parent for parent in parents[name] if parent in parents}):
            children[parent] -= 1
            if not children[parent]:
                ready.append(parent)
    return spots


def _subject(commit: Commit) -> str:
    return commit.message.split("\n", 1)[0]
