"""Which changes do the landed commits make, each counted once, and which of them were reverted?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType

from bot.landing.reverts.matching import RevertEffects
from bot.landing.reverts.timeline import Event, WorkState, play_events
from bot.landing.same_work.island_parts import Islands, split_by_island
from bot.landing.same_work.keys import NO_REPOSITORIES
from bot.landing.same_work.work_groups import WorkGroups
from bot.model.change import Change, CountedCommit
from bot.model.commit import Repository
from bot.model.fact import Fact, Lines
from bot.model.ids import STATED, ChangeId, CommitId

NO_ISLANDS: Islands = MappingProxyType({})
_NAMES_TARGET = "names what it reverts"


def fold(
    facts: Iterable[Fact], repositories: Mapping[str, Repository] = NO_REPOSITORIES, islands: Islands = NO_ISLANDS
) -> tuple[Change, ...]:
    """Every change in the facts, oldest first; neither the order of the facts nor repetition matters.

    `repositories` maps every name a repository ever had to its current description, including whether it is a fork. For
    names it does not contain, forks are recognised by shared commit ids. The facts of a component (`same_work/keys.py`)
    fold to the same changes by themselves as among all others, as long as `repositories` contains their repositories.
    Facts of different `islands` do not fold together; without any, all repositories are one island.
    """
    parts = split_by_island(facts, repositories, islands) if islands else [facts]
    found = [change for part in parts for change in _fold_island(part, repositories)]
    return tuple(sorted(found, key=attrgetter("landed_at", "id")))


def _fold_island(facts: Iterable[Fact], repositories: Mapping[str, Repository]) -> Iterator[Change]:
    groups = WorkGroups(facts, repositories)
    return _ChangeFold(groups, RevertEffects(groups)).changes()


def single_fact_change(fact: Fact) -> Change | None:
    """What `fold` makes of a fact that is connected to no other; None where even such a fact must be folded."""
    return _plain_change(fact) if _is_plain(fact) else None


class _ChangeFold:
    """The work groups of several facts, and those that revert something; all other facts are plain changes."""

    def __init__(self, groups: WorkGroups, effects: RevertEffects) -> None:
        self._work_groups = groups
        self._effects = effects
        self._reverts_by_group = effects.by_group()
        self._groups = groups.groups()
        self._roots = {index: root for root, group in self._groups.items() for index in group}
        for index, fact in enumerate(groups.facts):
            changed = index in self._reverts_by_group or index in effects.effects
            if index not in self._roots and (changed or not _is_plain(fact)):
                self._roots[index] = index
                self._groups[index] = [index]
        self._work = {root: self._landings(group) for root, group in self._groups.items()}
        self._homes = {root: self._home(group) for root, group in self._groups.items()}
        self._home_facts = {root: self._landings_at_home(root) for root in self._groups}
        self._ids = {root: self._id(root) for root in self._groups}

    def changes(self) -> Iterator[Change]:
        for index, fact in enumerate(self._work_groups.facts):
            root = self._roots.get(index)
            if root is None:
                yield _plain_change(fact)
            elif self._groups[root][0] == index:
                yield self._change(root)

    def _landings(self, group: Sequence[int]) -> list[int]:
        """The commits of a work group that do the work; all of them if the group only reverts."""
        counting = list(filter(self._work_groups.is_home, group))
        return [index for index in counting if not self._effects.is_revert(index)] or counting

    def _home(self, group: Sequence[int]) -> str:
        facts = [self._work_groups.facts[index] for index in filter(self._work_groups.is_home, group)]
        work = [fact for fact in facts if not fact.reverts]
        return self._work_groups.networks.home(work or facts)

    def _landings_at_home(self, root: int) -> list[int]:
        """The commits that landed in the work group's home repository."""
        at_home = [
            index for index in self._work[root] if self._work_groups.facts[index].repository == self._homes[root]
        ]
        return at_home or self._work[root]

    def _id(self, root: int) -> tuple[ChangeId, int | None]:
        """The first pull request that brought the work, else its first commit."""
        copies = self._work_groups.copies
        indexes = sorted(self._home_facts[root], key=copies.is_copy)
        number = next((found for index in indexes if (found := copies.number(index)) is not None), None)
        return _identity(self._homes[root], number, self._work_groups.facts[indexes[0]].commit), number

    def _change(self, root: int) -> Change:
        home = self._homes[root]
        indexes = self._home_facts[root]
        is_revert = all(map(self._effects.is_revert, indexes))
        now = self._work_state(root, indexes, is_revert=is_revert)
        main = self._main(indexes)
        identity, number = self._ids[root]
        group = self._groups[root]
        slice_only = not is_revert and self._is_slice(root)
        again = self._work_groups.copies.copies_of_live(now.live) if len(group) > 1 else set()
        return Change(
            id=identity,
            repository=home,
            title=self._title(indexes),
            kind="revert" if is_revert else main.kind,
            why=_NAMES_TARGET if is_revert and main.kind != "revert" else main.why,
            certain=is_revert or main.certain,
            state=now.state,
            landed_at=now.delivered,
            commits=tuple(self._counted(index, root, now, slice_only or index in again) for index in group),
            pull_request=number,
            also_in=tuple(sorted({self._work_groups.facts[index].repository for index in group} - {home})),
            reverted_by=self._id_of(now.reverted_by) if now.state == "reverted" else None,
            partly_reverted_by=self._ids_of(now.partly, root),
            url=_url(self._work_groups.facts[indexes[0]], home, number),
            elsewhere=slice_only,
            probability=STATED if is_revert else main.probability,
        )

    def _work_state(self, root: int, indexes: Sequence[int], *, is_revert: bool) -> WorkState:
        facts, effects = self._work_groups.facts, self._effects
        if is_revert or (root not in self._reverts_by_group and effects.relands.isdisjoint(indexes)):
            return WorkState(set(indexes), facts[indexes[0]].landed_at)
        events = [
            Event(facts[p].landed_at, self._rank(p), p, "again" if p in effects.relands else "land") for p in indexes
        ]
        live_facts = set(indexes)
        for revert in self._reverts_by_group.get(root, ()):
            if revert not in effects.relands or effects.effects[revert].depth == 1:
                events += self._revert_events(root, revert, live_facts)
        return play_events(events, self._work_groups.patch)

    def _rank(self, index: int) -> int:
        effect = self._effects.effects.get(index)
        return effect.depth if effect is not None else 2 if index in self._effects.relands else 0

    def _revert_events(self, root: int, revert: int, live_facts: set[int]) -> list[Event]:
        """What a revert does to the work group in its home; a fork's own revert has no effect on it."""
        effect, facts, networks = self._effects.effects[revert], self._work_groups.facts, self._work_groups.networks
        home, where = self._homes[root], facts[revert].repository
        if where != home and networks.same_network(where, home):
            return []
        own_targets = [target for target in effect.signs if self._work_groups.group_root(target) == root]
        named = {self._work_groups.patch(target) for target in own_targets}
        matching = frozenset(index for index in live_facts if self._work_groups.patch(index) in named) | frozenset(
            own_targets
        )
        at = max([facts[revert].landed_at, *(facts[target].landed_at for target in own_targets)])
        landed_in_fork = any(facts[index].repository == where for index in self._groups[root])
        if not own_targets or (where != home and landed_in_fork):
            return [Event(at, effect.depth, revert, "part")]
        reverted = frozenset(target for target in own_targets if effect.signs[target] < 0)
        events = [Event(at, effect.depth, revert, "back", reverted)] if reverted else []
        restored = (
            frozenset(matching - reverted)
            & frozenset(target for target in own_targets if effect.signs[target] > 0)
            & live_facts
        )
        return events + ([Event(at, effect.depth, revert, "restore", restored)] if restored else [])

    def _counted(self, index: int, root: int, now: WorkState, mirrored: bool) -> CountedCommit:
        fact, home = self._work_groups.facts[index], self._homes[root]
        if not self._counts(index, root):
            return CountedCommit(fact, False, fact.lines)
        if self._effects.is_revert(index):
            partly = any(key.startswith("part:") for key in fact.reverts)
            return CountedCommit(fact, True, fact.lines if partly else Lines(reverted=fact.lines.total))
        if fact.repository == home and index not in now.live:
            return CountedCommit(fact, True, Lines(reverted=fact.lines.total))
        if mirrored or fact.repository != home:
            return CountedCommit(fact, True, Lines(mirrored=fact.lines.total))
        return CountedCommit(fact, True, fact.lines)

    def _counts(self, index: int, root: int) -> bool:
        """Whether it is neither in a fork of the home repository nor a copy of a commit that counts there."""
        name, home = self._work_groups.facts[index].repository, self._homes[root]
        if not self._work_groups.is_home(index):
            return False
        if name == home:
            return True
        if self._work_groups.networks.same_network(name, home):
            return False
        patches = {
            self._work_groups.patch(p) for p in self._groups[root] if self._work_groups.facts[p].repository == home
        }
        return self._work_groups.patch(index) not in patches

    def _main(self, indexes: Sequence[int]) -> Fact:
        """The commit whose kind becomes the change's: one whose title states it if that title is the change's, so that
        no commit overrules its pull request; else the largest feature or fix, certain ones first, else the largest."""
        title = self._title(indexes)
        originals = [index for index in indexes if not self._work_groups.copies.is_copy(index)] or indexes
        facts = [self._work_groups.facts[index] for index in originals]
        plain = [fact for fact in facts if not fact.reverts] or facts
        return max(plain, key=lambda fact: (fact.title == title and fact.probability == STATED, *_kind_rank(fact)))

    def _title(self, indexes: Sequence[int]) -> str:
        facts = [self._work_groups.facts[index] for index in sorted(indexes, key=self._work_groups.copies.is_copy)]
        plain = [fact for fact in facts if not fact.reverts and not fact.relands] or facts
        return next((fact for fact in plain if fact.pull_request is not None), plain[0]).title

    def _is_slice(self, root: int) -> bool:
        """Whether it contains only exports of work whose home repository is outside the record."""
        facts = [self._work_groups.facts[index] for index in self._work[root]]
        if any(fact.pull_request is not None for fact in facts):
            return False
        names = {self._work_groups.facts[index].repository.lower() for index in self._groups[root]}
        return all(
            any(key.startswith("slice:") and key[6:].partition("#")[0] not in names for key in fact.keys)
            for fact in facts
        )

    def _id_of(self, index: int | None) -> ChangeId | None:
        return None if index is None else self._ids[self._work_groups.group_root(index)][0]

    def _ids_of(self, indexes: Sequence[int], root: int) -> tuple[ChangeId, ...]:
        own = self._ids[root][0]
        found = (self._ids[self._work_groups.group_root(index)][0] for index in indexes)
        return tuple(dict.fromkeys(each for each in found if each != own))


