"""Which fields of a frozen type are never shown? Logs and tracebacks print objects, and some of them hold secrets."""

from __future__ import annotations

from typing import Annotated, TypeVar

from msgspec import Struct

T = TypeVar("T")
_HIDDEN = "left out of repr"
Secret = Annotated[T, _HIDDEN]


class Redacted(Struct, frozen=True):
    """A frozen type whose `repr` leaves out the fields annotated `Secret[...]`."""

    def __repr__(self) -> str:
        visible = [name for name, annotation in type(self).__annotations__.items() if not _is_secret(annotation)]
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in visible)})"


def _is_secret(annotation: object) -> bool:
    """Annotations are text where a module postpones their evaluation."""
    if isinstance(annotation, str):
        return annotation.startswith("Secret[")
    return _HIDDEN in getattr(annotation, "__metadata__", ())
