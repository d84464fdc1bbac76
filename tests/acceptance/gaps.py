"""What does the emulator lack that GitHub has? A proxy in front of it fills the gaps, and changes nothing else.

The API is served below /api/v3, as on GitHub Enterprise Server. The proxy adds `/repositories/{id}/…`,
`/installation/repositories`, the accounts of commits' authors, a list of issues by GraphQL, and a pull request's
files, commits and counts, derived from the emulator's own comparison. Deliveries pass through with body and signature
unchanged; the emulator numbers them by the millisecond, so two may share a number: each gets a delivery id of its own.
"""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

PREFIX = "/api/v3"
HOP_BY_HOP = {"host", "content-length", "transfer-encoding", "connection", "content-encoding", "date", "server"}
PULL = re.compile(r"/repos/([^/]+/[^/]+)/pulls/(\d+)(/files|/commits)?")


@dataclass
class Proxy:
    """A proxy between the bot and the emulator. `emulator` and `hook` are set once their ports are known."""

    emulator: str = ""
    hook: str = ""
    repositories: tuple[str, ...] = ()
    logins: dict[str, str] = field(default_factory=dict)
    """the accounts' logins by their addresses"""
    handled: list[tuple[str, str, int]] = field(default_factory=list)
    """(event, action, the bot's answer) of each forwarded delivery"""
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    """of deliveries, two of which may be in progress at the same time"""
    refused: list[str] = field(default_factory=list)
    """requests that the emulator could not answer: 4xx and 5xx"""
    url: str = ""
    _session: aiohttp.ClientSession | None = None
    _runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application(client_max_size=30 * 2**20)
        app.router.add_post("/deliveries", self._deliver)
        app.router.add_post("/api/graphql", self._query)
        app.router.add_route("*", PREFIX + "/{path:.*}", self._ask)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self._session = aiohttp.ClientSession(auto_decompress=True)

    async def stop(self) -> None:
        if self._session:
            await self._session.close()
        if self._runner:
            await self._runner.cleanup()

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the proxy has not been started")
        return self._session

    async def _deliver(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        headers["X-GitHub-Delivery"] = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{next(self._numbers)}"))
        async with self.session.post(self.hook, data=body, headers=headers) as answer:
            action = (await request.json()).get("action", "")
            self.handled.append((request.headers["X-GitHub-Event"], action, answer.status))
            return web.Response(status=answer.status, body=await answer.read())

    async def _ask(self, request: web.Request) -> web.Response:
        path = request.raw_path.removeprefix(PREFIX)
        named = await self._by_name(path, request)
        if named.partition("?")[0] == "/installation/repositories":
            return web.json_response(await self._repositories(request))
        found = PULL.fullmatch(named.partition("?")[0])
        if found and request.method == "GET":
            return await self._pull(request, named, found)
        status, headers, body = await self._forward(request.method, named, request, await request.read())
        if status == 200 and request.method == "GET" and re.search(r"/(commits|compare)/", named):
            body = json.dumps(await self._with_accounts(json.loads(body), request)).encode()
        return web.Response(status=status, headers=headers, body=body)

    async def _query(self, request: web.Request) -> web.Response:
        """The only query of the journeys: a repository's newest issues."""
        asked = (await request.json())["variables"]
        repository = f"/repos/{asked['owner']}/{asked['name']}"
        rows = await self._json(f"{repository}/issues?state=all&per_page=100", request)
        issues = [
            {"number": row["number"], "body": row["body"] or "", "viewerDidAuthor": row["user"]["login"].endswith("]")}
            for row in rows
            if not row.get("pull_request")
        ]
        found = {"totalCount": len(issues), "nodes": issues, "pageInfo": {"hasNextPage": False, "endCursor": None}}
        number = (await self._json(repository, request))["id"]
        return web.json_response({"data": {"repository": {"databaseId": number, "issues": found}}})

    async def _with_accounts(self, answer: Any, request: web.Request) -> Any:
        """The commits in an answer with the account of their author: the emulator resolves no address."""
        if isinstance(answer, list):
            return [await self._with_accounts(one, request) for one in answer]
        if not isinstance(answer, dict):
            return answer
        found = {name: await self._with_accounts(value, request) for name, value in answer.items()}
        stated = found.get("commit")
        if isinstance(stated, dict) and "sha" in found and isinstance(stated.get("author"), dict):
            login = self.logins.get(stated["author"].get("email", ""))
            found["author"] = found.get("author") or (await self._json(f"/users/{login}", request) if login else None)
        return found

    async def _forward(
        self, method: str, path: str, request: web.Request, body: bytes = b""
    ) -> tuple[int, dict[str, str], bytes]:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        async with self.session.request(
            method, self.emulator + path, headers=headers, data=body or None, allow_redirects=False
        ) as answer:
            if answer.status >= 400:
                self.refused.append(f"{method} {path} -> {answer.status}")
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP}
            return answer.status, kept, await answer.read()

    async def _json(self, path: str, request: web.Request) -> Any:
        headers = {"Authorization": request.headers.get("Authorization", "")}
        async with self.session.get(self.emulator + path, headers=headers) as answer:
            return await answer.json()

    async def _by_name(self, path: str, request: web.Request) -> str:
        """`/repositories/{id}/rest` as `/repos/{full name}/rest`."""
        found = re.match(r"/repositories/(\d+)(?=[/?]|$)", path)
        if not found:
            return path
        repository = await self._json(found[0], request)
        return f"/repos/{repository.get('full_name', 'unknown/unknown')}{path[found.end() :]}"

    async def _repositories(self, request: web.Request) -> dict[str, Any]:
        rows = [await self._json(f"/repos/{name}", request) for name in self.repositories]
        return {"total_count": len(rows), "repository_selection": "all", "repositories": rows}

    async def _pull(self, request: web.Request, path: str, found: re.Match[str]) -> web.Response:
        """A pull request with counts, files or commits from the emulator's comparison."""
        pull = await self._json(f"/repos/{found[1]}/pulls/{found[2]}", request)
        if "base" not in pull:
            status, headers, body = await self._forward("GET", path, request)
            return web.Response(status=status, headers=headers, body=body)
        # The proxy uses its own token: one narrowed to pull requests may not compare.
        async with self.session.get(
            f"{self.emulator}/repos/{found[1]}/compare/{pull['base']['sha']}...{pull['head']['sha']}",
            headers={"Authorization": "Bearer author-token"},
        ) as answer:
            compared = await answer.json()
        if found[3]:
            return web.json_response(compared[found[3][1:]])
        files = compared["files"]
        counts = {"commits": len(compared["commits"]), "changed_files": len(files)}
        sums = {name: sum(file[name] for file in files) for name in ("additions", "deletions")}
        return web.json_response(pull | counts | sums)
