"""How do the simulator's tests ask it something? As a GitHub App does: with a JWT, or with a token made by it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import aiohttp
import jwt

from simulator.server import Simulator
from simulator.state import SimAccount, SimApp, SimInstallation, SimPullRequest, SimRepository
from simulator.work import NewPullRequest, Step

AT = datetime(2026, 4, 2, 9, tzinfo=UTC)


def app_token(app: SimApp, *, age: int = 60, life: int = 500) -> str:
    now = int(time.time())
    claims = {"iat": now - age, "exp": now + life, "iss": str(app.id)}
    return jwt.encode(claims, app.private_key, algorithm="RS256")


@dataclass
class Scene:
    """An organisation with one repository and an installed App."""

    github: Simulator
    author: SimAccount
    reviewer: SimAccount
    app: SimApp
    repo: SimRepository
    installation: SimInstallation

    @classmethod
    def on(cls, github: Simulator, *, webhook_url: str | None = None) -> Scene:
        org = github.organisation("fenland")
        author, reviewer = github.account("ada-fen", name="Ada Fen"), github.account("jo-marsh", name="Jo Marsh")
        app = github.register_app("almanac", org, webhook_url=webhook_url)
        repo = github.create_repository("fenland/reeds", at=AT, files={"README.md": "# Reeds\n"})
        return cls(github, author, reviewer, app, repo, github.install(app, org))

    def pull(self, name: str = "one", *, content: str = "print(1)\n") -> SimPullRequest:
        steps = [Step(f"Add {name}\n\nBecause.", {f"src/{name}.py": content})]
        return self.github.open_pull(
            self.repo, NewPullRequest(f"Add {name}", self.author, steps, name, "Because."), at=AT
        )

    async def ask(
        self, method: str, path: str, token: str | None, **options: Any
    ) -> tuple[int, Any, Mapping[str, str]]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= options.pop("headers", {})
        url = path if path.startswith("http") else self.github.api_url + path
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, url, headers=headers, allow_redirects=False, **options) as answer,
        ):
            body = await answer.json() if answer.content_type == "application/json" else None
            return answer.status, body, answer.headers

    async def token(self, **narrowed: Any) -> str:
        path = f"/app/installations/{self.installation.id}/access_tokens"
        _, body, _ = await self.ask("POST", path, app_token(self.app), json=narrowed)
        return str(body["token"])
