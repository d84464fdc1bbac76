"""What does a GraphQL query ask for? A strict parser for the part of the language that our queries use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

_TOKEN = re.compile(r'\s+|,|(\.\.\.|[!$():=\[\]{}]|[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+|"[^"\\\n]*")')


class QueryError(Exception):
    """GitHub would not accept the query."""


class Variable(Struct, frozen=True):
    """A `$name` in a query."""

    name: str


class Enum(Struct, frozen=True):
    """An enum value: a bare word."""

    name: str


class Field(Struct, frozen=True):
    """One requested field, under its alias."""

    key: str
    name: str
    arguments: Mapping[str, Any]
    selections: tuple[Selection, ...]


class Fragment(Struct, frozen=True):
    """`... on Type { … }`"""

    on: str
    selections: tuple[Selection, ...]


Selection = Field | Fragment


class Query(Struct, frozen=True):
    """A parsed query: its variables with their types, its selections, and its root type (`Query` or `Mutation`)."""

    variables: Mapping[str, str]
    selections: tuple[Selection, ...]
    root: str = "Query"


@dataclass(slots=True)
class _TokenReader:
    tokens: list[str]
    at: int = 0
    depth: int = field(default=0)

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        found = self.peek()
        if not found or (expected and found != expected):
            raise QueryError(f"expected {expected or 'more'}, found {found or 'the end'}")
        self.at += 1
        return found


def parse(text: str) -> Query:
    """Parse a query. Raises QueryError if the text is not one."""
    position, tokens = 0, []
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise QueryError(f"cannot read {text[position : position + 20]!r}")
        position = found.end()
        tokens += [found[1]] if found[1] else []
    reader = _TokenReader(tokens)
    root = "Mutation" if reader.peek() == "mutation" else "Query"
    reader.take(root.lower())
    variables = _variables(reader) if reader.peek() == "(" else {}
    selections = _selections(reader)
    if reader.peek():
        raise QueryError("one query a request")
    return Query(variables, selections, root)


def _variables(reader: _TokenReader) -> dict[str, str]:
    found: dict[str, str] = {}
    reader.take("(")
    while reader.peek() != ")":
        reader.take("$")
        name = reader.take()
        reader.take(":")
        found[name] = _type(reader)
    reader.take(")")
    return found


def _type(reader: _TokenReader) -> str:
    if reader.peek() == "[":
        reader.take()
        text = f"[{_type(reader)}]"
        reader.take("]")
    else:
        text = reader.take()
    return text + reader.take() if reader.peek() == "!" else text


def _selections(reader: _TokenReader) -> tuple[Selection, ...]:
    found: list[Selection] = []
    reader.take("{")
    while reader.peek() != "}":
        if reader.peek() == "...":
            reader.take()
            reader.take("on")
            found.append(Fragment(reader.take(), _selections(reader)))
        else:
            found.append(_field(reader))
    reader.take("}")
    return tuple(found)


def _field(reader: _TokenReader) -> Field:
    key = name = reader.take()
    if reader.peek() == ":":
        reader.take()
        name = reader.take()
    arguments: dict[str, Any] = {}
    if reader.peek() == "(":
        reader.take()
        while reader.peek() != ")":
            argument = reader.take()
            reader.take(":")
            arguments[argument] = _value(reader)
        reader.take(")")
    return Field(key, name, arguments, _selections(reader) if reader.peek() == "{" else ())


def _value(reader: _TokenReader) -> Any:
    word = reader.take()
    if word == "$":
        return Variable(reader.take())
    if word == "[":
        found = []
        while reader.peek() != "]":
            found.append(_value(reader))
        reader.take("]")
        return found
    if word == "{":
        pairs = {}
        while reader.peek() != "}":
            name = reader.take()
            reader.take(":")
            pairs[name] = _value(reader)
        reader.take("}")
        return pairs
    if word[0] == '"':
        return word[1:-1]
    if word.lstrip("-").isdigit():
        return int(word)
    return {"true": True, "false": False, "null": None}.get(word, Enum(word))
