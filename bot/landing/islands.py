"""Which repositories may fold together? Those of one installation, and forks with what GitHub calls their parents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec.structs import replace

from bot.landing.changes import fold
from bot.landing.identity.credit import GRADE_RANK, change_credits
from bot.landing.same_work.disjoint import Disjoint
from bot.model.change import Change
from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, PersonKey


def islands_of(repositories: Mapping[str, tuple[InstallationId | None, str | None]]) -> dict[str, int]:
    """A number for each repository, equal where they may fold together; `repositories` are installation and parent.

    A repository without an installation is an island, and clones given together are one.
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


def fold_islands(
    facts: Iterable[Fact], repositories: Mapping[str, Repository], islands: Mapping[str, int]
) -> tuple[Change, ...]:
    """Every change in the facts, each island folded by itself, oldest first."""
    parts: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        parts[islands.get(fact.repository, -1)].append(fact)
    found: list[Change] = []
    for number, part in parts.items():
        found += fold(part, {name: one for name, one in repositories.items() if islands.get(name, -1) == number})
    return tuple(sorted(found, key=attrgetter("landed_at", "id")))


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
