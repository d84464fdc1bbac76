"""How is the text of a setting read?"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.configuration.addresses import LOOPBACK, address_in
from bot.configuration.signing import read_signing_key


class GitHubAddress(Struct, frozen=True):
    """The addresses of GitHub's pages, REST API and GraphQL API, without a trailing slash."""

    web: str = "https://github.com"
    api: str = "https://api.github.com"
    graphql: str = "https://api.github.com/graphql"


SHORTEST_SECRET = 32
"""characters; a shorter webhook secret could be guessed, so it is refused"""
_LINKS_KEY = re.compile(r"[0-9A-Fa-f]{64}")


def pem_of(text: str) -> str:
    """PEM text from PEM text (with real or escaped line breaks), from base64 of it, or from the file it names."""
    text = text.strip()
    if "-----BEGIN" in text:
        return text.replace("\\n", "\n").replace("\r\n", "\n") + "\n"
    decoded = _pem_in_base64(text)
    if decoded:
        return decoded.strip() + "\n"
    try:
        content = Path(text).expanduser().read_text("utf-8")
    except (OSError, ValueError, RuntimeError):  # RuntimeError: `~` of an unknown user
        raise ValueError("is neither a PEM key, nor base64 of one, nor a readable file") from None
    if "-----BEGIN" not in content:
        raise ValueError("names a file without a PEM key")
    return content.strip() + "\n"


def _pem_in_base64(text: str) -> str | None:
    try:
        content = base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        return None
    return content if "-----BEGIN" in content else None


def snapshots_key_of(text: str) -> str:
    """PEM text of an Ed25519 private key, in any form that `pem_of` reads."""
    pem = pem_of(text).encode(errors="replace")
    read_signing_key(pem)
    return pem.decode()


def links_keys_of(text: str) -> tuple[bytes, ...]:
    """32 bytes from 64 hexadecimal digits; several keys are separated by commas, the one that signs first."""
    keys = [part.strip() for part in text.split(",")]
    if not all(_LINKS_KEY.fullmatch(key) for key in keys):
        raise ValueError(
            "must be 64 hexadecimal digits, as `openssl rand -hex 32` prints them; commas separate several keys"
        )
    return tuple(bytes.fromhex(key) for key in keys)


def secrets_of(text: str) -> tuple[str, ...]:
    """The valid webhook secrets: one, or several separated by commas or line breaks, so that secrets can be rotated."""
    secrets = tuple(part for part in (part.strip() for part in re.split(r"[,\n]", text.replace("\\n", "\n"))) if part)
    if any(len(secret) < SHORTEST_SECRET for secret in secrets):
        raise ValueError(f"contains a secret of fewer than {SHORTEST_SECRET} characters")
    return secrets


def github_address_of(text: str) -> GitHubAddress:
    """github.com, an enterprise on ghe.com, or an Enterprise Server by its base address.

    Plain http is accepted only for this machine.
    """
    address, origin = address_in(text, such_as="https://github.example.com")
    if address.query:
        raise ValueError("must be an address such as https://github.example.com")
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        raise ValueError("must use HTTPS, except on this machine")
    if address.hostname in {"github.com", "www.github.com", "api.github.com"}:
        return GitHubAddress()
    if (address.hostname or "").endswith(".ghe.com"):  # GitHub Enterprise Cloud with data residency: api.NAME.ghe.com
        api = origin.replace("://", "://api.", 1)
        return GitHubAddress(origin, api, f"{api}/graphql")
    base = f"{origin}{address.path.rstrip('/')}".removesuffix("/api/v3")
    return GitHubAddress(base, f"{base}/api/v3", f"{base}/api/graphql")


def zone_of(text: str) -> ZoneInfo:
    """The time zone in which months are counted."""
    try:
        return ZoneInfo(text.strip())
    except (KeyError, ValueError, OSError):
        raise ValueError("is not an IANA time zone such as Europe/Vienna") from None


def certificates_of(text: str) -> Path:
    """A readable file of certificates in PEM form."""
    path = folder_of(text.strip()).absolute()
    try:
        content = path.read_bytes()
    except OSError:
        raise ValueError("names a file that cannot be read") from None
    if b"-----BEGIN CERTIFICATE-----" not in content:
        raise ValueError("names a file without certificates in PEM form")
    return path


def folder_of(text: str) -> Path:
    """A folder; `~` is expanded here, because no shell does so for settings in a file."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError("starts with the home folder of a user unknown on this machine") from None


WriterKind = Literal["off", "openai", "anthropic"]
