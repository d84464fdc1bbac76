"""Where does something answer, or listen? The settings that are addresses: text in, value out, ValueError otherwise."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_HOST = re.compile(r"[a-z0-9._:-]+")
_DATABASE_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}


def own_address(host: str, port: int) -> str:
    """How this machine reaches what listens on host and port. Everywhere in IPv6 is nowhere in IPv4."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def host_of(text: str) -> str:
    """Where to listen; an IPv6 address may stand in brackets, as in a web address."""
    return text.strip().removeprefix("[").removesuffix("]")


def base_url_of(text: str) -> str:
    """A host's address, without a path: pages name each other, and forms their sender, from the host's root."""
    address, origin = address_in(text, such_as="https://almanac.example.com")
    if address.path.strip("/") or address.query or address.fragment:
        raise ValueError("must be a host's address without a path, such as https://almanac.example.com")
    return origin


def relay_of(text: str) -> str:
    """The address of a channel; plain http is for this machine alone, as deliveries pass through it."""
    address, _ = address_in(text, such_as="https://smee.io/your-channel")
    if not address.path.strip("/"):
        raise ValueError("must be the address of a channel, such as https://smee.io/your-channel")
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        raise ValueError("must use https, except on this machine")
    return text.strip().rstrip("/")


def address_in(text: str, *, such_as: str) -> tuple[SplitResult, str]:
    """An address and its origin, spelt as browsers spell it. Raises ValueError where no host could be asked."""
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


def database_url_of(text: str) -> str:
    """A SQLAlchemy URL with the driver we use: psycopg for `postgres(ql)://`, aiosqlite for `sqlite://`."""
    scheme, mark, rest = text.strip().partition("://")
    driver = _DATABASE_DRIVERS.get(scheme.lower())
    if not mark or driver is None:
        raise ValueError("must begin with sqlite:// or postgresql://")
    if driver.startswith("sqlite") and rest.strip("/") in {"", ":memory:"}:
        raise ValueError("must name a file: the record does not live in memory")
    if driver.startswith("postgresql"):
        _must_be_read(f"{driver}://{rest}")
    return f"{driver}://{rest}"


def _must_be_read(url: str) -> None:
    from sqlalchemy import make_url  # whoever names a database loads it in any case

    try:
        make_url(url)
    except Exception:  # SQLAlchemy's, or a ValueError for the port; both quote it
        raise ValueError(
            "cannot be read: write what is special in its password as %XX, and a port as a number"
        ) from None
