"""Who is at the other end of a connection, and who has lately sent something that GitHub signed?"""

from __future__ import annotations

import functools
import ipaddress
import time
from collections.abc import Callable, Sequence

from aiohttp import web
from cachetools import TTLCache

from bot.configuration.addresses import Network

_ADDRESSES = 10_000
_REMEMBERED = 3600.0
_LONGEST_CHAIN = 2000
LOCAL = "local"
"""the key of a peer without an address, at a Unix socket"""


class KnownSenders:
    """Peers that sent a valid signature within the last hour."""

    def __init__(self, *, timer: Callable[[], float] = time.monotonic) -> None:
        self._known: TTLCache[str, bool] = TTLCache(_ADDRESSES, _REMEMBERED, timer=timer)

    def add(self, key: str | None) -> None:
        if key is not None:
            self._known[key] = True

    def __contains__(self, key: str | None) -> bool:
        return key in self._known


class Peers:
    """The true sender of each request. Forwarding headers are read only if a trusted proxy sent them, because any
    sender can write them."""

    def __init__(self, proxies: Sequence[Network] = ()) -> None:
        self._proxies = tuple(proxies)

    def is_proxy(self, address: str) -> bool:
        """Whether this is a proxy that the operator trusts."""
        if not self._proxies:
            return False
        found = _parsed(address)
        return found is not None and any(found in network for network in self._proxies)

    def sender(self, request: web.Request) -> str:
        """The key of who sent the request: behind a trusted proxy, whom the proxy names."""
        peer = request.remote or ""
        return peer_key(self._forwarded_for(request) or peer) if self.is_proxy(peer) else peer_key(peer)

    def limited_address(self, request: web.Request) -> str | None:
        """The key by which the sender's failures and pages are counted; None for a private address, which may be a
        proxy with many clients that the operator has not named."""
        peer = request.remote or ""
        return self.sender(request) if self.is_proxy(peer) else _public_key(peer)

    def _forwarded_for(self, request: web.Request) -> str:
        """The last address in `X-Forwarded-For` that is not a trusted proxy: whatever is before it, anybody can write.

        Empty if there is none.
        """
        chain = ",".join(request.headers.getall("X-Forwarded-For", []))[-_LONGEST_CHAIN:]
        for part in reversed(chain.split(",")):
            address = part.strip()
            if _parsed(address) is None:
                return ""
            if not self.is_proxy(address):
                return address
        return ""


@functools.lru_cache(maxsize=4096)
def peer_key(address: str) -> str:
    """What is counted together: one IPv4 address, or the network of 64 bits that one IPv6 customer has.

    >>> peer_key("192.0.2.1"), peer_key("2001:db8:1:2:3::4"), peer_key("::ffff:192.0.2.1")
    ('192.0.2.1', '2001:db8:1:2::/64', '192.0.2.1')
    """
    found = _parsed(address)
    if found is None:
        return LOCAL
    if isinstance(found, ipaddress.IPv4Address) or found.is_loopback:
        return str(found)
    return str(ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))


@functools.lru_cache(maxsize=1024)
def _public_key(address: str) -> str | None:
    found = _parsed(address)
    return peer_key(address) if found is not None and found.is_global else None


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


NO_PROXY = Peers()
