"""How long does a failed job wait before its next attempt?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

FIRST = timedelta(seconds=5)
LONGEST = timedelta(hours=1)


def back_off(failures: int, random: Callable[[], float]) -> timedelta:
    """5 s, doubled with each failure, at most an hour; half of it fixed and half scaled by `random` in [0, 1).

    The jitter keeps jobs that failed together from retrying together.
    """
    doublings = min(max(failures - 1, 0), 20)
    whole = min(FIRST * (1 << doublings), LONGEST)
    return whole * (0.5 + random() / 2)
