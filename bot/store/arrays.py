"""How is a column of values written as the text of one PostgreSQL array?

The driver formats lists element by element, with a regular expression for each text. For facts that took longer than
everything else in a landing. Here most columns are one join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any


def array_text(values: Sequence[Any]) -> str:
    """PostgreSQL's input syntax for an array of these values; the statement names the element type."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return "{" + ",".join(map(str, values)) + "}"
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return _of_texts(values)
    return "{" + ",".join(["NULL" if value is None else _SPELLED[_kind(value)](value) for value in values]) + "}"


def _of_texts(values: Sequence[str]) -> str:
    joined = '","'.join(values)
    if "\\" not in joined and joined.count('"') == 2 * (len(values) - 1):
        return '{"' + joined + '"}'
    return "{" + ",".join(map(_quoted, values)) + "}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _kind(value: object) -> type:
    return next(kind for kind in _SPELLED if isinstance(value, kind))


_SPELLED: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "t" if value else "f",
    int: str,
    str: _quoted,
    datetime: lambda moment: f'"{moment.isoformat()}"',
    bytes: lambda value: f'"\\\\x{value.hex()}"',
}
"""by type; a subtype comes before its base"""
