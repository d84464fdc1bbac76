"""What does a request's body say, within fixed bounds of size, time and shape?"""

from __future__ import annotations

import asyncio
import functools
import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import aiohttp
from aiohttp import http_exceptions, web
from pydantic_core import SchemaValidator, core_schema, from_json

LARGEST = 26 * 1024 * 1024
"""bytes; GitHub sends nothing above 25 MB"""
DEEPEST = 64
_PLAIN = frozenset({str, bool, type(None)})
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
        if request.content.is_eof():  # it came with the head, as a small one does: nothing to wait for
            return _within(request.content.read_nowait(), largest)
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


def _within(body: bytes, largest: int) -> bytes:
    if len(body) > largest:
        raise BodyError(413)
    return body


def parse_object(body: bytes) -> dict[str, Any]:
    """A JSON object in UTF-8, at most 64 levels deep, with finite numbers of 64 bits. Raises ValueError."""
    try:
        value = from_json(body, allow_inf_nan=False, cache_strings="none")
    except ValueError:
        value = _read_patiently(body)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    _check_shape(value)
    return value


def parse_parts(body: bytes, names: Sequence[str]) -> dict[str, Any]:
    """These parts of a JSON object, each an `inner.name` or a `name`; the rest is checked for its grammar alone.

    Most of a large delivery is addresses that nobody asks for. An object that is not of this shape is read whole, and
    so is refused for what `parse_object` refuses. Raises ValueError.
    """
    try:
        value: dict[str, Any] = _reader_of(tuple(names)).validate_json(body)
    except ValueError:
        return parse_object(body)
    _check_shape(value)
    return value


@functools.cache
def _reader_of(names: tuple[str, ...]) -> SchemaValidator:
    inner: dict[str, dict[str, core_schema.TypedDictField]] = {}
    for name in names:
        outer, _, field = name.rpartition(".")
        inner.setdefault(outer, {})[field] = _optional(core_schema.any_schema())
    top = inner.pop("", {}) | {outer: _optional(_object_of(fields)) for outer, fields in inner.items()}
    return SchemaValidator(_object_of(top))


def _optional(schema: core_schema.CoreSchema) -> core_schema.TypedDictField:
    return core_schema.typed_dict_field(schema, required=False)


def _object_of(fields: dict[str, core_schema.TypedDictField]) -> core_schema.CoreSchema:
    return core_schema.typed_dict_schema(fields, extra_behavior="ignore")


def _read_patiently(body: bytes) -> Any:
    """What the fast reader refuses the slow one may take: half a surrogate pair is JSON, though not text."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _check_shape(value: dict[str, Any]) -> None:
    """Level by level: containers are looked into, numbers checked, and texts passed over."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        found = [
            child
            for container in level
            for child in (container.values() if type(container) is dict else container)
            if type(child) not in _PLAIN
        ]
        level = [child for child in found if not _is_number(child)]
        if not level:
            return
    raise ValueError("nested too deeply")


def _is_number(child: Any) -> bool:
    """Raises ValueError for a number that 64 bits do not hold."""
    if type(child) is int:
        if not -_LARGEST_NUMBER <= child <= _LARGEST_NUMBER:
            raise ValueError("a number above 64 bits")
        return True
    if type(child) is float:
        if not math.isfinite(child):
            raise ValueError("a number that is not finite")
        return True
    return False


def _refused(_text: str) -> NoReturn:
    raise ValueError("not a JSON number")
