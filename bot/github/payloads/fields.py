"""How is one field of GitHub's JSON read, so that a wrong shape is told and never believed?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

_LARGEST = 2**63 - 1


class PayloadError(ValueError):
    """A field is absent or of another type than GitHub documents. The text names the field, never its value."""


class Fields:
    """A JSON object whose fields are checked as they are read."""

    __slots__ = ("_name", "_object")

    def __init__(self, value: object, name: str = "payload") -> None:
        if not isinstance(value, dict):
            raise PayloadError(f"{name} is not an object")
        self._object: dict[str, Any] = value
        self._name = name

    @property
    def plain(self) -> dict[str, Any]:
        """The object itself, to be kept or passed on as it is."""
        return self._object

    def __contains__(self, key: str) -> bool:
        return self._object.get(key) is not None

    def number(self, key: str) -> int:
        """A whole number that fits into 64 bits."""
        value = self._object.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not -_LARGEST <= value <= _LARGEST:
            raise self._wrong(key, "a whole number")
        return value

    def count(self, key: str) -> int:
        """A number that may be absent (0)."""
        return self.number(key) if key in self else 0

    def identity(self, key: str) -> int:
        """An id: a positive number."""
        value = self.number(key)
        if value <= 0:
            raise self._wrong(key, "an id")
        return value

    def text(self, key: str) -> str:
        value = self._object.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a text")
        return whole(value)

    def text_or(self, key: str, default: str = "") -> str:
        """A text that may be absent or null."""
        return self.text(key) if key in self else default

    def commit(self, key: str) -> str:
        """A full commit id (SHA-1 or SHA-256), lower case."""
        value = self.text(key)
        if len(value) not in (40, 64) or not set(value) <= set("0123456789abcdef"):
            raise self._wrong(key, "a commit id")
        return value

    def flag(self, key: str) -> bool:
        """A truth value that may be absent (false)."""
        return self._object.get(key) is True

    def time(self, key: str) -> datetime:
        """A moment in UTC."""
        moment = self.time_or_none(key)
        if moment is None:
            raise self._wrong(key, "a time")
        return moment

    def time_or_none(self, key: str) -> datetime | None:
        """A moment in UTC; None where it is absent or null or no date Python knows."""
        value = self._object.get(key)
        if not isinstance(value, str):
            return None
        try:
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            return None

    def object(self, key: str) -> Fields:
        return Fields(self._object.get(key), f"{self._name}.{key}")

    def maybe(self, key: str) -> Fields | None:
        """An object that may be absent, null or, as GitHub does for unknown authors, empty."""
        return self.object(key) if self._object.get(key) else None

    def objects(self, key: str) -> Iterator[Fields]:
        """Each object of a list that may be absent."""
        value = self._object.get(key)
        if value is None:
            return
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        for index, element in enumerate(value):
            yield Fields(element, f"{self._name}.{key}[{index}]")

    def nodes(self) -> Iterator[Fields]:
        """Each node of a page of GraphQL; one that is gone is null there, and left out."""
        found = self._object.get("nodes")
        present = [one for one in found if one is not None] if isinstance(found, list) else found
        yield from Fields({"nodes": present}, self._name).objects("nodes")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts that may be absent; anything else in it is left out."""
        value = self._object.get(key)
        return tuple(whole(text) for text in value if isinstance(text, str)) if isinstance(value, list) else ()

    def _wrong(self, key: str, expected: str) -> PayloadError:
        return PayloadError(f"{self._name}.{key} is not {expected}")


def whole(text: str) -> str:
    """The text without lone surrogates, which no database and no encoder takes."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
