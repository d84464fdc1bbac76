"""How does the simulated GitHub run? As an HTTP server on loopback.

`async with Simulator() as github:` starts it on a free port; `github.url` is the base URL to configure a GitHub App
with, and `github.api_url` the root of the REST API.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from email.utils import format_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from aiohttp import web
from msgspec import Struct

from simulator import faults as faulty
from simulator import graphql
from simulator.access import Caller, RefusedError, identify
from simulator.browser_pages import page_for
from simulator.calls import ApiResponse, Call
from simulator.clones import serve_clone
from simulator.deliveries import Deliveries
from simulator.faults import Fault, Faults
from simulator.lies import LAG
from simulator.routes import find_route
from simulator.routes.apps import VERSIONS
from simulator.state import Clock, Json, SimRepository, State, utc_now
from simulator.work import Activity

PREFIX = "/api/v3"
GRAPHQL = "/api/graphql"
HOUR = 3600
DOCUMENTATION = "https://docs.github.com/rest"


class Exchange(Struct, frozen=True):
    """One request and its answer, for an observer. `path` has no API prefix and names the repository, not its id."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    status: int
    answer: Any
    headers: dict[str, str]


Observer = Callable[[Exchange], None]


class Simulator(Activity):
    """A simulated GitHub: state, activity, deliveries, faults, and a log of requests."""

    def __init__(self, *, clock: Clock = utc_now, observer: Observer | None = None, rate_limit: int = 5000) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="simulated-github-", ignore_cleanup_errors=True)
        state = State(Path(self._folder.name), clock)
        super().__init__(state, Deliveries(state))
        self.faults = Faults()
        self.requests: list[str] = []
        """every API request in order, for example `GET /repos/o/r/pulls/1`"""
        self.rate_limit = rate_limit
        self._observer = observer
        self.points: Counter[str] = Counter()
        """GraphQL points spent, by caller"""
        self._used: Counter[tuple[str, int]] = Counter()
        self._runner: web.AppRunner | None = None
        self._pump: asyncio.Task[None] | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{tail:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.api_url = self.url + PREFIX
        self._pump = asyncio.create_task(self.deliveries.pump())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pump:
            self._pump.cancel()
            with suppress(asyncio.CancelledError):
                await self._pump
        if self._runner:
            await self._runner.cleanup()
        self._folder.cleanup()

    async def wait_until_idle(self) -> None:
        """Return once every delivery so far has been attempted."""
        await self.deliveries.wait_until_idle()

    def count(self, pattern: str) -> int:
        """The number of requests that match a regular expression over "METHOD /path"."""
        return sum(bool(re.search(pattern, request)) for request in self.requests)

    # -- serving

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = request.raw_path.partition("?")[0]
        if page := page_for(request):
            return await page(self, request)
        if path == GRAPHQL:
            path = f"{PREFIX}/graphql"
        if not path.startswith(PREFIX + "/"):
            return await self._serve_git(request)
        path = unquote(path.removeprefix(PREFIX))
        self.requests.append(f"{request.method} {path}")
        await request.read()  # before anything that may go wrong: what is sent has arrived
        fault = self._fault(request, path)
        return await (self._answer_faultily(fault, request, path) if fault else self._answer(request, path))

    def _fault(self, request: web.Request, path: str) -> Fault | None:
        fault = self.faults.next_for(f"{request.method} {path}")
        if fault is None or fault.kind not in ("scope", "revoked"):
            return fault
        value = request.headers.get("Authorization", "").partition(" ")[2]
        if fault.kind == "revoked":
            self.faults.counted["revoked"] += self.state.tokens.pop(value, None) is not None  # so the answer is 401
            return None
        return fault if faulty.is_young(self.state.tokens.get(value), self.state.clock()) else None

    async def _answer_faultily(self, fault: Fault, request: web.Request, path: str) -> web.StreamResponse:
        now = self.state.clock()
        self.faults.counted[fault.kind] += 1
        failed = await faulty.fail(fault, request)
        if failed is not None:
            return failed
        if fault.kind == "lag" and self._is_unknown_to_replicas(request.method, path, now):
            return web.json_response({"message": "Not Found", "documentation_url": DOCUMENTATION}, status=404)
        answer = await self._answer(request, path, exhausted=fault.kind == "primary")
        return faulty.cut_off(request) if fault.kind == "lost" else self.faults.spoil(fault, answer, now)

    def _is_unknown_to_replicas(self, method: str, path: str, now: datetime) -> bool:
        """Whether a write is about a repository whose newest commit has not reached all replicas."""
        repo, _ = self._find_repository(path)
        if method == "GET" or repo is None or repo.git.tip is None:
            return False
        return now - repo.git.commits[repo.git.tip].draft.committed_at < LAG

    async def _serve_git(self, request: web.Request) -> web.StreamResponse:
        full_name, ending, _ = request.path.lstrip("/").partition(".git/")
        repo = self.state.repository(full_name) if ending else None
        if repo is None:
            return web.json_response({"message": "Not Found"}, status=404)
        return await serve_clone(self.state, repo, request)

    async def _answer(self, request: web.Request, path: str, *, exhausted: bool = False) -> web.Response:
        raw = await request.read()
        caller = Caller()
        try:
            body = json.loads(raw) if raw else {}
            caller = identify(self.state, request.headers.get("Authorization", ""))
            self._check_limits(request, caller, exhausted=exhausted)
            answer = self._query(caller, body) if path == "/graphql" else self._dispatch(request, path, caller, body)
        except RefusedError as refused:
            shape: Json = {
                "message": refused.message,
                "documentation_url": DOCUMENTATION,
                "status": str(refused.status),
            }
            answer, body = (
                ApiResponse(shape | ({"errors": refused.errors} if refused.errors else {}), refused.status),
                None,
            )
        except json.JSONDecodeError:
            answer, body = ApiResponse({"message": "Problems parsing JSON"}, 400), None
        return self._respond(request, answer, seen=(path, body, caller))

    def _check_limits(self, request: web.Request, caller: Caller, *, exhausted: bool) -> None:
        version = request.headers.get("X-GitHub-Api-Version", VERSIONS[-1])
        if version not in VERSIONS:
            raise RefusedError(400, f"Version {version} is not supported")
        window = self._window()
        self._used[caller.name, window] += request.path != GRAPHQL  # which counts points instead
        if exhausted:
            self._used[caller.name, window] = self.rate_limit + 1
        if self._used[caller.name, window] > self.rate_limit:
            raise RefusedError(403, f"API rate limit exceeded for {caller.name}.")

    def _window(self) -> int:
        return (int(self.state.clock().timestamp()) // HOUR + 1) * HOUR

    def _query(self, caller: Caller, body: Json) -> ApiResponse:
        used, reset = self._used[f"{caller.name}, points", self._window()], self._window()
        found, cost = graphql.answer(self.state, caller, body, used=used, reset=reset)
        self._used[f"{caller.name}, points", reset] += cost
        self.points[caller.name] += cost
        return ApiResponse(found)

    def _dispatch(self, request: web.Request, path: str, caller: Caller, body: Json) -> ApiResponse:
        repo, named_path = self._find_repository(path)
        found = find_route(request.method, named_path)
        if found is None:
            raise RefusedError(404, "Not Found")
        route, names = found
        if route.needs and repo is None:
            return self._redirect(path, names)
        if repo and route.needs:
            caller.demand(self.state, repo, route.needs)
        return route.answer(Call(self, caller, named_path, names, request.query, body, repo))

    def _find_repository(self, path: str) -> tuple[SimRepository | None, str]:
        """The repository of a path, and the path by name: `/repositories/{id}/…` equals `/repos/…`."""
        parts = path.split("/")
        if parts[1] == "repositories" and len(parts) > 2 and parts[2].isdecimal():
            repo = self.state.repositories.get(int(parts[2])) if self.state.serves_ids else None
            name = repo.full_name if repo else "unknown/unknown"
            return repo, "/".join(["", "repos", name, *parts[3:]])
        if parts[1] == "repos" and len(parts) > 3:
            return self.state.repository("/".join(parts[2:4])), path
        return None, path

    def _redirect(self, path: str, names: dict[str, str]) -> ApiResponse:
        """Answer 301 for a renamed repository, with its address by id."""
        id_ = self.state.old_names.get(f"{names['owner']}/{names['repo']}".lower())
        if id_ is None:
            raise RefusedError(404, "Not Found")
        target = "/".join([f"{self.api_url}/repositories/{id_}", *path.split("/")[4:]])
        message = {"message": "Moved Permanently", "url": target, "documentation_url": DOCUMENTATION}
        return ApiResponse(message, 301, {"Location": target})

    def _respond(self, request: web.Request, answer: ApiResponse, *, seen: tuple[str, Any, Caller]) -> web.Response:
        path, body, caller = seen
        headers = dict(answer.headers)
        text = b"" if answer.status == 204 else json.dumps(answer.body).encode()
        status = answer.status
        if request.method == "GET" and status == 200:
            secret = caller.token.value if caller.token else ""
            headers["ETag"] = 'W/"' + hashlib.sha256(secret.encode() + text).hexdigest() + '"'
            if request.headers.get("If-None-Match") == headers["ETag"]:
                status, text = 304, b""
                self._used[caller.name, self._window()] -= 1
        headers |= self._limit_headers(caller, path) | {"Date": format_datetime(self.state.clock(), usegmt=True)}
        self._observe(request, path, exchange=(body, status, answer.body if text else None, headers))
        kind = {"content_type": "application/json", "charset": "utf-8"} if text else {}
        return web.Response(status=status, body=text, headers=headers, **kind)  # type: ignore[arg-type]  # both are text

    def _limit_headers(self, caller: Caller, path: str) -> dict[str, str]:
        window, is_query = self._window(), path == "/graphql"
        used = self._used[f"{caller.name}, points" if is_query else caller.name, window]
        figures = {"Limit": self.rate_limit, "Remaining": max(0, self.rate_limit - used), "Reset": window, "Used": used}
        return {f"X-RateLimit-{name}": str(figure) for name, figure in figures.items()} | {
            "X-RateLimit-Resource": "graphql" if is_query else "core"
        }

    def _observe(self, request: web.Request, path: str, *, exchange: tuple[Any, int, Any, dict[str, str]]) -> None:
        if self._observer and path != "/graphql":  # GraphQL is checked against GitHub's schema when it is answered
            _, named = self._find_repository(path)
            query = {name: request.query.getall(name) for name in request.query}
            self._observer(Exchange(request.method, named, query, *exchange))
