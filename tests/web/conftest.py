"""The webhook endpoint over real HTTP, with an inbox in memory."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from bot.github.posts import Ourselves
from bot.services.deliveries.inbox import RoutedDelivery
from bot.web.connections import ConnectionLimits, OpenConnections
from bot.web.peers import KnownSenders
from bot.web.server import BoundedRunner
from bot.web.signature import Secrets
from bot.web.webhook import NOT_STORED, Webhook, WebhookLimits
from handlers import Handlers

SECRET = "a webhook secret of forty-one characters!"
GUID = "0b989ba4-242f-11e5-81e1-c7b6966d2516"
OLD_SECRET = "an older webhook secret, still valid today"
US = Ourselves(99, "almanac[bot]")


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@dataclass
class Memory:
    """An inbox in memory by (hook, guid) that fails on request."""

    kept: dict[tuple[str, str], RoutedDelivery] = field(default_factory=dict)
    fault: Exception | None = None
    wait: Callable[[], Any] | None = None

    async def accept(self, delivery: RoutedDelivery) -> bool:
        if self.wait is not None:
            await self.wait()
        if self.fault is not None:
            raise self.fault
        new = (delivery.hook, delivery.guid) not in self.kept
        self.kept.setdefault((delivery.hook, delivery.guid), delivery)
        return new

    @property
    def jobs(self) -> list[tuple[str, dict[str, int | str]]]:
        return [(job.task, json.loads(job.ref)) for delivery in self.kept.values() for job in delivery.jobs]


@dataclass
class House:
    url: str
    inbox: Memory
    session: aiohttp.ClientSession
    errors: list[str]

    async def send(self, body: bytes, *, event: str = "push", **changed: Any) -> int:
        """Send a signed delivery with some headers changed; None leaves one out."""
        headers: dict[str, Any] = {
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": GUID,
            "X-Hub-Signature-256": sign(body),
            "Content-Type": "application/json",
        }
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        kept = {name: value for name, value in headers.items() if value is not None}
        async with self.session.post(self.url, data=body, headers=kept) as response:
            text = await response.text()
            assert text == (NOT_STORED if response.status == 503 else ""), "an answer tells a stranger nothing"
            return response.status


MakeHouse = Callable[..., Any]


@pytest.fixture
async def make_house(caplog: pytest.LogCaptureFixture) -> AsyncIterator[MakeHouse]:
    opened: list[Any] = []

    async def make(**door: Any) -> House:
        inbox = Memory()
        webhook = Webhook(
            Secrets([SECRET, OLD_SECRET]), Handlers(US), inbox=inbox, app_id=99, limits=WebhookLimits(**door)
        )
        app = web.Application()
        app.router.add_post("/webhook", webhook.handle)
        runner = BoundedRunner(app, OpenConnections(ConnectionLimits.for_files(1024), KnownSenders()))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        session = aiohttp.ClientSession(auto_decompress=False)
        opened.extend([session.close, runner.cleanup])
        return House(f"http://127.0.0.1:{runner.addresses[0][1]}/webhook", inbox, session, [])

    yield make
    for close in opened:
        await close()
    assert not [r for r in caplog.records if r.name.startswith(("aiohttp", "asyncio")) and r.levelname == "ERROR"]


@pytest.fixture
async def house(make_house: MakeHouse) -> House:
    return await make_house()  # type: ignore[no-any-return]  # the fixture's own function


def push(**more: Any) -> dict[str, Any]:
    return {
        "ref": "refs/heads/main",
        "before": "a" * 40,
        "after": "b" * 40,
        "repository": {"id": 7, "default_branch": "main"},
        "installation": {"id": 5},
        "sender": {"id": 11, "login": "person-11", "type": "User"},
    } | more


def encode(payload: Any) -> bytes:
    return json.dumps(payload).encode()
