"""How does traffic reach GitHub? Directly, or through a company's proxy and with its own certificates."""

from __future__ import annotations

import ssl
from functools import lru_cache
from typing import Any

from bot.configuration.redaction import Redacted, Secret


class NetworkRoute(Redacted, frozen=True):
    """The proxy that requests to GitHub pass, and the file of certificates that its server is checked against."""

    proxy: Secret[str] = ""
    """its address, with a user name and password if it needs them; empty: none"""
    ca_file: str = ""
    """certificates in PEM form that are trusted beside the system's; empty: none"""

    def request_options(self) -> dict[str, Any]:
        """What aiohttp needs for one request. Raises OSError if the certificates cannot be read."""
        options: dict[str, Any] = {"proxy": self.proxy} if self.proxy else {}
        return options | {"ssl": _context(self.ca_file)} if self.ca_file else options

    def git_settings(self) -> dict[str, str]:
        """What git needs, as configuration values."""
        values = {"http.proxy": self.proxy, "http.sslCAInfo": self.ca_file}
        return {name: value for name, value in values.items() if value}


DIRECT = NetworkRoute()


@lru_cache(maxsize=4)
def _context(ca_file: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(ca_file)
    return context
