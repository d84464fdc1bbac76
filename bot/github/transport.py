"""What may be sent to GitHub's host, and how much of an answer can be trusted?

One HTTP exchange: credentials go only to the configured scheme, host and port, redirects keep their method, the size of
an answer is capped, and an error answer is reduced to what its status says, whatever its body contains.
"""

from __future__ import annotations

import asyncio
import http
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
from cachetools import LRUCache
from gidgethub import GitHubException
from msgspec import Struct
from yarl import URL

from bot.configuration.redaction import Redacted, Secret
from bot.configuration.route import DIRECT, NetworkRoute

_METHOD_PRESERVING_REDIRECTS = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS = 3
_LIMIT_HEADERS = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
_JSON = "application/json; charset=utf-8"
_LONGEST_MESSAGE = 500
_BUDGETS = 2048
"""budgets of installations that are remembered"""


class ForeignHost(GitHubException):
    """An address, a `Link` or a redirect names another scheme, host or port than the configured one."""


class BadAnswer(GitHubException):
    """GitHub's answer is not what it documents: too large, not JSON, or of another shape."""


class Endpoint(Redacted, frozen=True):
    """One GitHub: its address and request settings. `seconds` limits an exchange, `largest` an answer (bytes)."""

    base_url: str = "https://api.github.com"
    api_version: str = "2022-11-28"
    requester: str = "almanac"
    by_name: bool = False
    """address repositories by owner and name, for a host that does not answer at /repositories/<id>"""
    seconds: float = 30.0
    largest: int = 32 * 1024 * 1024
    cacheable: int = 64 * 1024
    """larger answers (bytes) are not cached for conditional requests"""
    route: Secret[NetworkRoute] = DIRECT

    @property
    def graphql_url(self) -> str:
        """GitHub Enterprise Server serves REST at /api/v3 and GraphQL at /api/graphql."""
        base = self.base_url.rstrip("/")
        return f"{base.removesuffix('/v3')}/graphql" if base.endswith("/api/v3") else f"{base}/graphql"


class HourlyBudget(Struct, frozen=True):
    """What GitHub's headers said about one installation's budget; `reset` is in epoch seconds."""

    remaining: int
    limit: int
    reset: int


class Traffic:
    """Counters of network traffic, for telemetry. `resource` is `core` or `graphql`, whatever the headers say."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self.requests = 0
        self.answers: Counter[tuple[str, str]] = Counter()
        """by resource and class of status: `2xx` to `5xx`, or `none`"""
        self.limits: Counter[str] = Counter()
        """refusals by limit"""
        self._wall = wall
        self._budgets: LRUCache[tuple[str, str], HourlyBudget] = LRUCache(_BUDGETS)

    def record_answer(self, resource: str, status: int | None) -> None:
        self.requests += 1
        self.answers[resource, "none" if status is None else f"{status // 100}xx"] += 1

    def record_budget(self, resource: str, owner: str, headers: Mapping[str, str]) -> None:
        """Remember the budget that the headers of an answer tell of; servers without limits send none."""
        limit, remaining, reset = (headers.get(name, "") for name in _LIMIT_HEADERS)
        if limit and remaining and reset:
            self._budgets[resource, owner] = HourlyBudget(int(remaining), int(limit), int(reset))

    def lowest_budgets(self) -> dict[str, HourlyBudget]:
        """By resource, the budget with the smallest share left of those whose hour has not ended."""
        lowest: dict[str, HourlyBudget] = {}
        for (resource, _), budget in list(self._budgets.items()):
            if budget.reset <= self._wall():
                continue
            known = lowest.get(resource)
            if known is None or budget.remaining * known.limit < known.remaining * budget.limit:
                lowest[resource] = budget
        return lowest


Answer = tuple[int, dict[str, str], bytes]


class Transport:
    """Sends single requests to one endpoint."""

    def __init__(self, session: aiohttp.ClientSession, endpoint: Endpoint, traffic: Traffic) -> None:
        self._session = session
        self._endpoint = endpoint
        self._origin = URL(endpoint.base_url).origin()
        self._options = endpoint.route.request_options()
        self._timeout = aiohttp.ClientTimeout(total=endpoint.seconds, connect=10, sock_read=endpoint.seconds)
        self.traffic = traffic

    async def send(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to one request; redirects are followed with the same method.

        Redirects are not cached: names can be given up and reused, and repositories are addressed by id anyway. Raises
        `ForeignHost`, `BadAnswer`, aiohttp's client errors and `TimeoutError`.
        """
        target = self._allowed(URL(url))
        for _ in range(_MOST_REDIRECTS + 1):
            status, answer_headers, answer = await self._exchange(method, target, headers=headers, body=body)
            location = answer_headers.get("location", "")
            if status not in _METHOD_PRESERVING_REDIRECTS or not location:
                return believable(status, answer_headers, answer, cacheable=self._endpoint.cacheable)
            target = self._allowed(_joined(target, location))
        raise BadAnswer(f"more than {_MOST_REDIRECTS} redirects")

    async def _exchange(self, method: str, url: URL, *, headers: Mapping[str, str], body: bytes) -> Answer:
        status = None
        try:
            async with self._session.request(
                method,
                url,
                headers=headers,
                data=body or None,
                allow_redirects=False,
                timeout=self._timeout,
                **self._options,
            ) as response:
                content = bytearray()
                async for chunk in response.content.iter_any():
                    content += chunk
                    if len(content) > self._endpoint.largest:
                        raise BadAnswer(f"an answer above {self._endpoint.largest} bytes")
                status = response.status
                return status, _lower(response.headers), bytes(content)
        finally:
            self.traffic.record_answer("graphql" if url.path.endswith("/graphql") else "core", status)

    def _allowed(self, url: URL) -> URL:
        try:
            origin = url.origin()
        except ValueError:
            raise ForeignHost("an address without a host") from None
        if origin != self._origin or url.user is not None or url.password is not None:
            raise ForeignHost(f"refused to send a credential to {url.scheme}://{url.host}")
        return url


