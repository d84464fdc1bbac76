"""When one merge in a clone brought several pull requests, which of them held each commit?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot.history.git import git
from bot.landing.conventions.batches import divide_by_branch, is_batch, is_rolled_up
from bot.landing.conventions.merge_commits import batch_numbers, rolled_up_number
from bot.model.commit import Commit

_NONE: Mapping[str, int] = {}


def pull_requests_by_commit(folder: Path, merge_commit: Commit) -> Mapping[str, int]:
    """The pull request by commit id; empty for a merge of a single one. Runs git once if there are several."""
    batch = is_batch(merge_commit)
    if not batch and not is_rolled_up(merge_commit):
        return _NONE
    parents, rolled = _commits_inside(folder, merge_commit)
    numbers = batch_numbers(merge_commit.message.split("\n", 1)[0])
    return divide_by_branch(parents, list(zip(merge_commit.parents[1:], numbers, strict=True)) if batch else rolled)


def _commits_inside(folder: Path, merge_commit: Commit) -> tuple[dict[str, list[str]], list[tuple[str, int]]]:
    """The parents of each commit that the merge brought, and (tip, number) of each merge within it."""
    range_ = ("log", "--topo-order", "--format=%H%x00%P%x00%s", merge_commit.id, f"^{merge_commit.parents[0]}", "--")
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
