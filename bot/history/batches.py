"""Which of several pull requests that one merge brought at once held each of its commits?

bors-ng merges them as the further parents of one commit, homu's roll-ups as merge commits within one branch: the shape
of the history tells what no message says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.history.git import git
from bot.landing.carriers import batch_numbers, is_roll_up, rolled_up_number
from bot.model import Commit

_NONE: Mapping[str, int] = {}


def brought_by(folder: Path, carrier: Commit) -> Mapping[str, int]:
    """The pull request by commit id; empty for a merge of one. Asks git once where there are several."""
    numbers = batch_numbers(carrier.message.split("\n", 1)[0])
    batch = len(numbers) > 1 and len(carrier.parents) == len(numbers) + 1
    if not batch and not (is_roll_up(carrier.message) and len(carrier.parents) == 2):
        return _NONE
    parents, rolled = _inside(folder, carrier)
    return divide(parents, list(zip(carrier.parents[1:], numbers, strict=True)) if batch else rolled)


def _inside(folder: Path, carrier: Commit) -> tuple[dict[str, list[str]], list[tuple[str, int]]]:
    """The parents of each commit that the merge brought, and (tip, number) of each merge within it."""
    range_ = ("log", "--topo-order", "--format=%H%x00%P%x00%s", carrier.id, f"^{carrier.parents[0]}", "--")
    parents: dict[str, list[str]] = {}
    rolled: list[tuple[str, int]] = []
    for line in git(folder, *range_).split("\n"):
        sha, _, rest = line.partition("\0")
        ancestors, _, subject = rest.partition("\0")
        parents[sha] = ancestors.split()
        number = rolled_up_number(subject)
        if number is not None and len(parents[sha]) == 2:
            rolled.append((parents[sha][1], number))
    return parents, rolled


def divide(parents: Mapping[str, Sequence[str]], tips: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Each commit by the smallest branch that holds it, since one branch may stand upon another."""
    branches = sorted(((_reached(tip, parents), number) for tip, number in tips), key=lambda branch: len(branch[0]))
    found: dict[str, int] = {}
    for branch, number in branches:
        for sha in branch:
            found.setdefault(sha, number)
    return found


def _reached(tip: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    found, waiting = set[str](), [tip]
    while waiting:
        sha = waiting.pop()
        if sha in parents and sha not in found:
            found.add(sha)
            waiting += parents[sha]
    return found
