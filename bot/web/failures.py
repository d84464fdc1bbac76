"""Which addresses have failed the signature check so often that they are blocked for a while?"""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import TTLCache

from bot.web.peers import KnownSenders

_ADDRESSES = 10_000
_WINDOW = 60.0


class FailureLimiter:
    """Counts failures by address. An address that has recently sent a valid signature is never refused: a stranger who
    sends through the same address must not shut out GitHub or the proxy in front of us."""

    def __init__(self, most: int = 20, *, known: KnownSenders, timer: Callable[[], float] = time.monotonic) -> None:
        self._most, self._known = most, known
        self._failed: TTLCache[str, int] = TTLCache(_ADDRESSES, _WINDOW, timer=timer)

    def refuses(self, address: str | None) -> bool:
        """True if an address has failed too often within a minute."""
        return address is not None and address not in self._known and self._failed.get(address, 0) >= self._most

    def record_failure(self, address: str | None) -> None:
        if address is not None:
            self._failed[address] = self._failed.get(address, 0) + 1
