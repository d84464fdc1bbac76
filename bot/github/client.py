"""How do requests reach GitHub, safe from rate limits, failures and foreign addresses?

A gidgethub client with what gidgethub leaves to its user: pacing, back-off, bounded retries, an API version, shape
checks, and a new token after a 401. Each installation has one client, lane and ETag cache.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from cachetools import LRUCache
from gidgethub import BadRequest, GitHubBroken, GitHubException, HTTPException
from gidgethub.abc import CACHE_TYPE, JSON_CONTENT_TYPE, GitHubAPI

from bot.github.addressing import BY_ID, Addressing
from bot.github.lane import Errand, Lane, errand_of
from bot.github.limits import Clock, Limited, RequestPace, exhausted_wait, is_query_limit, limit_wait, retry_wait
from bot.github.operations import REPOSITORY, Operation
from bot.github.payloads.reading import replace_lone_surrogates
from bot.github.transport import BadAnswer, Endpoint, ForeignHost, Traffic, Transport, is_passing, is_unsent
from bot.model.commit import Repository
from bot.model.ids import RepositoryId

__all__ = [
    "BadAnswer",
    "Client",
    "Credential",
    "ForeignHost",
    "InstallationLink",
    "Limited",
    "QueryFailed",
    "is_missing",
]

log = logging.getLogger(__name__)

_ACCEPT = "application/vnd.github+json"
MOST_PAGES = 200
_CACHED_ANSWERS = 128
_QUESTION = "QUERY"
"""the method of a GraphQL query inside this module; it is sent as a POST but changes nothing"""
_LATE_WAITS = (1.0, 2.0, 4.0)
"""seconds between tries to read what an event has just announced: GitHub's replicas lag"""


class Credential(Protocol):
    """Authenticates a client's requests."""

    async def token(self) -> str: ...

    def refuse(self, token: str) -> bool:
        """Handle a 401 for `token`; True if another token can be obtained."""


class QueryFailed(GitHubException):
    """A GraphQL query was answered with errors; `data` is the part that was answered."""

    def __init__(self, errors: Sequence[object], data: object) -> None:
        self.kinds = frozenset(_kind_of(error) for error in errors)
        """GitHub's error types; empty for an error without one"""
        super().__init__(
            f"{len(errors)} GraphQL error(s): {', '.join(kind or 'unnamed' for kind in sorted(self.kinds))}"
        )
        self.errors = errors
        self.data = data


def _kind_of(error: object) -> str:
    kind = error.get("type") if isinstance(error, dict) else None
    return kind if isinstance(kind, str) else ""


@dataclass(slots=True)
class InstallationLink:
    """What all views of one installation share."""

    transport: Transport
    endpoint: Endpoint
    lane: Lane
    pace: RequestPace
    clock: Clock
    owner: str = "app"
    """whose hourly budgets the requests spend"""
    addressing: Addressing = field(default_factory=Addressing)
    cache: CACHE_TYPE = field(default_factory=lambda: LRUCache(_CACHED_ANSWERS))


def is_missing(error: BaseException) -> bool:
    """True if an object does not exist (404) or no longer does (410: a deleted issue, or issues switched off)."""
    return isinstance(error, HTTPException) and error.status_code in (404, 410)


