"""Which landings does each revert cancel, and which landings bring something back?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.landing.addresses import person_key
from bot.landing.keys import PART
from bot.landing.pieces import Pieces

_AGAIN_WITHIN = 180 * 86_400
"""seconds after a revert within which the same title by the same author is the same work landing again"""


@dataclass(slots=True)
class Effect:
    """The effect of one commit on landings (by index): -1 reverts, +1 brings back."""

    signs: dict[int, int] = field(default_factory=dict)
    partly: set[int] = field(default_factory=set)
    depth: int = 1
    """1 for a revert, 2 for the revert of a revert, and so on"""


class Undoing:
    """The effects of all reverts. Creating it joins re-lands to the work groups that they bring back."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self.effects: dict[int, Effect] = {}
        self.relands: set[int] = set()
        """landings that say they bring an earlier work group back"""
        talking = [place for place in pieces.undoing if pieces.is_home(place)]
        self._reverting = [place for place in talking if pieces.facts[place].reverts]
        self._relanding = [place for place in talking if pieces.facts[place].relands]
        self._is_reverting = set(self._reverting)
        # As they were before any re-land joined another work group.
        before = pieces.groups() if talking else {}
        self._members = {root: list(filter(pieces.is_home, group)) for root, group in before.items()}
        self._root = {place: root for root, group in before.items() for place in group}
        for place in self._reverting:
            self._settle(place)
        self._join_relands()

    def is_revert(self, place: int) -> bool:
        """Whether the commit reverts something without bringing something else back.

        Work that mentions reverting a part of something is no revert; nor is work of another kind that names only a
        title that no landing has.
        """
        home = self._pieces.home(place)
        if home not in self._is_reverting or home in self.relands:
            return False
        fact = self._pieces.facts[home]
        stated = any(not key.startswith((PART, "title:")) for key in fact.reverts)
        return fact.kind == "revert" or stated or bool(self.effects[home].signs)

    def _settle(self, place: int) -> None:
        """Compute an effect after those it depends on; circular references have none."""
        waiting, open_ = [place], set()
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

    def _effect(self, targets: Sequence[tuple[int, bool]]) -> Effect:
        effect = Effect()
        for target, partly in targets:
            before = self.effects.get(target)
            if target not in self._is_reverting:
                if partly:
                    effect.partly.add(target)
                else:
                    effect.signs[target] = -1
            elif before is not None and not partly:
                effect.depth = max(effect.depth, before.depth + 1)
                effect.signs.update({place: -sign for place, sign in before.signs.items()})
                if any(sign > 0 for sign in before.signs.values()):
                    effect.signs[target] = -1
        return effect

    def _targets(self, place: int) -> list[tuple[int, bool]]:
        """(landing, whether only a part) that a commit reverts. A title counts only without anything more precise."""
        found: dict[int, bool] = {}
        fact = self._pieces.facts[place]
        for key in sorted(fact.reverts, key=lambda key: "title:" in key[:11]):
            plain = key.removeprefix(PART)
            if plain.startswith("title:") and found:
                break
            for target in self._meant(plain, place):
                found[target] = found.get(target, True) and key.startswith(PART)
        return list(found.items())

    def _meant(self, key: str, place: int) -> Sequence[int]:
        if key.startswith("commit:"):
            return [target for target in self._pieces.commits(key[7:]) if target != place]
        when, own = self._pieces.facts[place].landed_at, self._root_of(place)
        there = [
            target
            for target in self._pieces.meant(key)
            if self._pieces.facts[target].landed_at <= when and self._root_of(target) != own
        ]
        if key.startswith("title:"):
            there = there[-1:]
        roots = dict.fromkeys(map(self._root_of, there))
        members = (target for root in roots for target in self._members.get(root, (root,)))
        return [target for target in members if self._pieces.facts[target].landed_at <= when]

    def _root_of(self, place: int) -> int:
        return self._root.get(place, place)

    # --- re-lands ---

    def _join_relands(self) -> None:
        for place in sorted(self._reverting, key=lambda place: self.effects[place].depth):
            self._join_double_revert(place)
        for place in self._relanding:
            if place not in self.relands:
                self._join_stated(place)
        for place in self._reverting:
            if place not in self.relands:
                self._join_same_title(place)

    def _join_double_revert(self, place: int) -> None:
        signs = self.effects[place].signs
        roots = {self._pieces.piece(target) for target in signs}
        if len(roots) == 1 and all(sign > 0 for sign in signs.values()):
            self.relands.add(place)
            self._pieces.join(next(iter(signs)), place)

    def _join_stated(self, place: int) -> None:
        signs = self.effects[place].signs if place in self.effects else {}
        if signs:
            return
        for key in sorted(self._pieces.facts[place].relands, key=lambda key: key.startswith("title:")):
            before = [t for t in self._meant(key, place) if t not in self._is_reverting and t < place]
            if before:
                self._pieces.join(before[0], place)
                self.relands.add(place)
                return

    def _join_same_title(self, place: int) -> None:
        """The first landing after a revert with the title the revert names, by an author of the reverted work."""
        facts, signs = self._pieces.facts, self.effects[place].signs
        taken = {target for target, sign in signs.items() if sign < 0}
        roots = {self._pieces.piece(target) for target in taken}
        if len(roots) != 1:
            return
        authors = {person_key(facts[target].author) for target in taken}
        for key in facts[place].reverts:
            there = self._pieces.meant(key) if key.startswith("title:") else ()
            others = [t for t in there if self._pieces.piece(t) not in roots and t not in self._is_reverting]
            later = [t for t in others if t > place]
            if not later or len(later) < len(others):
                continue
            again = facts[later[0]]
            if person_key(again.author) in authors and again.landed_at - facts[place].landed_at <= _AGAIN_WITHIN:
                self._pieces.join(next(iter(taken)), later[0])

    def by_piece(self) -> dict[int, list[int]]:
        """The reverts that affect each work group, oldest first."""
        found: dict[int, dict[int, None]] = defaultdict(dict)
        for place in self._reverting:
            effect = self.effects[place]
            for target in (*effect.signs, *effect.partly):
                found[self._pieces.piece(target)][place] = None
        return {root: list(places) for root, places in found.items()}
