"""How do deliveries reach a machine that GitHub cannot? From a channel, forwarded unchanged to our webhook over HTTP.

A smee channel parses and re-encodes each body, so the signed bytes are lost. Its encoding is cut out of the message
unchanged, never parsed and encoded again here. If it equals what GitHub signed, the webhook accepts it; otherwise it
refuses it like any body that it cannot verify. A channel that forwards the original bytes (`bodyB`, base64, as gosmee
does) loses nothing.
https://github.com/probot/smee.io/blob/master/lib/server.js
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct

log = logging.getLogger(__name__)

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_SILENCE = 90.0
"""seconds; a channel sends something every 30"""
_LARGEST = 64 * 1024 * 1024
_HEADERS = (
    "x-github-event",
    "x-github-delivery",
    "x-hub-signature-256",
    "x-github-hook-id",
    "x-github-hook-installation-target-id",
    "x-github-hook-installation-target-type",
)
_TRIES = 5
_BLANKS = " \t\r\n"

Sleep = Callable[[float], Awaitable[None]]


class ChannelError(Exception):
    """The channel's answer is not an event stream."""


@dataclass(slots=True)
class EventStream:
    """Parses bytes into events, as (name, data): https://html.spec.whatwg.org/multipage/server-sent-events.html"""

    _rest: bytearray = field(default_factory=bytearray)
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _size: int = 0
    """of `_data` in bytes, or slightly more"""

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """The events that these bytes complete. Raises ChannelError for one that never ends."""
        self._rest += chunk
        if len(self._rest) + self._size > _LARGEST:
            raise ChannelError("an event larger than any delivery")
        if b"\n" not in chunk:
            return
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        for line in lines:
            text = line.removesuffix(b"\r").decode("utf-8", "replace")
            if text:
                self._take(text)
            elif self._data:
                yield self._name or "message", "\n".join(self._data)
            self._size += len(line) + 1
            if not text:
                self._name, self._data, self._size = "", [], 0

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)


class RelayedDelivery(Struct, frozen=True):
    """One delivery as the channel sends it."""

    headers: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, message: str) -> RelayedDelivery | None:
        """Parse a message; None if it contains no delivery."""
        try:
            members = dict(_members(message))
        except (ValueError, RecursionError):
            return None
        headers = {name: value for name in _HEADERS if _fits_a_header(value := members.get(name, ("", None))[1])}
        body = _body_of(members)
        if body is None or "x-github-delivery" not in headers:
            return None
        return cls(headers | {"content-type": "application/json"}, body)


def _fits_a_header(value: object) -> bool:
    """Anybody can write into a channel, and a line break here would add another header."""
    return isinstance(value, str) and value.isascii() and value.isprintable()


def _body_of(members: dict[str, tuple[str, Any]]) -> bytes | None:
    """The original bytes if the channel forwards them, otherwise its own encoding."""
    encoded = members.get("bodyB", ("", None))[1]
    if isinstance(encoded, str):
        try:
            return base64.b64decode(encoded, validate=True)
        except ValueError:  # not base64, or not even ASCII
            return None
    if "body" not in members:
        return None
    written, value = members["body"]
    return (value if isinstance(value, str) else written).encode("utf-8", "replace")


def _members(text: str) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Each member of the JSON object: its name, its value as encoded, and the value. Raises ValueError."""
    decoder = json.JSONDecoder()
    at = _skip_blanks(text, 0, "{")
    while True:
        name, at = decoder.raw_decode(text, _skip_blanks(text, at))
        start = _skip_blanks(text, _skip_blanks(text, at, ":"))
        value, at = decoder.raw_decode(text, start)
        yield str(name), (text[start:at], value)
        at = _skip_blanks(text, at)
        if text[at : at + 1] != ",":
            return
        at += 1


def _skip_blanks(text: str, at: int, sign: str = "") -> int:
    """The position after blanks and an optional required character."""
    while text[at : at + 1] and text[at] in _BLANKS:
        at += 1
    if sign and text[at : at + 1] != sign:
        raise ValueError(f"no {sign}")
    return at + len(sign)


class Relay:
    """Follows one channel forever and posts each delivery to the webhook, in order."""

    def __init__(self, channel: str, webhook_url: str, *, sleep: Sleep = asyncio.sleep) -> None:
        self._channel, self._webhook_url, self._sleep = channel, webhook_url, sleep
        self._host = urlsplit(channel).hostname
        """logs name only the host, because anyone with the full address can use the channel"""
        self._wait = _FIRST_WAIT

    async def follow(self) -> None:
        """Run until cancelled; reconnect to a lost channel after 1 s, 2 s, and so on up to a minute."""
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            while True:
                try:
                    await self._listen(session)
                    log.warning("channel ended", extra={"host": self._host})
                except (aiohttp.ClientError, TimeoutError, OSError, ChannelError) as error:
                    log.warning("channel not read", extra={"host": self._host, "reason": _describe(error)})
                await self._sleep(self._wait * (0.75 + random.random() / 2))
                self._wait = min(self._wait * 2, _LONGEST_WAIT)

    async def _listen(self, session: aiohttp.ClientSession) -> None:
        patience = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=_SILENCE)
        asked = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        async with session.get(self._channel, headers=asked, timeout=patience, allow_redirects=False) as answer:
            if answer.status != 200 or answer.content_type != "text/event-stream":
                raise ChannelError(f"status {answer.status}, {answer.content_type}")
            log.info("channel opened", extra={"host": self._host})
            stream = EventStream()
            async for chunk in answer.content.iter_any():
                for name, data in stream.feed(chunk):
                    self._wait = _FIRST_WAIT
                    if name == "message":
                        await self._deliver(session, data)

    async def _deliver(self, session: aiohttp.ClientSession, data: str) -> None:
        """Post a delivery; retry if the webhook is briefly unavailable, because the channel stores nothing."""
        delivery = RelayedDelivery.of(data)
        if delivery is None:
            return
        name = delivery.headers["x-github-delivery"][:64]
        for turn in range(_TRIES):
            status = await self._post(session, delivery)
            if status not in {0, 429, 503}:
                break
            await self._sleep(2.0**turn)
        if status == 403:
            log.error("delivery refused: the channel changed the signed bytes", extra={"delivery": name})
        elif status != 202:
            log.error("delivery not accepted", extra={"delivery": name, "status": status or "no answer"})

    async def _post(self, session: aiohttp.ClientSession, delivery: RelayedDelivery) -> int:
        try:
            async with session.post(self._webhook_url, data=delivery.body, headers=delivery.headers) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 0


def _describe(error: BaseException) -> str:
    return str(error) if isinstance(error, ChannelError) else type(error).__name__


@contextlib.asynccontextmanager
async def follow_channel(channel: str, webhook_url: str) -> AsyncIterator[None]:
    """Follow the channel while the block runs; do nothing without a channel."""
    if not channel:
        yield
        return
    following = asyncio.create_task(Relay(channel, webhook_url).follow())
    try:
        yield
    finally:
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following
