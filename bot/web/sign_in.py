"""Which GitHub account is this browser signed in to? The web application flow with state and PKCE.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from urllib.parse import urlencode

import aiohttp
from msgspec import Struct

from bot.configuration.redaction import Redacted, Secret
from bot.configuration.route import DIRECT, NetworkRoute
from bot.model.ids import UserId

_SECONDS = aiohttp.ClientTimeout(total=15)


class SignInError(Exception):
    """GitHub did not identify the account."""


class SignInAttempt(Struct, frozen=True):
    """One attempt to sign in: what the browser keeps, and GitHub returns or checks."""

    state: str
    verifier: str

    @classmethod
    def begin(cls) -> SignInAttempt:
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        """The verifier's hash (RFC 7636, S256)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")


class SignIn(Redacted, frozen=True):
    """The App's OAuth client. The user token is used once, to identify the account, and not stored."""

    client_id: str
    client_secret: Secret[str]
    web: str = "https://github.com"
    api: str = "https://api.github.com"
    route: Secret[NetworkRoute] = DIRECT

    def address(self, attempt: SignInAttempt, back: str) -> str:
        """The address to send the browser to; GitHub redirects it to `back` with a code."""
        asked = {
            "client_id": self.client_id,
            "redirect_uri": back,
            "state": attempt.state,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
            "allow_signup": "false",
        }
        return f"{self.web}/login/oauth/authorize?{urlencode(asked)}"

    async def account(self, code: str, attempt: SignInAttempt, back: str) -> tuple[UserId, str]:
        """The user id and login behind a code. Raises SignInError."""
        given = {
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "code": code,
            "redirect_uri": back,
            "code_verifier": attempt.verifier,
        }
        try:
            async with aiohttp.ClientSession(timeout=_SECONDS, headers={"Accept": "application/json"}) as session:
                return await self._account(session, given)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise SignInError(type(error).__name__) from None

    async def _account(self, session: aiohttp.ClientSession, given: dict[str, str]) -> tuple[UserId, str]:
        address, options = f"{self.web}/login/oauth/access_token", self.route.request_options()
        async with session.post(address, data=given, allow_redirects=False, **options) as answer:
            fields = await answer.json(content_type=None)
        token = fields.get("access_token") if isinstance(fields, dict) else None
        if not isinstance(token, str):
            raise SignInError("no token")
        bearer = {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": "2022-11-28"}
        async with session.get(f"{self.api}/user", headers=bearer, allow_redirects=False, **options) as answer:
            user = await answer.json(content_type=None)
        found = (user.get("id"), user.get("login")) if isinstance(user, dict) else (None, None)
        if not isinstance(found[0], int) or not isinstance(found[1], str):
            raise SignInError("no account")
        return UserId(found[0]), found[1]
