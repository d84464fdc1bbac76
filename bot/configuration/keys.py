"""Which keys sign links and snapshots?"""

from __future__ import annotations

import secrets
from pathlib import Path

from bot.configuration.errors import UnusableInputError
from bot.configuration.settings import Settings
from bot.configuration.signing import SigningKey, read_private, read_signing_key, signing_key, write_once


def link_secret(path: Path) -> bytes:
    """The 32 bytes that sign links, created at the first start; only the service's user can read the file.

    Raises UnusableInputError for a truncated file, whose short key could be guessed.
    """
    if not path.exists():
        write_once(path, secrets.token_bytes(_SECRET_BYTES))
    try:
        found = read_private(path)
    except ValueError as error:
        raise UnusableInputError(f"{path} {error}") from None
    if len(found) < _SECRET_BYTES:
        raise UnusableInputError(f"{path} does not contain a key of {_SECRET_BYTES} bytes: {_REMEDY}")
    return found


def snapshot_key(path: Path) -> SigningKey:
    """The key that signs snapshots, created at the first start. Raises UnusableInputError if the file contains none."""
    try:
        return signing_key(path)
    except ValueError as error:
        remedy = "" if "chmod" in str(error) else f": {_REMEDY}"
        raise UnusableInputError(f"{error}{remedy}") from None


def _signing(settings: Settings) -> SigningKey:
    if settings.snapshots_key:
        return read_signing_key(settings.snapshots_key.encode())
    return snapshot_key(settings.data / "snapshots.key")


_SECRET_BYTES = 32
_REMEDY = "restore it from a back-up, or move it away to have a new one created"
