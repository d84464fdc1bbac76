"""Between which shares lie four of five resamples of a record?"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence

_DRAWS = 150_000
_FEWEST, _MOST = 200, 1000
"""resamples: fewer where there are many clusters"""


def resampled_shares(clusters: Sequence[tuple[int, int]]) -> list[float]:
    """Sorted shares lost / at risk of resamples of these clusters (at risk, lost).

    The draws come from a hash of the clusters themselves, so that equal clusters give equal shares.
    """
    size = len(clusters)
    if not size:
        return []
    times = max(_FEWEST, min(_MOST, _DRAWS // size))
    drawn = array("I")
    drawn.frombytes(hashlib.shake_128(repr(clusters).encode()).digest(4 * size * times))
    risks, losses = [risk for risk, _ in clusters], [lost for _, lost in clusters]
    shares = []
    for start in range(0, size * times, size):
        chosen = [number % size for number in drawn[start : start + size]]
        risk = sum([risks[at] for at in chosen])
        shares.append(sum([losses[at] for at in chosen]) / risk if risk else 0.0)
    return sorted(shares)


def eighty_percent(shares: Sequence[float]) -> tuple[float, float]:
    """The shares between which four fifths of the sorted resamples lie."""
    last = len(shares) - 1
    return shares[round(0.1 * last)], shares[round(0.9 * last)]
