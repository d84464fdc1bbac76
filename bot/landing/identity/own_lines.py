"""Which lines of a commit are one author's own, if several people wrote it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec.structs import replace

from bot.model.change import CountedCommit, Credit
from bot.model.commit import Share
from bot.model.fact import Lines, each_part


def own_lines(lines: Lines, shares: Sequence[Share]) -> list[Lines]:
    """The lines of each share, in order: their totals sum to the commit's.

    GitHub gives the additions and deletions of each commit of a pull request, and not their files. So the landed lines
    are divided in proportion, first the total and then each share's among the parts.
    """
    weights = [share.lines for share in shares]
    if not any(weights):
        weights = [share.commits for share in shares]
    return [_of_total(lines, total) for total in _divide(lines.total, weights)]


def _divide(total: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers in proportion to the weights, which sum to the total."""
    total_weight = sum(weights)
    if not total_weight:
        return [0] * len(weights)
    ends = [(total * weight + total_weight // 2) // total_weight for weight in accumulate(weights)]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def _of_total(lines: Lines, total: int) -> Lines:
    """As many of the lines as `total`, spread over their parts; the largest remainders are rounded up."""
    all_lines, parts = lines.total, each_part(lines)
    if total == all_lines:
        return lines
    floors = [part * total // all_lines for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda at: (-(parts[at] * total % all_lines), at))
    for at in by_remainder[: total - sum(floors)]:
        floors[at] += 1
    return Lines(*floors)


def own_commit(commit: CountedCommit, credit: Credit) -> CountedCommit:
    """The commit as far as it is this person's own: their lines, in proportion also by language and skill."""
    if credit.lines == commit.lines:
        return commit
    own, all_lines = credit.lines.total, commit.lines.total
    fact = replace(
        commit.fact,
        languages=_in_proportion(commit.fact.languages, own, all_lines),
        skills=_in_proportion(commit.fact.skills, own, all_lines),
    )
    return replace(commit, fact=fact, lines=credit.lines)


def _in_proportion(counts: Mapping[str, int], own: int, all_lines: int) -> dict[str, int]:
    scaled = {name: (count * own + all_lines // 2) // all_lines for name, count in counts.items()} if all_lines else {}
    return {name: count for name, count in scaled.items() if count}
