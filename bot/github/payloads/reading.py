"""How is GitHub's JSON read, so that a wrong shape is an error and never believed?

A type names what is looked at: msgspec checks it, and ignores the rest.
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
"""lists and objects within each other"""
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
"""escapes in JSON: the group is all of them but the halves of surrogate pairs"""


class PayloadError(ValueError):
    """JSON of another shape than GitHub documents. The text names the field, never its value."""


class Known(Struct, frozen=True):
    """Anything of which the id is enough."""

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
        """Its nodes; one that is gone is null there, and left out."""
        return tuple(one for one in self.nodes if one is not None)

    @property
    def cursor(self) -> str | None:
        """The mark behind this page; None on the last."""
        return self.page_info.end_cursor or None if self.page_info.has_next_page else None


def read(answer: object, kind: type[T]) -> T:
    """An answer of GitHub's API as a type. Raises PayloadError."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise PayloadError(str(error)) from None


def decode(body: bytes | msgspec.Raw, kind: type[T]) -> T:
    """What a type says of a body that was kept. Raises PayloadError."""
    return _decoded(bytes(body), msgspec.json.Decoder(kind))


def decode_within_limits(body: bytes) -> Any:
    """What a body says, whatever it is. Raises PayloadError where it is no JSON in UTF-8, holds a number that is not
    finite or has more than 64 bits, or is nested deeper than 64."""
    found = _decoded(body, _JSON)
    try:
        _NUMBERS.encode(found)  # MessagePack holds the numbers of 64 bits, and no others
    except (OverflowError, RecursionError) as error:
        raise PayloadError(str(error)) from None
    if isinstance(found, dict | list) and may_be_deep(body) and _is_deep(found):
        raise PayloadError("nested too deeply")
    return found


def _decoded(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """msgspec refuses half of a surrogate pair, so that only what it refuses is searched for one."""
    try:
        try:
            return decoder.decode(body)
        except msgspec.DecodeError:
            return decoder.decode(mended(body))
    except (ValueError, RecursionError) as error:
        raise PayloadError(str(error)) from None


def may_be_deep(body: bytes) -> bool:
    """Whether enough is opened to nest too deeply; brackets in texts count as well."""
    return _opened(body, b"{") + _opened(body, b"[") > DEEPEST


def _opened(body: bytes, bracket: bytes) -> int:
    """How often it is there, where not too often. Of bytes' methods only `find` goes faster than byte by byte."""
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


def mended(body: bytes) -> bytes:
    r"""The JSON with a mark for each half of a surrogate pair (`\ud800`), which no database and no encoder accepts."""
    return _HALVES.sub(lambda escape: escape[0] if escape[1] else rb"\ufffd", body)


def moment(text: str | None) -> datetime | None:
    """A moment in UTC; None where there is none, or no date Python knows."""
    try:
        found = datetime.fromisoformat(text or "")
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def required_moment(text: str | None) -> datetime:
    """The same; raises PayloadError where there is none."""
    found = moment(text)
    if found is None:
        raise PayloadError("a time is missing")
    return found
