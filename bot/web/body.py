"""What does a request's body say, within fixed bounds of size, time and shape?"""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any, NoReturn

import aiohttp
from aiohttp import http_exceptions, web

LARGEST = 26 * 1024 * 1024
"""bytes; GitHub sends nothing above 25 MB"""
DEEPEST = 64
_CONTAINERS = frozenset({dict, list})
_LARGEST_NUMBER = 2**63 - 1


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


def parse_object(body: bytes) -> dict[str, Any]:
    """A JSON object in UTF-8, at most 64 levels deep, with finite numbers of 64 bits. Raises ValueError."""
    try:
        value = json.loads(body.decode("utf-8"), parse_int=_whole, parse_float=_finite, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not an object")
    _check_depth(value)
    return value


def _check_depth(value: dict[str, Any]) -> None:
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if type(child) in _CONTAINERS
        ]
        if not level:
            return
    raise ValueError("nested too deeply")


def _whole(text: str) -> int:
    number = int(text) if len(text) <= 20 else _LARGEST_NUMBER + 1
    if abs(number) > _LARGEST_NUMBER:
        raise ValueError("a number above 64 bits")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number that is not finite")
    return number


def _refused(_text: str) -> NoReturn:
    raise ValueError("not a JSON number")
