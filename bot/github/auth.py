"""How does Almanac authenticate, and with how narrow a token?

The App signs a short-lived JWT with a key that is loaded once; each job then gets an installation token for its own
repositories and permissions, cached until shortly before it expires.
https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from weakref import WeakValueDictionary

import jwt
from cachetools import TLRUCache
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from gidgethub import BadRequest, GitHubException
from msgspec import Struct

from bot.github.limits import Clock
from bot.github.operations import CREATE_TOKEN, Operation
from bot.github.payloads import answers, requests
from bot.github.payloads.reading import read
from bot.model.ids import InstallationId, RepositoryId

_BACKDATED = 60
_LIFE = 540
"""from the backdated issue time, so a JWT expires 8 minutes from now: GitHub allows 10, and its clock may be behind"""
_JWT_KEPT = 300.0
_MARGIN = 120.0
_LONGEST_TOKEN_LIFE = 3600.0
_TOKENS = 4096


class BadKeyError(ValueError):
    """The private key is not an RSA key in PEM form."""


class InstallationClosed(GitHubException):
    """No token was minted, as for a suspended (403) or deleted (404) installation."""

    def __init__(self, installation: InstallationId, *, deleted: bool) -> None:
        reason = "is not found" if deleted else "is closed"
        super().__init__(f"GitHub gives no token: installation {installation} {reason}")
        self.installation = installation
        self.deleted = deleted


class NotGranted(GitHubException):
    """The installation has no access to these repositories, or was not granted these permissions."""

    def __init__(self, scope: TokenScope) -> None:
        asked = ", ".join(f"{name}: {level}" for name, level in scope.permissions)
        super().__init__(
            f"installation {scope.installation} has no access to the repository, or has not granted {asked}"
        )
        self.permissions = dict(scope.permissions)


class TokenScope(Struct, frozen=True):
    """What a token allows. No repositories means all of the installation's; at most 500 can be named."""

    installation: InstallationId
    repositories: tuple[RepositoryId, ...] = ()
    permissions: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        installation: InstallationId,
        *,
        repositories: tuple[RepositoryId, ...] = (),
        permissions: Mapping[str, str] | None = None,
    ) -> TokenScope:
        """A scope that does not depend on the order of repositories and permissions."""
        return cls(installation, tuple(sorted(set(repositories))), tuple(sorted((permissions or {}).items())))


class AppKey:
    """The App's own credential. Signing takes 0.4 ms; parsing the key for each signature would take 40 ms."""

    def __init__(self, app_id: str | int, pem: str | bytes, *, clock: Clock) -> None:
        self._issuer = str(app_id)
        self._key = _load(pem)
        self._clock = clock
        self._kept: tuple[str, float] = ("", float("-inf"))

    async def token(self) -> str:
        """A JWT that GitHub accepts for at least three more minutes."""
        signed, until = self._kept
        if self._clock.steady() >= until:
            signed = self._sign()
            self._kept = (signed, self._clock.steady() + _JWT_KEPT)
        return signed

    def refuse(self, token: str) -> bool:
        """Discard the JWT, so that a new one is signed: the clock may have been set since."""
        self._kept = ("", float("-inf"))
        return True

    def _sign(self) -> str:
        issued = int(self._clock.wall()) - _BACKDATED
        return jwt.encode({"iat": issued, "exp": issued + _LIFE, "iss": self._issuer}, self._key, algorithm="RS256")


class Minter(Protocol):
    """The part of the App's client that creates tokens."""

    async def write(self, operation: Operation, body: Mapping[str, Any] | None = None, **variables: Any) -> Any: ...


class Tokens:
    """Installation tokens, each created once and shared until two minutes before it expires."""

    def __init__(self, minter: Callable[[InstallationId], Minter], *, clock: Clock) -> None:
        self._minter = minter
        self._clock = clock
        self._kept: TLRUCache[TokenScope, tuple[str, float]] = TLRUCache(_TOKENS, ttu=_ends_at, timer=clock.steady)
        self._locks: WeakValueDictionary[TokenScope, asyncio.Lock] = WeakValueDictionary()

    async def get(self, scope: TokenScope) -> str:
        """A valid token for `scope`. Raises `InstallationClosed`, `NotGranted` and the client's exceptions."""
        lock = self._locks.setdefault(scope, asyncio.Lock())
        async with lock:
            kept = self._kept.get(scope)
            if kept is None:
                kept = await self._mint(scope)
                self._kept[scope] = kept
            return kept[0]

    def forget(self, scope: TokenScope, token: str) -> None:
        """Drop a token that GitHub refused, unless it has been replaced already."""
        kept = self._kept.get(scope)
        if kept is not None and kept[0] == token:
            self._kept.pop(scope, None)

    async def _mint(self, scope: TokenScope) -> tuple[str, float]:
        try:
            body = requests.token(scope.repositories, scope.permissions)
            answer = await self._minter(scope.installation).write(CREATE_TOKEN, body, installation=scope.installation)
        except BadRequest as error:
            raise _refusal(scope, int(error.status_code)) or error from error
        minted = read(answer, answers.Token)
        life = minted.expires_at.timestamp() - self._clock.wall() - _MARGIN
        return minted.token, min(life, _LONGEST_TOKEN_LIFE - _MARGIN)


class InstallationCredential:
    """The credential for one scope of one installation."""

    def __init__(self, tokens: Tokens, scope: TokenScope) -> None:
        self._tokens = tokens
        self._scope = scope

    async def token(self) -> str:
        return await self._tokens.get(self._scope)

    def refuse(self, token: str) -> bool:
        self._tokens.forget(self._scope, token)
        return True


def _load(pem: str | bytes) -> RSAPrivateKey:
    raw = pem.encode() if isinstance(pem, str) else pem
    try:
        key = load_pem_private_key(raw, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise BadKeyError("the private key is not a PEM key without a passphrase") from None
    if not isinstance(key, RSAPrivateKey):
        raise BadKeyError("the private key is not an RSA key")
    return key


def _ends_at(_scope: TokenScope, minted: tuple[str, float], now: float) -> float:
    return now + minted[1]


def _refusal(scope: TokenScope, status: int) -> GitHubException | None:
    if status in (403, 404):
        return InstallationClosed(scope.installation, deleted=status == 404)
    if status == 422:
        return NotGranted(scope)
    return None
