"""Are relayed deliveries accepted only as GitHub signed them, and is a lost channel retried with growing delays?"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from bot.setup.relay import ChannelError, EventStream, Relay, RelayedDelivery
from tests.web.conftest import House, MakeHouse, make_house, push, sign

from .running import until

__all__ = ["make_house"]


@dataclass
class Channel:
    """A smee server: it parses each body and writes it again, as JSON.stringify does."""

    url: str = ""
    keeps_bytes: bool = False
    connections: int = 0
    refusals: int = 0
    """how many of the next connections are answered 502"""
    _followers: list[asyncio.Queue[str | None]] = field(default_factory=list)

    async def follow(self, request: web.Request) -> web.StreamResponse:
        self.connections += 1
        if self.refusals:
            self.refusals -= 1
            return web.Response(status=502, text="<html>")
        assert request.headers["Accept"] == "text/event-stream"
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._followers.append(queue)
        await response.write(b"id: 0\nevent: ready\ndata: {}\n\n")
        while (message := await queue.get()) is not None:
            await response.write(f"id: 1\ndata: {message}\n\n".encode())
        return response

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        told: dict[str, Any] = {name.lower(): value for name, value in request.headers.items()}
        if self.keeps_bytes:
            told["bodyB"] = base64.b64encode(body).decode()
        else:
            told |= {"body": json.loads(body), "query": {}, "timestamp": 1}
        self.say(json.dumps(told, separators=(",", ":"), ensure_ascii=False))
        return web.Response()

    def say(self, message: str) -> None:
        for queue in self._followers:
            queue.put_nowait(message)

    def hang_up(self) -> None:
        for queue in self._followers:
            queue.put_nowait(None)
        self._followers.clear()

    @property
    def followed(self) -> bool:
        return bool(self._followers)


@asynccontextmanager
async def channel(**more: Any) -> AsyncIterator[Channel]:
    found = Channel(**more)
    app = web.Application()
    app.router.add_get("/ours", found.follow)
    app.router.add_post("/ours", found.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/ours"
    try:
        yield found
    finally:
        found.hang_up()
        await runner.cleanup()


@asynccontextmanager
async def followed(through: Channel, house: House) -> AsyncIterator[list[float]]:
    """A relay from the channel to the webhook; the pauses it made. Whatever ails the store has passed at the second."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            house.inbox.fault = None
        await asyncio.sleep(0)

    task = asyncio.create_task(Relay(through.url, house.url, sleep=sleep).follow())
    try:
        await until(lambda: _true(through.followed))
        yield pauses
    finally:
        task.cancel()


async def _true(value: bool) -> bool:
    return value


async def _send(through: Channel, body: bytes, signature: str = "", guid: str = "0b989ba4") -> None:
    headers = {
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": guid,
        "X-Hub-Signature-256": signature or sign(body),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "Content-Type": "application/json",
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(through.url, data=body, headers=headers) as answer,
    ):
        assert answer.status == 200


def compact(payload: Any) -> bytes:
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()


async def _kept(house: House) -> bool:
    return bool(house.inbox.kept)


async def test_a_relayed_delivery_reaches_the_webhook_with_the_bytes_github_signed(make_house: MakeHouse) -> None:
    house = await make_house()
    body = compact(push(note='Ünïcode, \u2028, 🎉, \\ and " and </script>', big=9007199254740991))
    async with channel() as through, followed(through, house):
        await _send(through, body)
        await until(lambda: _kept(house))
    (delivery,) = house.inbox.kept.values()
    assert (delivery.hook, delivery.guid, delivery.event, delivery.body) == ("app:99", "0b989ba4", "push", body)


async def test_deliveries_altered_by_the_relay_are_refused_and_reported(
    make_house: MakeHouse, caplog: pytest.LogCaptureFixture
) -> None:
    house = await make_house()
    async with channel() as through, followed(through, house):
        await _send(through, json.dumps(push(), indent=1).encode(), guid="indented")
        await _send(through, compact(push()), signature="sha256=" + "0" * 64, guid="forged")
        await _send(through, compact(push()), guid="whole")
        await until(lambda: _kept(house))
    assert [guid for _, guid in house.inbox.kept] == ["whole"]
    refused = [vars(record)["delivery"] for record in caplog.records if "changed the signed bytes" in record.message]
    assert refused == ["indented", "forged"]


async def test_a_relay_channel_that_preserves_the_bytes_loses_nothing(make_house: MakeHouse) -> None:
    house = await make_house()
    body = json.dumps(push(size=1.0), indent=1).encode()
    async with channel(keeps_bytes=True) as through, followed(through, house):
        await _send(through, body)
        await until(lambda: _kept(house))
    assert [delivery.body for delivery in house.inbox.kept.values()] == [body]


async def test_a_lost_relay_channel_is_retried_with_growing_delays(make_house: MakeHouse) -> None:
    house = await make_house()
    async with channel() as through, followed(through, house) as pauses:
        through.refusals = 8
        through.hang_up()
        await until(lambda: _true(through.followed))
        assert through.connections == 10
        assert len(pauses) == 9
        means = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
        assert all(0.75 * mean <= pause <= 1.25 * mean for pause, mean in zip(pauses, means, strict=True))
        await _send(through, compact(push()))
        await until(lambda: _kept(house))


async def test_a_webhook_that_is_briefly_unavailable_is_retried(make_house: MakeHouse) -> None:
    house = await make_house()
    house.inbox.fault = OSError("disk")
    async with channel() as through, followed(through, house) as pauses:
        await _send(through, compact(push()))
        await until(lambda: _kept(house))
    assert pauses == [1.0, 2.0]


async def test_noise_on_the_channel_does_no_harm(make_house: MakeHouse) -> None:
    house = await make_house()
    noise = (
        "{}",
        "[]",
        "no json",
        "[" * 50_000,
        '{"body":',
        '{"x-github-delivery":"g"}',
        '{"x-github-delivery":"g","bodyB":"%"}',
        '{"x-github-delivery":"g","bodyB":"\u00e9"}',
        '{"x-github-delivery":"g\\nX-Other: 1","body":{}}',
        '{"x-github-delivery":"g\\u0000","body":{}}',
    )
    async with channel() as through, followed(through, house):
        for message in noise:
            through.say(message)
        await _send(through, compact(push()))
        await until(lambda: _kept(house))


# --- reading ---------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1), max_size=5),
    st.integers(1, 7),
)
def test_events_do_not_depend_on_how_the_bytes_are_split(texts: list[str], size: int) -> None:
    sent = "".join(f": a comment\r\nid: 7\ndata: {text}\ndata:more\r\n\n" for text in texts).encode()
    stream = EventStream()
    read = [event for at in range(0, len(sent), size) for event in stream.feed(sent[at : at + size])]
    assert read == [("message", f"{text}\nmore") for text in texts]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
        max_leaves=12,
    )
)
def test_a_message_body_is_extracted_verbatim(value: Any) -> None:
    for written in (compact(value).decode(), json.dumps(value, indent=2), json.dumps(value)):
        message = f'{{ "x-github-delivery" : "g", "body":{written} , "after":[1]}}'
        found = RelayedDelivery.of(message)
        assert found is not None
        assert found.body == (value if isinstance(value, str) else written).encode()


@pytest.mark.parametrize("line", [b"x" * 65_536, b"data: " + b"x" * 65_529 + b"\n"])
def test_an_endless_event_is_given_up(line: bytes) -> None:
    stream, chunk = EventStream(), line * 256
    for _ in range(4):
        assert list(stream.feed(chunk)) == []
    with pytest.raises(ChannelError):
        list(stream.feed(b"x"))
