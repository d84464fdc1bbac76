"""A process without credentials against the simulated GitHub, and the browser of the person who registers its App."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp

from bot.cli.operating import run as operating
from bot.configuration.settings import Settings
from bot.configuration.values import GitHubAddress
from simulator.demo import free_port
from simulator.server import PREFIX, Simulator


def bare_settings(github: Simulator, data: Path, **more: Any) -> Settings:
    """What an operator has who has set nothing but where things are."""
    port = free_port()
    given: dict[str, Any] = {
        "database_url": f"sqlite:///{data / 'almanac.db'}",
        "data": data,
        "github": GitHubAddress(github.url, github.url + PREFIX, github.url + "/api/graphql"),
        "port": port,
        "public_url": f"http://127.0.0.1:{port}",
        "write_gap": 0.0,
    }
    return Settings(**(given | more))


@dataclass
class Visitor:
    """A browser without JavaScript: it reads pages, sends their forms and follows redirects."""

    session: aiohttp.ClientSession
    base: str

    async def get(self, address: str) -> tuple[int, str, Any]:
        target = address if address.startswith("http") else self.base + address
        async with self.session.get(target, allow_redirects=False) as answer:
            return answer.status, await answer.text(), answer.headers

    async def post(self, address: str, form: dict[str, str]) -> tuple[int, str, Any]:
        target = address if address.startswith("http") else self.base + address
        sent = {"Content-Type": "application/x-www-form-urlencoded"}
        async with self.session.post(target, data=urlencode(form), headers=sent, allow_redirects=False) as answer:
            return answer.status, await answer.text(), answer.headers

    async def handed_over(
        self, path: str, organisation: str, github: str, *, name: str = ""
    ) -> tuple[str, dict[str, Any], Any]:
        """The form that goes to GitHub: its address, its manifest, and the page's headers."""
        answers = {"organisation": organisation, "github": github, "name": name}
        status, text, headers = await self.post(path, answers)
        assert status == 200, text
        found = re.search(r'<form method=post action="([^"]+)"><input type=hidden name=manifest value="([^"]+)"', text)
        assert found, text
        return html.unescape(found[1]), json.loads(html.unescape(found[2])), headers

    async def registered(self, path: str, organisation: str, github: str) -> tuple[int, str, str]:
        """The whole way: the status and text of the last page, and the address the browser ended at."""
        action, manifest, _ = await self.handed_over(path, organisation, github)
        status, _, headers = await self.post(action, {"manifest": json.dumps(manifest)})
        assert status == 302
        status, text, _ = await self.get(headers["Location"])
        return status, text, headers["Location"]


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[asyncio.Task[None]]:
    """`almanac serve`, until the block ends."""
    stopping = asyncio.Event()
    running = asyncio.create_task(operating.serve_or_register(settings, stopping))
    try:
        yield running
    finally:
        stopping.set()
        await asyncio.wait_for(running, 60)


@asynccontextmanager
async def visitor(settings: Settings) -> AsyncIterator[Visitor]:
    """A browser, once something listens."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        found = Visitor(session, settings.public_url)
        await until(lambda: _answers(found))
        yield found


async def until(happened: Any, seconds: float = 60.0) -> None:
    """Returns once the awaited condition holds."""
    async with asyncio.timeout(seconds):
        while not await happened():  # noqa: ASYNC110 (asked over HTTP, there is no event to wait for)
            await asyncio.sleep(0.02)


async def _answers(browser: Visitor) -> bool:
    try:
        return (await browser.get("/healthz"))[0] == 200
    except aiohttp.ClientError:
        return False
