"""When one merge brought several pull requests, which of them held each commit?

bors-ng merges them as additional parents of one commit, homu's roll-ups as merge commits within one branch, and
`develop` contains its own merges. The shape of the history answers where no message does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from bot.landing.conventions.merge_commits import batch_numbers, is_roll_up, rolled_up_number
from bot.landing.conventions.nesting import Spot, parent_spots, unrelated_commits
from bot.landing.message.parts import IMPORTED_HISTORY
from bot.model.commit import Commit
from bot.model.ids import CommitId

Name = TypeVar("Name", bound=str)
_NONE: Mapping[CommitId, int] = {}


def pull_requests_by_commit(
    merge_commit: Commit, inside: Collection[CommitId], known: Mapping[CommitId, Commit]
) -> Mapping[CommitId, int]:
    """The pull request of each commit that a merge brought (`inside`, merges included), where the shape of the history
    shows it; `ELSEWHERE` for commits that share no history with the default branch.

    Only the messages and parents of the commits are read. The merge's own number is not included: its message has it.
    """
    if len(merge_commit.parents) < 2:
        return _NONE
    parents = {name: known[name].parents for name in inside if name != merge_commit.id}
    spots = _spots(merge_commit, parents, known)
    found = {name: spot.brought_by for name, spot in spots.items() if spot.brought_by is not None}
    found |= dict.fromkeys(unrelated_commits(parents), IMPORTED_HISTORY)
    return found | divide_by_branch(parents, _tips(merge_commit, parents, known))


def _tips(
    merge_commit: Commit, parents: Mapping[CommitId, Sequence[CommitId]], known: Mapping[CommitId, Commit]
) -> list[tuple[CommitId, int]]:
    """The newest commit of each pull request that the merge names."""
    if is_batch(merge_commit):
        return list(zip(merge_commit.parents[1:], batch_numbers(_subject(merge_commit)), strict=True))
    if not is_rolled_up(merge_commit):
        return []
    merges = [known[name] for name in sorted(parents) if len(parents[name]) == 2]
    numbers = [(one.parents[1], rolled_up_number(_subject(one))) for one in merges]
    return [(tip, number) for tip, number in numbers if number is not None]


def is_batch(merge_commit: Commit) -> bool:
    """Whether it merges several pull requests as additional parents."""
    numbers = batch_numbers(_subject(merge_commit))
    return len(numbers) > 1 and len(merge_commit.parents) == len(numbers) + 1


def is_rolled_up(merge_commit: Commit) -> bool:
    """Whether it merges one branch into which several pull requests were merged for this purpose."""
    return is_roll_up(merge_commit.message) and len(merge_commit.parents) == 2


def divide_by_branch(parents: Mapping[Name, Sequence[Name]], tips: Sequence[tuple[Name, int]]) -> dict[Name, int]:
    """Each commit by the smallest branch that contains it, since one branch may be based on another."""
    branches = sorted(
        ((_reachable(tip, parents), number) for tip, number in tips), key=lambda one: (len(one[0]), one[1])
    )
    found: dict[Name, int] = {}
    for branch, number in branches:
        for sha in branch:
            found.setdefault(sha, number)
    return found


def _reachable(tip: Name, parents: Mapping[Name, Sequence[Name]]) -> set[Name]:
    found, waiting = set[Name](), [tip]
    while waiting:
        sha = waiting.pop()
        if sha in parents and sha not in found:
            found.add(sha)
            waiting += parents[sha]
    return found


def _spots(
    merge_commit: Commit, parents: Mapping[CommitId, Sequence[CommitId]], known: Mapping[CommitId, Commit]
) -> Mapping[CommitId, Spot]:
    """The position of each commit below the merge commit; children are visited before their parents."""
    children = Counter(parent for name in parents for parent in set(parents[name]) if parent in parents)
    spots: dict[CommitId, Spot] = {parent: Spot((0, 0)) for parent in merge_commit.parents[1:] if parent in parents}
    ready = sorted(name for name in parents if not children[name])
    while ready:
        name = ready.pop()
        for at, spot in parent_spots(spots.get(name, Spot((0, 0))), parents[name], _subject(known[name])):
            parent = CommitId(at)
            if parent in parents and (parent not in spots or spots[parent].depths < spot.depths):
                spots[parent] = spot
        for parent in sorted({parent for parent in parents[name] if parent in parents}):
            children[parent] -= 1
            if not children[parent]:
                ready.append(parent)
    return spots


def _subject(commit: Commit) -> str:
    return commit.message.split("\n", 1)[0]
