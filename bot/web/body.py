"""How is a request's body read, within fixed limits of size, time and memory?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp
from aiohttp import http_exceptions, web

LARGEST = 26 * 1024 * 1024
"""bytes; GitHub sends nothing above 25 MB"""


class BodyError(Exception):
    """The body is refused with this HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"refused with {status}")
        self.status = status


class BodyMemory:
    """Unverified bodies in memory: the bytes received, not those announced. The oldest is dropped for a newer one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[object, tuple[int, Callable[[], None]]] = {}
        self.total = 0

    def grow(self, body: object, received: int, drop: Callable[[], None]) -> None:
        """This many more bytes of the body were received; `drop` ends the reading of it."""
        before, _ = self._held.get(body, (0, drop))
        self._held[body] = (before + received, drop)
        self.total += received
        while self.total > self._most and self._held:
            oldest = next(iter(self._held))
            _, drop_oldest = self._held[oldest]
            self.release(oldest)
            drop_oldest()

    def release(self, body: object) -> None:
        """The body was read, refused or dropped."""
        size, _ = self._held.pop(body, (0, None))
        self.total -= size


async def read_body(
    request: web.Request, *, seconds: float, largest: int = LARGEST, memory: BodyMemory | None = None
) -> bytes:
    """The raw bytes. Raises `BodyError` 413 when too large, 408 when too slow, 400 when cut, 429 when dropped."""
    if (request.content_length or 0) > largest:
        raise BodyError(413)
    try:
        if request.content.is_eof():  # a small body arrives with the headers: no need to wait
            return _checked_size(request.content.read_nowait(), largest)
        async with asyncio.timeout(seconds):
            return await _read_chunks(request, largest, memory or BodyMemory(largest))
    except TimeoutError:
        raise BodyError(408) from None
    except (aiohttp.ClientError, http_exceptions.HttpProcessingError, web.RequestPayloadError, OSError):
        raise BodyError(400) from None


async def _read_chunks(request: web.Request, largest: int, memory: BodyMemory) -> bytes:
    body, key, dropped = bytearray(), object(), asyncio.Event()

    def drop() -> None:
        dropped.set()
        request.content.set_exception(BodyError(429))

    try:
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > largest:
                raise BodyError(413)
            memory.grow(key, len(chunk), drop)
            if dropped.is_set():
                raise BodyError(429)
    finally:
        memory.release(key)
    return bytes(body)


def _checked_size(body: bytes, largest: int) -> bytes:
    if len(body) > largest:
        raise BodyError(413)
    return body
