"""Which things are joined, directly or through others?"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T", int, str)


class Disjoint(Generic[T]):
    """Disjoint sets with path halving; a thing that was never joined is a set of its own."""

    def __init__(self) -> None:
        self._above: dict[T, T] = {}

    def find(self, thing: T) -> T:
        above = self._above
        if thing not in above:
            return thing
        while (up := above[thing]) != (top := above[up]):
            above[thing] = top
            thing = top
        return up

    def join(self, one: T, other: T) -> None:
        one, other = self.find(one), self.find(other)
        if one != other:
            self._above.setdefault(one, one)
            self._above[other] = one

    def groups(self) -> dict[T, list[T]]:
        """The sets with more than one member, by one of the members; all in order."""
        found: dict[T, list[T]] = {}
        for thing in sorted(self._above):
            found.setdefault(self.find(thing), []).append(thing)
        return found