class Client(GitHubAPI):
    """Sends requests with one credential. Answers are shared with the cache: never modify them.

    Writes of a client that is not `urgent` leave a part of the hourly budget to others.
    """

    def __init__(self, wire: InstallationLink, credential: Credential, *, urgent: bool = True) -> None:
        super().__init__(wire.endpoint.requester, cache=wire.cache, base_url=wire.endpoint.base_url)
        self._wire = wire
        self._credential = credential
        self._urgent = urgent
        self._last_headers: Mapping[str, str] = {}

    @property
    def traffic(self) -> Traffic:
        return self._wire.transport.traffic

    # --- the interface for other modules ---

    async def read(self, operation: Operation, **variables: Any) -> dict[str, Any]:
        """The object that an operation returns. Raises gidgethub's exceptions, `Limited` and `BadAnswer`."""
        return _object((await self._ask("GET", operation.path, variables, b""))[0])

    async def read_late(self, operation: Operation, **variables: Any) -> dict[str, Any]:
        """Like `read`, but retries a 404 before believing it: right after an event it often means a lagging replica."""
        page, _, _ = await self._read_page(operation.path, variables, late=True)
        return _object(page)

    async def items(
        self, operation: Operation, *, most: int | None = None, **variables: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """Each element of a list, page by page and each id once; `most` as in `pages`.

        Raises `BadAnswer` if there are fewer than the answer's own `total_count`.
        """
        seen: set[object] = set()
        total = 0
        async for page in self.pages(operation, most=most, **variables):
            elements = page.get(operation.items) if operation.items and isinstance(page, dict) else page
            if not isinstance(elements, list):
                raise BadAnswer(f"no list in the answer to {operation.path}")
            total = stated_total(page)
            for element in map(_object, elements):
                identity = element.get("id") or element.get("sha") or len(seen)
                if identity not in seen:
                    seen.add(identity)
                    yield element
        if len(seen) < total:
            raise BadAnswer(f"{len(seen)} of {total} elements of {operation.path}")

    async def pages(
        self, operation: Operation, *, late: bool = False, most: int | None = None, **variables: Any
    ) -> AsyncIterator[Any]:
        """Each page of an answer, following `Link` (only to the configured host); `late` works as in `read_late`.

        Raises `BadAnswer` after `most` pages (None: 200), so that an endless list is not followed forever.
        """
        url, most = operation.path, most or MOST_PAGES
        for turn in range(most):
            page, more, _status = await self._read_page(url, variables, late=late and not turn)
            yield page
            if more is None:
                return
            url = more
        raise BadAnswer(f"more than {most} pages of {operation.path}")

    async def write(self, operation: Operation, body: Mapping[str, Any] | None = None, **variables: Any) -> Any:
        """The answer to a writing operation. A 422 is never retried."""
        data = b"" if body is None else dict(body)
        answer, _, _ = await self._ask(operation.method, operation.path, variables, data)
        return answer

    async def query(self, text: str, **variables: Any) -> dict[str, Any]:
        """The `data` of a read-only GraphQL query. Raises `QueryFailed`, with any partial data, if there are errors."""
        return await self._ask_graph(_QUESTION, text, variables)

    async def mutate(self, text: str, **variables: Any) -> dict[str, Any]:
        """The `data` of a GraphQL mutation: paced as a write, not resent if its answer was lost. Raises like query."""
        return await self._ask_graph("POST", text, variables)

    async def _ask_graph(self, method: str, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        body = {"query": text, "variables": variables}
        answer = _object((await self._make_request(method, self._wire.endpoint.graphql_url, {}, body, _ACCEPT))[0])
        if answer.get("errors"):
            raise QueryFailed(answer["errors"], answer.get("data"))
        return _object(answer.get("data"))

    async def graphql(self, query: str, *, endpoint: str = "", **variables: Any) -> Any:
        """gidgethub's name for `query`; the endpoint must be the configured one."""
        if endpoint not in ("", self._wire.endpoint.graphql_url):
            raise ForeignHost("GraphQL is asked at the configured endpoint only")
        return await self.query(query, **variables)

    def repository_path(self, repository: Repository) -> str:
        """The path prefix: by id, so that a rename changes nothing, unless the host needs names."""
        if repository.id is None or self._wire.addressing.by_name:
            return f"repos/{repository.full_name}"
        return f"{BY_ID}{repository.id}"

    async def read_repository(self, number: RepositoryId) -> dict[str, Any]:
        """GitHub's answer about a repository."""
        by_name = self._wire.addressing.by_name
        found = await self._wire.addressing.found_by_name(number, self._read_at) if by_name else None
        return found or await self.read(REPOSITORY, repository=f"{BY_ID}{number}")

    async def token(self) -> str:
        """The credential itself, for git over https: keep it out of command lines, files and logs."""
        return await self._credential.token()

    async def _read_page(self, url: str, variables: Mapping[str, Any], *, late: bool) -> tuple[Any, str | None, int]:
        for wait in _LATE_WAITS if late else ():
            try:
                return await self._ask("GET", url, variables, b"")
            except BadRequest as error:
                if _status(error) != HTTPStatus.NOT_FOUND:
                    raise
                await self.sleep(wait)
        return await self._ask("GET", url, variables, b"")

    async def _ask(self, method: str, url: str, variables: Mapping[str, Any], data: Any) -> tuple[Any, str | None, int]:
        """One request; asked again by name if the host finds no repository by its id."""
        try:
            answer = await self._make_request(method, url, variables, data, _ACCEPT)
        except BadRequest as error:
            addressing, missing = self._wire.addressing, is_missing(error)
            named = await addressing.variables_by_name(variables, self._read_at) if missing else None
            if named is None:
                raise
            return await self._make_request(method, url, named, data, _ACCEPT)
        self._wire.addressing.note_answer(variables)
        return answer

    async def _read_at(self, address: str) -> dict[str, Any]:
        return _object((await self._make_request("GET", REPOSITORY.path, {"repository": address}, b"", _ACCEPT))[0])

    # --- the interface for gidgethub ---

    async def _make_request(
        self,
        method: str,
        url: str,
        url_vars: Mapping[str, Any] | None,
        data: Any,
        accept: str,
        jwt: str | None = None,
        oauth_token: str | None = None,
        content_type: str = JSON_CONTENT_TYPE,
        extra_headers: dict[str, str] | None = None,
    ) -> tuple[Any, str | None, int]:
        """One logical request, retried while that is safe and bounded, with a new token after one 401."""
        headers = {"x-github-api-version": self._wire.endpoint.api_version} | (extra_headers or {})
        attempt, refreshed = 1, False
        while True:
            token = oauth_token or jwt or await self._credential.token()
            headers["authorization"] = f"Bearer {token}"
            try:
                answer = await super()._make_request(
                    method, url, url_vars, data, _ACCEPT, content_type=content_type, extra_headers=headers
                )
                return self._checked(answer, url, errand_of(method, url))
            except Exception as error:
                if _status(error) == 401 and not refreshed and self._credential.refuse(token):
                    refreshed = True
                    continue
                await self._await_retry(error, method=method, url=url, attempt=attempt)
                attempt += 1

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        sent = "POST" if method == _QUESTION else method
        errand = errand_of(method, url, urgent=self._urgent)
        async with self._wire.lane.turn(errand):
            status, answered, content = await self._wire.transport.send(sent, url, headers=headers, body=body)
            self._last_headers = answered
            self.traffic.record_budget(errand.resource, self._wire.owner, answered)
            exhausted = exhausted_wait(answered, self._wire.clock.wall())
            if exhausted is not None:
                named = answered.get("x-ratelimit-resource")
                await self._wire.lane.pause("graphql" if named == "graphql" else errand.resource, exhausted)
            return status, answered, replace_lone_surrogates(content)

    async def sleep(self, seconds: float) -> None:
        await self._wire.clock.sleep(seconds)

    # --- failures ---

    def _checked(self, answer: tuple[Any, str | None, int], url: str, errand: Errand) -> tuple[Any, str | None, int]:
        if answer[2] != 204 and not isinstance(answer[0], (dict, list)):
            raise BadAnswer("an answer that is not JSON")
        if url == self._wire.endpoint.graphql_url and is_query_limit(answer[0]):
            # GraphQL also reports its limits with status 200; from here on such an answer counts as a refusal.
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, "GraphQL limit", headers=self._last_headers)
        self._wire.lane.hits[errand.refused_limit] = 0
        return answer

    async def _await_retry(self, error: Exception, *, method: str, url: str, attempt: int) -> None:
        """Return after the pause if the request may be retried; otherwise raise."""
        limit = errand_of(method, url).refused_limit
        limited = self._limit(error, hits=self._wire.lane.hits[limit] + 1)
        if limited is not None:
            self._wire.lane.hits[limit] += 1
            self.traffic.limits[limit] += 1
            about = {"limit": limit, "installation": self._wire.owner, "wait_seconds": round(limited)}
            log.warning("GitHub limits requests", extra=about)
            await self._wire.lane.pause(limit, limited)
            if limited > self._wire.pace.patience or attempt >= self._wire.pace.attempts:
                raise Limited(limited) from error
            return
        if attempt >= self._wire.pace.attempts or not may_repeat(error, method, url):
            raise _as_bad_answer(error)
        await self.sleep(retry_wait(attempt, self._wire.clock.chance()))

    def _limit(self, error: Exception, *, hits: int) -> float | None:
        if not isinstance(error, HTTPException):
            return None
        wall = self._wire.clock.wall()
        return limit_wait(int(error.status_code), error.headers, message=str(error), hits=hits, wall=wall)


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadAnswer("an answer that is not an object")
    return value


def stated_total(page: Any) -> int:
    total = page.get("total_count") if isinstance(page, dict) else None
    return total if isinstance(total, int) else 0


def _status(error: Exception) -> int:
    return int(error.status_code) if isinstance(error, HTTPException) else 0


def _is_broken(error: Exception) -> bool:
    """True if GitHub or the network failed, as opposed to a refusal."""
    unparsed = isinstance(error, (ValueError, LookupError, RecursionError))
    return isinstance(error, (GitHubBroken, BadAnswer)) or unparsed or is_passing(error)


def may_repeat(error: Exception, method: str, url: str) -> bool:
    """A POST may have taken effect although its answer was lost, so only harmless ones are sent again."""
    harmless = method != "POST" or url.endswith("/access_tokens")
    return _is_broken(error) and (harmless or is_unsent(error))


def _as_bad_answer(error: Exception) -> Exception:
    """Report a body that cannot be parsed as a `BadAnswer`."""
    if isinstance(error, (ValueError, LookupError, RecursionError)):
        return BadAnswer(f"an answer that cannot be parsed ({type(error).__name__})")
    return error
