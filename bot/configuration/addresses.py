"""Which addresses do the settings name? Text in, value out, ValueError otherwise."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_HOST = re.compile(r"[a-z0-9._:-]+")
_DATABASE_DRIVERS = {
    "sqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def own_address(host: str, port: int) -> str:
    """How this machine reaches a server on host and port. The IPv6 wildcard becomes the IPv6 loopback, not IPv4's."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def host_of(text: str) -> str:
    """The host to listen on; an IPv6 address may be in brackets, as in a web address."""
    return text.strip().removeprefix("[").removesuffix("]")


def networks_of(text: str) -> tuple[Network, ...]:
    """Addresses and networks, separated by commas.

    >>> networks_of("10.0.0.0/8, ::1")
    (IPv4Network('10.0.0.0/8'), IPv6Network('::1/128'))
    """
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError("must be addresses or networks separated by commas, such as 127.0.0.1,10.0.0.0/8") from None


def base_url_of(text: str) -> str:
    """A host's address, without a path: links between pages and the targets of forms start at the host's root."""
    address, origin = address_in(text, such_as="https://almanac.example.com")
    if address.path.strip("/") or address.query or address.fragment:
        raise ValueError("must be a host's address without a path, such as https://almanac.example.com")
    return origin


def relay_of(text: str) -> str:
    """The address of a channel; plain http only for this machine, because deliveries pass through it."""
    address, _ = address_in(text, such_as="https://smee.io/your-channel")
    if not address.path.strip("/"):
        raise ValueError("must be the address of a channel, such as https://smee.io/your-channel")
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        raise ValueError("must use HTTPS, except on this machine")
    return text.strip().rstrip("/")


def address_in(text: str, *, such_as: str) -> tuple[SplitResult, str]:
    """An address and its origin in the normal form of browsers. Raises ValueError if it has no valid host."""
    try:
        address = urlsplit(text.strip())
        host = (address.hostname or "").encode("idna").decode()
        standard = address.port in {None, {"http": 80, "https": 443}[address.scheme]}
    except (KeyError, ValueError):
        host = ""
    if not _HOST.fullmatch(host) or address.username is not None:
        raise ValueError(f"must be an address such as {such_as}")
    host = f"[{host}]" if ":" in host else host
    return address, f"{address.scheme}://{host}" if standard else f"{address.scheme}://{host}:{address.port}"


def proxy_of(text: str) -> str:
    """The address of a proxy, with the user name and password that it may need."""
    text = text.strip()
    parts = urlsplit(text)
    plain = text.replace(f"{parts.netloc.rpartition('@')[0]}@", "", 1) if "@" in parts.netloc else text
    address, _ = address_in(plain, such_as="http://proxy.example.com:3128")
    if address.path.strip("/") or address.query:
        raise ValueError("must be an address such as http://proxy.example.com:3128, without a path")
    return text.rstrip("/")


def database_url_of(text: str) -> str:
    """A SQLAlchemy URL with the driver we use: psycopg for `postgres(ql)://`."""
    scheme, mark, rest = text.strip().partition("://")
    driver = _DATABASE_DRIVERS.get(scheme.lower())
    if not mark or driver is None:
        raise ValueError("must start with sqlite:// or postgresql://")
    if driver.startswith("sqlite") and rest.strip("/") in {"", ":memory:"}:
        raise ValueError("must name a file; the record cannot be kept in memory")
    if driver.startswith("postgresql"):
        _check_readable(f"{driver}://{rest}")
    return f"{driver}://{rest}"


def _check_readable(url: str) -> None:
    from sqlalchemy import make_url  # needed anyway when a database is configured

    try:
        make_url(url)
    except Exception:  # SQLAlchemy's error, or a ValueError for the port; both quote the URL
        raise ValueError(
            "cannot be parsed: write special characters in the password as %XX, and the port as a number"
        ) from None
