"""How soon may the next of many requests start, if so many are allowed at once and so many an hour?

A budget is one number that is kept: the time at which everything spent so far is earned again. It is the generic cell
rate algorithm, so a process can store it in one row, and several processes can share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct


class Budget(Struct, frozen=True):
    """One request every `gap` seconds, and `burst` at once after a rest: at most burst + 3600 / gap in any hour."""

    name: str
    gap: float
    burst: int = 1
    spared: int = 0
    """how many of the burst only urgent requests may use"""

    def tolerance(self, *, urgent: bool) -> float:
        """How many seconds of what was spent need not be earned again before the next request."""
        return self.gap * (self.burst - 1 - (0 if urgent else self.spared))


def wait_for(budgets: Sequence[Budget], spent: Mapping[str, float], now: float, *, urgent: bool) -> float:
    """Seconds until a request may start that all of these budgets pay for; `spent` is what is kept of each."""
    starts = [spent.get(one.name, now) - one.tolerance(urgent=urgent) for one in budgets]
    return max([now, *starts]) - now


def spend(budgets: Sequence[Budget], spent: Mapping[str, float], start: float) -> dict[str, float]:
    """What to keep of each budget once a request starts then."""
    return {one.name: max(spent.get(one.name, start), start) + one.gap for one in budgets}
