"""How is a request's body read, within fixed limits of size and time?"""

from __future__ import annotations

import asyncio

import aiohttp
from aiohttp import http_exceptions, web

LARGEST = 26 * 1024 * 1024
"""bytes; GitHub sends nothing above 25 MB"""


class BodyError(Exception):
    """The body is refused with this HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"refused with {status}")
        self.status = status


async def read_body(request: web.Request, *, seconds: float, largest: int = LARGEST) -> bytes:
    """The raw bytes. Raises `BodyError` 413 when too large, 408 when too slow, 400 when cut."""
    if (request.content_length or 0) > largest:
        raise BodyError(413)
    body = bytearray()
    try:
        if request.content.is_eof():  # a small body arrives with the headers: no need to wait
            return _checked_size(request.content.read_nowait(), largest)
        async with asyncio.timeout(seconds):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > largest:
                    raise BodyError(413)
    except TimeoutError:
        raise BodyError(408) from None
    except (aiohttp.ClientError, http_exceptions.HttpProcessingError, web.RequestPayloadError, OSError):
        raise BodyError(400) from None
    return bytes(body)


def _checked_size(body: bytes, largest: int) -> bytes:
    if len(body) > largest:
        raise BodyError(413)
    return body
