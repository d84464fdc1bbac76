"""Which addresses have failed the signature check so often that they are blocked for a while?"""

from __future__ import annotations

import functools
import ipaddress
import time
from collections.abc import Callable

from aiohttp import web
from cachetools import TTLCache

_ADDRESSES = 10_000
_WINDOW = 60.0
_TRUSTED = 3600.0


class FailureLimiter:
    """Counts failures by address. An address that has recently sent a valid signature is never refused: a stranger who
    sends through the same address must not shut out GitHub or the proxy in front of us."""

    def __init__(self, most: int = 20, *, timer: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._failed: TTLCache[str, int] = TTLCache(_ADDRESSES, _WINDOW, timer=timer)
        self._good: TTLCache[str, bool] = TTLCache(_ADDRESSES, _TRUSTED, timer=timer)

    def refuses(self, address: str | None) -> bool:
        """True if an address has failed too often within a minute."""
        return address is not None and address not in self._good and self._failed.get(address, 0) >= self._most

    def record_failure(self, address: str | None) -> None:
        if address is not None:
            self._failed[address] = self._failed.get(address, 0) + 1

    def record_success(self, address: str | None) -> None:
        if address is not None:
            self._good[address] = True


def peer_address(request: web.Request) -> str | None:
    """The peer's address; None for a private one, which belongs to a proxy with many clients.

    Forwarding headers are not read: any sender can write them.
    """
    return _public_address(request.remote or "")


@functools.lru_cache(maxsize=1024)
def _public_address(text: str) -> str | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return str(address) if address.is_global else None
