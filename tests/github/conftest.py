"""A scripted HTTP server for tests of the transport: it gives the answers that a test sets and records requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.github.addressing import Addressing
from bot.github.client import Client, InstallationLink
from bot.github.lane import Lane
from bot.github.limits import Clock, RequestPace
from bot.github.transport import Endpoint, Traffic, Transport

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Script:
    """Answers by path with query, each list used up in turn and its last answer repeated."""

    answers: dict[str, list[web.Response | Answer]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    url: str = ""

    def on(self, path: str, *answers: web.Response | Answer | Any) -> None:
        ready = [one if callable(one) or isinstance(one, web.Response) else ok(one) for one in answers]
        self.answers[path] = ready

    def paths(self) -> list[str]:
        return [f"{one.method} {one.path}" for one in self.seen]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append(Seen(request.method, request.path_qs, headers, await request.read()))
        left = self.answers.get(request.path_qs) or self.answers.get("*")
        if not left:
            return web.json_response({"message": "Not Found"}, status=404)
        answer = left.pop(0) if len(left) > 1 else left[0]
        return copy(answer) if isinstance(answer, web.Response) else await answer(request)


def copy(answer: web.Response) -> web.Response:
    return web.Response(status=answer.status, headers=answer.headers.copy(), body=answer.body)


def ok(value: Any, *, status: int = 200, **headers: str) -> web.Response:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return web.json_response(value, status=status, headers=named)


def refused(status: int, message: str = "no", **headers: str) -> web.Response:
    return ok({"message": message}, status=status, **headers)


@dataclass
class TestClock:
    """Time that passes only by sleeping."""

    __test__ = False
    now: float = 1_000.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> Clock:
        return Clock(
            steady=lambda: self.now, wall=lambda: 1_700_000_000.0 + self.now, sleep=self.sleep, chance=lambda: 0.5
        )


@dataclass
class Word:
    """A credential that hands out words, the next one after each refusal."""

    words: list[str] = field(default_factory=lambda: ["first-token"])

    async def token(self) -> str:
        return self.words[0]

    def refuse(self, token: str) -> bool:
        if len(self.words) > 1 and self.words[0] == token:
            self.words.pop(0)
            return True
        return False


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    scripted = Script()
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", scripted.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    scripted.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield scripted
    await runner.cleanup()


@pytest.fixture
async def other(script: Script) -> AsyncIterator[Script]:
    """A second host, which must never see a token."""
    scripted = Script()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", scripted.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    scripted.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield scripted
    await runner.cleanup()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """One connection a request, so that no test depends on what another left open."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as opened:
        yield opened


@pytest.fixture
def time_passing() -> TestClock:
    return TestClock()


@pytest.fixture
def word() -> Word:
    return Word()


MakeClient = Callable[..., Client]


@pytest.fixture
def make_client(script: Script, session: aiohttp.ClientSession, time_passing: TestClock, word: Word) -> MakeClient:
    def make(
        *,
        pace: RequestPace | None = None,
        base: str = "",
        url: str = "",
        by_name: bool | None = None,
        **endpoint: Any,
    ) -> Client:
        where = Endpoint(base_url=(url or script.url) + base, **endpoint)
        clock, used = time_passing.clock(), pace or RequestPace()
        addressing, transport = Addressing(by_name), Transport(session, where, Traffic())
        wire = InstallationLink(transport, where, Lane(used, clock), used, clock, addressing=addressing)
        return Client(wire, word)

    return make


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    return make_client()


@pytest.fixture(scope="session")
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="session")
def pem(private_key: rsa.RSAPrivateKey) -> bytes:
    return private_key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
