"""Who sends a request, and is it allowed? App JWTs, narrowed installation tokens and required permissions."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import Any

import jwt
from msgspec import Struct

from simulator.state import Json, SimAccount, SimApp, SimInstallation, SimRepository, SimToken, State

LEVELS = {"read": 1, "write": 2, "admin": 3}
LIFETIME = timedelta(hours=1)


class RefusedError(Exception):
    """A refusal to answer a request: status, message and, for 422, the errors."""

    def __init__(self, status: int, message: str, *, errors: list[Json] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors


class Caller(Struct, frozen=True):
    """The credentials of a request: an App's JWT, an installation token, a user's token, or none."""

    app: SimApp | None = None
    token: SimToken | None = None
    person: SimAccount | None = None

    @property
    def name(self) -> str:
        """The key under which rate limits are counted."""
        if self.token:
            return f"installation {self.token.installation.id}"
        return f"app {self.app.id}" if self.app else "nobody"

    @property
    def acting_app(self) -> SimApp:
        if self.token:
            return self.token.installation.app
        raise RefusedError(401, "Requires authentication")

    def sees(self, state: State, repository: SimRepository) -> bool:
        """An installation token sees the installation's repositories and may read every public one."""
        if self.token is None:
            return not repository.private
        chosen = self.token.repositories
        mine = repository in state.visible_to(self.token.installation)
        return not repository.private or (mine and (chosen is None or repository.id in chosen))

    def demand(self, state: State, repository: SimRepository, needs: tuple[str, ...]) -> None:
        """Check that the caller holds one of `needs` ("permission:level"). Raises RefusedError 401, 403 or 404."""
        if not self.sees(state, repository):
            raise RefusedError(404, "Not Found")
        writes = all(need.endswith(":write") for need in needs)
        if self.token is None:
            if writes:
                raise RefusedError(401, "Requires authentication")
            return
        chosen = self.token.repositories
        mine = repository in state.visible_to(self.token.installation) and (chosen is None or repository.id in chosen)
        if (not mine and writes) or (mine and not any(self._holds(need) for need in needs)):
            raise RefusedError(403, "Resource not accessible by integration")

    def _holds(self, need: str) -> bool:
        name, _, level = need.partition(":")
        held = self.token.permissions.get(name) if self.token else None
        return name == "metadata" or LEVELS.get(str(held), 0) >= LEVELS[level]


def identify(state: State, authorization: str) -> Caller:
    """The caller behind an Authorization header. Raises RefusedError 401."""
    scheme, _, value = authorization.partition(" ")
    if not authorization:
        return Caller()
    if scheme.lower() not in {"bearer", "token"}:
        raise RefusedError(401, "Bad credentials")
    if value in state.people:
        return Caller(person=state.people[value])
    token = state.tokens.get(value)
    if token is None:
        return Caller(app=_app_of(state, value))
    if token.expires_at <= state.clock():
        raise RefusedError(401, "Bad credentials")
    if token.installation.id not in state.installations:
        raise RefusedError(401, "Bad credentials")
    if token.installation.suspended_at:
        raise RefusedError(403, "This installation has been suspended")
    return Caller(app=token.installation.app, token=token)


def _app_of(state: State, value: str) -> SimApp:
    """The App that signed a JWT: RS256, valid now and for at most ten minutes, as GitHub requires."""
    try:
        issuer = jwt.decode(value, options={"verify_signature": False}).get("iss")
        app = state.apps[int(str(issuer))]
        claims = _claims(app, value)
        issued, expires = int(claims["iat"]), int(claims["exp"])
    except (jwt.PyJWTError, KeyError, ValueError, TypeError) as problem:
        raise RefusedError(401, "A JSON web token could not be decoded") from problem
    now = state.clock().timestamp()
    if issued > now:
        raise RefusedError(
            401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        )
    if expires <= now:
        raise RefusedError(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time")
    if expires > now + 600:
        raise RefusedError(401, "'Expiration time' claim ('exp') is too far in the future")
    return app


def _claims(app: SimApp, value: str) -> Json:
    """The claims of a JWT that one of the App's keys signed. Raises PyJWTError."""
    for key in app.other_keys:
        with contextlib.suppress(jwt.InvalidSignatureError):
            return _decoded(value, key)
    return _decoded(value, app.public_key)


def _decoded(value: str, key: str) -> Json:
    return jwt.decode(value, key, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False})


def mint(state: State, installation: SimInstallation, wanted: Json) -> SimToken:
    """An installation token, narrowed as requested. Raises RefusedError 403 or 422."""
    if installation.suspended_at:
        raise RefusedError(403, "This installation has been suspended")
    number = state.new_id()
    # GitHub's newer token format: opaque, about 520 characters, with dots.
    value = f"ghs_{installation.app.id}_{'x' * 440}.{number}.{'y' * 40}"
    token = SimToken(
        value,
        installation,
        state.clock() + LIFETIME,
        _narrowed_permissions(installation, wanted.get("permissions")),
        _narrowed_repositories(state, installation, wanted),
        state.clock(),
    )
    state.tokens[value] = token
    return token


def _narrowed_permissions(installation: SimInstallation, wanted: Json | None) -> Json:
    held: dict[str, Any] = installation.app.permissions
    if wanted is None:
        return {**held, "metadata": "read"}
    for name, level in wanted.items():
        if name != "metadata" and LEVELS.get(held.get(name, ""), 0) < LEVELS.get(level, 9):
            raise RefusedError(422, "The permissions requested are not granted to this installation.")
    return {**wanted, "metadata": "read"}


def _narrowed_repositories(state: State, installation: SimInstallation, wanted: Json) -> frozenset[int] | None:
    visible = {found.id: found.name for found in state.visible_to(installation)}
    ids = frozenset(wanted.get("repository_ids") or ())
    names = frozenset(wanted.get("repositories") or ())
    if not ids and not names:
        return None
    if ids - visible.keys() or names - set(visible.values()):
        raise RefusedError(
            422, "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    return ids | frozenset(id_ for id_, name in visible.items() if name in names)
