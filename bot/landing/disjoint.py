"""Which things were joined, directly or through others?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Disjoint(Generic[T]):
    """Disjoint sets with path halving; things that were never joined are their own set."""

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
        self._above.setdefault(one, one)
        self._above.setdefault(other, other)
        if one != other:
            self._above[other] = one
