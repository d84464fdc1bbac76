"""Which fields of a frozen type are never shown? Logs and tracebacks print objects, and some of them hold secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct

T = TypeVar("T")
_HIDDEN = "left out of repr"
Secret = Annotated[T, _HIDDEN]


class Redacted(Struct, frozen=True):
    """A frozen type whose `repr` leaves out the fields annotated `Secret[...]`."""

    def __repr__(self) -> str:
        visible = [name for name, annotation in type(self).__annotations__.items() if not _is_secret(annotation)]
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in visible)})"


def secrets_in(value: Redacted) -> Iterator[str]:
    """The texts that nobody may see of what the fields annotated `Secret[...]` hold, in each form that could appear."""
    for name, annotation in type(value).__annotations__.items():
        content = getattr(value, name)
        if isinstance(content, Redacted):
            yield from secrets_in(content)
        elif _is_secret(annotation):
            for one in content if isinstance(content, tuple) else (content,):
                yield from _forms(one)


def _forms(content: object) -> Iterator[str]:
    if isinstance(content, bytes):
        yield content.hex()
    elif isinstance(content, str) and "-----BEGIN" in content:
        yield from (line for line in content.splitlines() if len(line) > _SHORTEST_LINE and "-----" not in line)
    elif isinstance(content, str) and "://" in content:
        password = urlsplit(content).password
        if password:
            yield from (content, password, unquote(password))
    elif isinstance(content, str):
        yield content


_SHORTEST_LINE = 16


def _is_secret(annotation: object) -> bool:
    """Annotations are text where a module postpones their evaluation."""
    if isinstance(annotation, str):
        return annotation.startswith("Secret[")
    return _HIDDEN in getattr(annotation, "__metadata__", ())
