"""Which landings does each revert cancel, and which landings bring something back?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.landing.identity.addresses import person_key
from bot.landing.identity.evidence import is_from_outside
from bot.landing.same_work.keys import MADE, PART
from bot.landing.same_work.outside_claims import believed_targets, opener_is_among, repeats, reverts_lines_of
from bot.landing.same_work.work_groups import WorkGroups

_RELAND_WITHIN = 180 * 86_400
"""seconds after a revert within which the same title by the same author is the same work landing again"""


@dataclass(slots=True)
class RevertEffect:
    """The effect of one commit on landings (by index): -1 reverts, +1 brings back."""

    signs: dict[int, int] = field(default_factory=dict)
    partly: set[int] = field(default_factory=set)
    depth: int = 1
    """1 for a revert, 2 for the revert of a revert, and so on"""


class RevertEffects:
    """The effects of all reverts. Creating it joins re-lands to the work groups that they bring back."""

    def __init__(self, groups: WorkGroups) -> None:
        self._work_groups = groups
        self.effects: dict[int, RevertEffect] = {}
        self.relands: set[int] = set()
        """landings that say they bring an earlier work group back"""
        sources = [index for index in groups.sources if groups.is_home(index)]
        self._by_lines = {index: found for index in groups.inverse_lines.asking if (found := self._taken(index))}
        # As they were before any re-land joined another work group.
        before = groups.groups() if sources or self._by_lines else {}
        self._members = {root: list(filter(groups.is_home, group)) for root, group in before.items()}
        self._root = {index: root for root, group in before.items() for index in group}
        self._reverting = sorted({*filter(self._is_believed, sources), *self._by_lines})
        self._relanding = [index for index in sources if groups.facts[index].relands]
        self._is_reverting = set(self._reverting)
        for index in self._reverting:
            self._work_out_effect(index)
        self._join_relands()

    def _is_believed(self, index: int) -> bool:
        """Whether a commit says that it reverts something; one from outside must have reverted it."""
        fact = self._work_groups.facts[index]
        return bool(fact.reverts) and (not is_from_outside(fact) or bool(self._targets(index)))

    def is_revert(self, index: int) -> bool:
        """Whether the commit reverts something without bringing something else back.

        Work that mentions reverting a part of something is no revert; nor is work of another kind that names only a
        title that no landing has.
        """
        home = self._work_groups.home(index)
        if home not in self._is_reverting or home in self.relands:
            return False
        fact = self._work_groups.facts[home]
        stated = any(not key.startswith((PART, "title:")) for key in fact.reverts)
        return fact.kind == "revert" or stated or bool(self.effects[home].signs)

    def _work_out_effect(self, index: int) -> None:
        """Compute an effect after those it depends on; circular references have none."""
        waiting, open_ = [index], set()
        while waiting:
            now = waiting[-1]
            if now in self.effects:
                waiting.pop()
                continue
            targets = self._targets(now)
            needed = [
                t
                for t, _ in targets
                if t in self._is_reverting and t not in self.effects and t not in open_ and t != now
            ]
            if needed and now not in open_:
                open_.add(now)
                waiting += needed
                continue
            self.effects[now] = self._effect(targets)
            waiting.pop()

    def _effect(self, targets: Sequence[tuple[int, bool]]) -> RevertEffect:
        effect = RevertEffect()
        for target, partly in targets:
            before = self.effects.get(target)
            if target not in self._is_reverting:
                if partly:
                    effect.partly.add(target)
                else:
                    effect.signs[target] = -1
            elif before is not None and not partly:
                effect.depth = max(effect.depth, before.depth + 1)
                effect.signs.update({index: -sign for index, sign in before.signs.items()})
                if any(sign > 0 for sign in before.signs.values()):
                    effect.signs[target] = -1
        return effect

    def _targets(self, index: int) -> list[tuple[int, bool]]:
        """(landing, whether only a part) that a commit reverts. A title counts only without anything more precise."""
        found: dict[int, bool] = {}
        fact = self._work_groups.facts[index]
        for key in sorted(fact.reverts, key=lambda key: "title:" in key[:11]):
            plain = key.removeprefix(PART)
            if plain.startswith("title:") and found:
                break
            named = self._named_facts(plain, index)
            for target in believed_targets(fact, named, self._work_groups.facts, reverts_lines_of):
                found[target] = found.get(target, True) and key.startswith(PART)
        return list(found.items()) or [(target, False) for target in self._by_lines.get(index, ())]

    def _taken(self, index: int) -> list[int]:
        """The commits of the one work whose lines a commit takes back; none if several can be meant."""
        groups = self._work_groups
        found = believed_targets(
            groups.facts[index], groups.inverse_lines.targets(index), groups.facts, reverts_lines_of
        )
        own = groups.group_root(index)
        roots = {groups.group_root(target) for target in found} - {own}
        made = {tuple(key for key in groups.facts[target].keys if key.startswith(MADE)) for target in found}
        if len(roots) > 1 and len(made) == 1:
            roots = {groups.group_root(found[-1])} - {own}
        return [target for target in found if groups.group_root(target) in roots] if len(roots) == 1 else []

    def _named_facts(self, key: str, index: int) -> Sequence[int]:
        if key.startswith("commit:"):
            return [target for target in self._work_groups.commits(key[7:]) if target != index]
        when, own = self._work_groups.facts[index].landed_at, self._root_of(index)
        candidates = [
            target
            for target in self._work_groups.facts_with_key(key)
            if self._work_groups.facts[target].landed_at <= when and self._root_of(target) != own
        ]
        if key.startswith("title:"):
            candidates = candidates[-1:]
        roots = dict.fromkeys(map(self._root_of, candidates))
        members = (target for root in roots for target in self._members.get(root, (root,)))
        return [target for target in members if self._work_groups.facts[target].landed_at <= when]

    def _root_of(self, index: int) -> int:
        return self._root.get(index, index)

    # --- re-lands ---

    def _join_relands(self) -> None:
        for index in sorted(self._reverting, key=lambda index: self.effects[index].depth):
            self._join_double_revert(index)
        for index in self._relanding:
            if index not in self.relands:
                self._join_stated(index)
        for index in self._reverting:
            if index not in self.relands:
                self._join_same_title(index)
                self._join_same_lines(index)

    def _join_double_revert(self, index: int) -> None:
        signs = self.effects[index].signs
        roots = {self._work_groups.group_root(target) for target in signs}
        if len(roots) == 1 and all(sign > 0 for sign in signs.values()):
            self.relands.add(index)
            self._work_groups.join(next(iter(signs)), index)

    def _join_stated(self, index: int) -> None:
        signs = self.effects[index].signs if index in self.effects else {}
        if signs:
            return
        for key in sorted(self._work_groups.facts[index].relands, key=lambda key: key.startswith("title:")):
            before = [t for t in self._named_facts(key, index) if t not in self._is_reverting and t < index]
            if before and self._may_join(index, before):
                self._work_groups.join(before[0], index)
                self.relands.add(index)
                return

    def _may_join(self, index: int, before: Sequence[int]) -> bool:
        """Whether a statement is to be believed: that of a pull request opened without write access only where the
        work was reverted, and its lines are these or its author opened the pull request."""
        fact, facts = self._work_groups.facts[index], self._work_groups.facts
        if not is_from_outside(fact):
            return True
        reverted = [one for one in before if any(effect.signs.get(one) == -1 for effect in self.effects.values())]
        return any(repeats(fact, facts[one]) for one in reverted) or opener_is_among(
            fact, [person_key(facts[one].author) for one in reverted]
        )

    def _join_same_title(self, index: int) -> None:
        """The first landing after a revert with the title the revert names, by an author of the reverted work."""
        facts, signs = self._work_groups.facts, self.effects[index].signs
        reverted = {target for target, sign in signs.items() if sign < 0}
        roots = {self._work_groups.group_root(target) for target in reverted}
        if len(roots) != 1:
            return
        authors = {person_key(facts[target].author) for target in reverted}
        for key in facts[index].reverts:
            candidates = self._work_groups.facts_with_key(key) if key.startswith("title:") else ()
            others = [
                t for t in candidates if self._work_groups.group_root(t) not in roots and t not in self._is_reverting
            ]
            later = [t for t in others if t > index]
            if not later or len(later) < len(others):
                continue
            reland = facts[later[0]]
            outside = is_from_outside(reland)
            by_them = opener_is_among(reland, authors) if outside else person_key(reland.author) in authors
            if by_them and reland.landed_at - facts[index].landed_at <= _RELAND_WITHIN:
                self._work_groups.join(next(iter(reverted)), later[0])

    def _join_same_lines(self, index: int) -> None:
        """The first later landing that brings back the lines that a revert took back."""
        groups, signs = self._work_groups, self.effects[index].signs
        roots = {groups.group_root(target) for target, sign in signs.items() if sign < 0}
        later = [one for one in groups.inverse_lines.commits_restoring(index) if one not in self._is_reverting]
        if len(roots) == 1 and later:
            groups.join(next(target for target, sign in signs.items() if sign < 0), later[0])

    def by_group(self) -> dict[int, list[int]]:
        """The reverts that affect each work group, oldest first."""
        found: dict[int, dict[int, None]] = defaultdict(dict)
        for index in self._reverting:
            effect = self.effects[index]
            for target in (*effect.signs, *effect.partly):
                found[self._work_groups.group_root(target)][index] = None
        return {root: list(indexes) for root, indexes in found.items()}
