"""How many pages does one address get in a while?"""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import TTLCache

_ADDRESSES = 20_000


class RateLimit:
    """At most `most` requests from one address in `window` seconds, counted from its first."""

    def __init__(self, most: int, *, window: float = 60.0, timer: Callable[[], float] = time.monotonic) -> None:
        self._most, self.window, self._timer = most, window, timer
        self._seen: TTLCache[str, tuple[float, int]] = TTLCache(_ADDRESSES, window, timer=timer)

    def exceeded(self, address: str | None) -> bool:
        """Count one request; True where it is one too many. None stands for everybody behind a proxy: never refused."""
        if address is None:
            return False
        now = self._timer()
        begun, times = self._seen.get(address, (now, 0))
        if now - begun >= self.window:
            begun, times = now, 0
        # Writing renews the entry's life in the cache, so the beginning is kept beside the number.
        self._seen[address] = (begun, times + 1)
        return times >= self._most