def _is_plain(fact: Fact) -> bool:
    """Whether it reverts nothing and is not an export of work that may have its home elsewhere."""
    return not fact.reverts and (fact.pull_request is not None or not any("slice:" in key[:6] for key in fact.keys))


def _kind_rank(fact: Fact) -> tuple[bool, bool, bool, int, int]:
    """How much a commit's kind says of its change."""
    purpose = fact.kind in ("feature", "bug_fix")
    idle = fact.kind in ("revert", "upkeep")
    return purpose and fact.certain, purpose, not idle, fact.lines.code, -fact.landed_at


def _plain_change(fact: Fact) -> Change:
    number = fact.pull_request
    return Change(
        id=_identity(fact.repository, number, fact.commit),
        repository=fact.repository,
        title=fact.title,
        kind=fact.kind,
        why=fact.why,
        certain=fact.certain,
        state="landed",
        landed_at=fact.landed_at,
        commits=(CountedCommit(fact, True, fact.lines),),
        pull_request=number,
        url=_url(fact, fact.repository, number),
        probability=fact.probability,
    )


def _identity(repository: str, number: int | None, commit: CommitId) -> ChangeId:
    return ChangeId(f"{repository}@{commit}" if number is None else f"{repository}#{number}")


def _url(fact: Fact, repository: str, number: int | None) -> str | None:
    """The change's address; None for a clone without a remote, where only the name of the folder is known."""
    if "/" not in repository:
        return None
    tail = f"pull/{number}" if number is not None else f"commit/{fact.commit}"
    return f"https://{fact.host}/{repository}/{tail}"