def open_session() -> aiohttp.ClientSession:
    """The session that all clients share: no cookies, no proxies from the environment."""
    return aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)


def is_passing(error: BaseException) -> bool:
    """True if the network failed in a way that may be gone at the next try."""
    return isinstance(error, (aiohttp.ClientError, asyncio.TimeoutError, OSError))


def is_unsent(error: BaseException) -> bool:
    """True if the connection was never made, so the request cannot have had any effect."""
    return isinstance(error, aiohttp.ClientConnectorError)


def believable(status: int, headers: Mapping[str, str], body: bytes, *, cacheable: int) -> Answer:
    """The answer in a form that gidgethub always parses: first the status decides, then the body.

    An error body becomes a JSON object with a message. An unknown status becomes the generic one of its class, and a
    403 that is not GitHub's own becomes a 502. Rate headers remain only if all three are numbers. A large answer loses
    its validators, so that it is not cached.
    """
    kept = dict(headers)
    if any(not _is_number(kept.get(name, "")) for name in _LIMIT_HEADERS):
        for name in _LIMIT_HEADERS:
            kept.pop(name, None)
    if status >= 300 and status != 304:
        answer = _object_in(body)
        if status == http.HTTPStatus.FORBIDDEN and answer is None and "retry-after" not in kept:
            # GitHub refuses in JSON: this comes from a proxy, and may be temporary.
            status = int(http.HTTPStatus.BAD_GATEWAY)
        return _known(status), kept | {"content-type": _JSON}, _error_body(answer or {})
    if len(body) > cacheable:
        kept.pop("etag", None)
        kept.pop("last-modified", None)
    return status, kept, body


def _joined(target: URL, location: str) -> URL:
    try:
        return target.join(URL(location))
    except (ValueError, TypeError):
        raise ForeignHost("a redirect to something that is not an address") from None


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        out[key] = f"{out[key]}, {value}" if key == "link" and key in out else value
    return out


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 11


def _known(status: int) -> int:
    try:
        return int(http.HTTPStatus(status))
    except ValueError:
        return 500 if status >= 500 else 400


def _object_in(body: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _error_body(answer: Mapping[str, Any]) -> bytes:
    message = str(answer.get("message") or "no reason given")[:_LONGEST_MESSAGE]
    errors = answer.get("errors")
    reported = [error for error in errors if isinstance(error, (str, dict))][:20] if isinstance(errors, list) else []
    return json.dumps({"message": message, "errors": reported}).encode()
