"""How many pages may one address request in a while?"""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import TTLCache

_ADDRESSES = 20_000


class RateLimit:
    """At most `most` requests from one address in `window` seconds, counted from the first."""

    def __init__(self, most: int, *, window: float = 60.0, timer: Callable[[], float] = time.monotonic) -> None:
        self._most, self.window, self._timer = most, window, timer
        self._seen: TTLCache[str, tuple[float, int]] = TTLCache(_ADDRESSES, window, timer=timer)

    def is_over_limit(self, address: str | None) -> bool:
        """Count one request; True if it exceeds the limit. None means everybody behind a proxy and is never refused."""
        if address is None:
            return False
        now = self._timer()
        begun, times = self._seen.get(address, (now, 0))
        if now - begun >= self.window:
            begun, times = now, 0
        # Writing extends the entry's life in the cache, so its start is stored beside the count.
        self._seen[address] = (begun, times + 1)
        return times >= self._most
