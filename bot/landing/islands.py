"""Which repositories may fold together, and how often does a commit that several installations have count?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from bot.landing.identity.credit import GRADE_RANK, change_credits
from bot.landing.same_work.disjoint import Disjoint
from bot.model.change import Change
from bot.model.ids import CommitId, InstallationId, PersonKey


def islands_of(repositories: Mapping[str, tuple[InstallationId | None, str | None]]) -> dict[str, int]:
    """A number for each repository, equal for those of one installation; `repositories` are installation and parent.

    A repository without an installation is an island. A parent that is named has the number of its fork: facts of both
    are read together, and `split_by_island` decides what the fork's change.
    """
    joined: Disjoint[str] = Disjoint()
    first: dict[InstallationId, str] = {}
    names = {name.lower(): name for name in repositories}
    for name, (installation, parent) in sorted(repositories.items()):
        if installation is not None:
            joined.join(first.setdefault(installation, name), name)
        if parent is not None and parent.lower() in names:
            joined.join(name, names[parent.lower()])
    numbers: dict[str, int] = {}
    return {name: numbers.setdefault(joined.find(name), len(numbers)) for name in sorted(repositories)}


def count_once(changes: Sequence[Change], keys: Collection[PersonKey]) -> tuple[Change, ...]:
    """The changes with each commit counted once for these people: where it has the best grade, then the earliest."""
    found_in: dict[CommitId, list[tuple[int, int, int]]] = defaultdict(list)
    for index, change in enumerate(changes):
        for commit, parts in change_credits(change):
            ranks = [GRADE_RANK[part.grade] for part in parts if part.person in keys]
            found_in[commit.fact.commit].append((-max(ranks, default=-1), commit.fact.landed_at, index))
    kept = {commit: min(found)[2] for commit, found in found_in.items() if len({index for *_, index in found}) > 1}
    if not kept:
        return tuple(changes)
    return tuple(_without_copies(change, at, kept) for at, change in enumerate(changes))


def _without_copies(change: Change, at: int, kept: Mapping[CommitId, int]) -> Change:
    copies = {one.fact.commit for one in change.commits if kept.get(one.fact.commit, at) != at}
    if not copies:
        return change
    commits = (replace(one, counts=False) if one.fact.commit in copies else one for one in change.commits)
    return replace(change, commits=tuple(commits))
