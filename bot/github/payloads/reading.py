"""How is GitHub's JSON read, so that an unexpected shape raises an error?

A type declares what is read: msgspec checks it and ignores the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct

from bot.model.ids import CommitId, InstallationId, RepositoryId, UserId

T = TypeVar("T")

DEEPEST = 64
"""nesting of lists and objects"""
LARGEST = 2**63 - 1
_POSITIVE = Meta(gt=0, le=LARGEST)
Number = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Identity = Annotated[int, _POSITIVE]
Installed = Annotated[InstallationId, _POSITIVE]
Hosted = Annotated[RepositoryId, _POSITIVE]
Person = Annotated[UserId, _POSITIVE]
FullCommit = Annotated[CommitId, Meta(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")]
"""a full commit id (SHA-1 or SHA-256), lower case"""

_JSON = msgspec.json.Decoder()
_NUMBERS = msgspec.msgpack.Encoder()
_HALVES = re.compile(
    rb"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?!u[dD][89a-fA-F]).)"
    rb"|u[dD][89a-fA-F][0-9a-fA-F]{2})",
    re.DOTALL,
)
"""escapes in JSON: the group matches all except surrogates"""


class PayloadError(ValueError):
    """JSON in a different shape from GitHub's documentation. The text names the field, never its value."""


class Known(Struct, frozen=True):
    """An object whose id is enough."""

    id: Identity


class PageInfo(Struct, frozen=True, rename="camel"):
    has_next_page: bool | None = None
    end_cursor: str | None = None


class NodePage(Struct, Generic[T], frozen=True, rename="camel"):
    """A page of GraphQL."""

    nodes: tuple[T | None, ...] = ()
    total_count: Number | None = None
    page_info: PageInfo = PageInfo()

    @property
    def present(self) -> tuple[T, ...]:
        """Its nodes without deleted ones, which are null."""
        return tuple(one for one in self.nodes if one is not None)

    @property
    def cursor(self) -> str | None:
        """The cursor after this page; None on the last."""
        return self.page_info.end_cursor or None if self.page_info.has_next_page else None


def read(answer: object, kind: type[T]) -> T:
    """An answer of GitHub's API as a type. Raises PayloadError."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise PayloadError(str(error)) from None


def decode(body: bytes | msgspec.Raw, kind: type[T]) -> T:
    """A stored body as a type. Raises PayloadError."""
    return _decoded(bytes(body), msgspec.json.Decoder(kind))


def decode_within_limits(body: bytes) -> Any:
    """The JSON value of a body. Raises PayloadError if it is not JSON in UTF-8, contains a number that is not finite or
    exceeds 64 bits, or is nested deeper than 64."""
    found = _decoded(body, _JSON)
    try:
        _NUMBERS.encode(found)  # MessagePack supports exactly the numbers of 64 bits
    except (OverflowError, RecursionError) as error:
        raise PayloadError(str(error)) from None
    if isinstance(found, dict | list) and may_be_deep(body) and _is_deep(found):
        raise PayloadError("nested too deeply")
    return found


def _decoded(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """msgspec refuses lone surrogates, so only bodies that it refuses are searched for them."""
    try:
        try:
            return decoder.decode(body)
        except msgspec.DecodeError:
            return decoder.decode(replace_lone_surrogates(body))
    except (ValueError, RecursionError) as error:
        raise PayloadError(str(error)) from None


def may_be_deep(body: bytes) -> bool:
    """Whether there are enough opening brackets to nest too deeply; brackets in strings count as well."""
    return _opened(body, b"{") + _opened(body, b"[") > DEEPEST


def _opened(body: bytes, bracket: bytes) -> int:
    """The number of these brackets, counted to a limit. Of bytes' methods only `find` is faster than byte by byte."""
    found, at = 0, body.find(bracket)
    while at >= 0 and found <= DEEPEST:
        found, at = found + 1, body.find(bracket, at + 1)
    return found


def _is_deep(found: object) -> bool:
    level = [found]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _within(one) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _within(one: Any) -> Iterable[object]:
    return one.values() if isinstance(one, dict) else one


def replace_lone_surrogates(body: bytes) -> bytes:
    r"""The JSON with a replacement for each lone surrogate (`\ud800`), which no database and no encoder accepts."""
    return _HALVES.sub(lambda escape: escape[0] if escape[1] else rb"\ufffd", body)


def moment(text: str | None) -> datetime | None:
    """A moment in UTC; None if there is none, or not a date that Python supports."""
    try:
        found = datetime.fromisoformat(text or "")
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def required_moment(text: str | None) -> datetime:
    """The same; raises PayloadError if there is none."""
    found = moment(text)
    if found is None:
        raise PayloadError("a time is missing")
    return found
