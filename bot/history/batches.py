"""When one merge in a clone brought several pull requests, which of them held each commit?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot.history.git import git
from bot.landing.batches import divide, is_batch, is_rolled_up
from bot.landing.carriers import batch_numbers, rolled_up_number
from bot.model import Commit

_NONE: Mapping[str, int] = {}


def brought_by(folder: Path, carrier: Commit) -> Mapping[str, int]:
    """The pull request by commit id; empty for a merge of a single one. Runs git once if there are several."""
    batch = is_batch(carrier)
    if not batch and not is_rolled_up(carrier):
        return _NONE
    parents, rolled = _inside(folder, carrier)
    numbers = batch_numbers(carrier.message.split("\n", 1)[0])
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
