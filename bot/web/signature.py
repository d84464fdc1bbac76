"""Did GitHub send these bytes? https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence

SHORTEST_SECRET = 32
_HEADER = re.compile(r"sha256=[0-9a-f]{64}")


class WeakSecretError(ValueError):
    """A secret is missing or can be guessed."""


class Secrets:
    """The valid webhook secrets: one, or two during a change."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """Raises `WeakSecretError` if there is none, or one is shorter than 32 characters."""
        if not secrets:
            raise WeakSecretError("a webhook secret is required")
        if any(len(secret) < SHORTEST_SECRET for secret in secrets):
            raise WeakSecretError(f"a webhook secret has at least {SHORTEST_SECRET} characters")
        self._secrets = tuple(secret.encode() for secret in secrets)

    def __repr__(self) -> str:
        return f"Secrets({len(self._secrets)})"

    def verify(self, body: bytes, header: str | None) -> bool:
        """True if `header` is the SHA-256 signature of exactly these bytes under one of the secrets."""
        if header is None or not is_well_formed(header):
            return False
        given = bytes.fromhex(header.removeprefix("sha256="))
        # every secret is tried, so that the time does not reveal which one matches
        fits = [hmac.compare_digest(hmac.digest(secret, body, "sha256"), given) for secret in self._secrets]
        return any(fits)


def is_well_formed(header: str | None) -> bool:
    """True if the header has the form of a signature; checked before the body is read."""
    return header is not None and _HEADER.fullmatch(header) is not None
