"""Which keys sign links and snapshots?"""

from __future__ import annotations

import secrets
from pathlib import Path

from bot.configuration.errors import UnusableInputError
from bot.configuration.settings import Settings
from bot.configuration.signing import SigningKey, read_private, read_signing_key, signing_key, write_once


def link_secrets(path: Path) -> tuple[bytes, ...]:
    """The keys of links, 32 bytes each: the first signs, and all open links.

    One is created at the first start; only the service's user can read the file. Raises UnusableInputError for a
    truncated file, whose short key could be guessed.
    """
    if not path.exists():
        write_once(path, secrets.token_bytes(_SECRET_BYTES))
    try:
        found = read_private(path)
    except ValueError as error:
        raise UnusableInputError(f"{path} {error}") from None
    if not found or len(found) % _SECRET_BYTES:
        raise UnusableInputError(f"{path} does not contain keys of {_SECRET_BYTES} bytes each: {_REMEDY}")
    return tuple(found[at : at + _SECRET_BYTES] for at in range(0, len(found), _SECRET_BYTES))


def snapshot_key(path: Path) -> SigningKey:
    """The key that signs snapshots, created at the first start. Raises UnusableInputError if the file contains none."""
    try:
        return signing_key(path)
    except ValueError as error:
        remedy = "" if "chmod" in str(error) else f": {_REMEDY}"
        raise UnusableInputError(f"{error}{remedy}") from None


def snapshot_signing_key(settings: Settings) -> SigningKey:
    """The key that signs snapshots, from the settings or from its file."""
    if settings.snapshots_key:
        return read_signing_key(settings.snapshots_key.encode())
    return snapshot_key(settings.data / "snapshots.key")


_SECRET_BYTES = 32
_REMEDY = "restore it from a back-up, or move it away to have a new one created"
