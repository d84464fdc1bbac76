"""Does GitHub's own GraphQL schema allow a query? Checked against the subset in graphql.json."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from simulator.query_language import Enum, Field, Query, QueryError, Selection, Variable

Schema = Mapping[str, Any]
"""type name -> {"kind", "fields": {name: {"type", "args": {name: type}}}, "possible": [...], "values": [...]}"""


@functools.cache
def schema() -> Schema:
    """The subset written by scripts/prune_graphql.py."""
    found: Schema = json.loads((files("simulator") / "graphql.json").read_text())["types"]
    return found


def base_type(type_: str) -> str:
    """The type without its list and non-null marks."""
    return type_.strip("[]!")


def check(query: Query, given: Schema) -> None:
    """Raises QueryError for the first thing that the schema does not allow."""
    for problem in problems(query, given):
        raise QueryError(problem)


def problems(query: Query, given: Schema) -> Iterator[str]:
    """Everything in a query that the schema does not allow."""
    yield from _of_selections(query, given, query.selections, query.root)


def _of_selections(query: Query, given: Schema, selections: tuple[Selection, ...], on: str) -> Iterator[str]:
    for one in selections:
        if isinstance(one, Field):
            if one.name != "__typename":
                yield from _of_field(query, given, one, on)
        elif one.on != on and one.on not in given[on].get("possible", ()):
            yield f"{on} is never a {one.on}"
        else:
            yield from _of_selections(query, given, one.selections, one.on)


def _of_field(query: Query, given: Schema, one: Field, on: str) -> Iterator[str]:
    known = given[on].get("fields", {}).get(one.name)
    if known is None:
        yield f"{on} has no field {one.name}"
        return
    for name, value in one.arguments.items():
        if name not in known["args"]:
            yield f"{on}.{one.name} has no argument {name}"
        else:
            yield from _of_value(query, given, value, known["args"][name], f"{on}.{one.name}({name})")
    yield from (
        f"{on}.{one.name} needs {name}"
        for name, type_ in known["args"].items()
        if type_.endswith("!") and name not in one.arguments
    )
    is_leaf = given.get(base_type(known["type"]), {"kind": "SCALAR"})["kind"] in ("SCALAR", "ENUM")
    if is_leaf == bool(one.selections):
        yield f"{on}.{one.name} {'has no parts' if is_leaf else 'needs its parts named'}"
    asks_nodes = any(isinstance(part, Field) and part.name in ("nodes", "edges") for part in one.selections)
    if asks_nodes and "first" in known["args"] and not {"first", "last"} & one.arguments.keys():
        yield f"{on}.{one.name} needs first or last"
    if not is_leaf:
        yield from _of_selections(query, given, one.selections, base_type(known["type"]))


def _of_value(query: Query, given: Schema, value: Any, type_: str, where: str) -> Iterator[str]:
    if isinstance(value, Variable):
        declared = query.variables.get(value.name)
        if (
            declared is None
            or declared.rstrip("!") != type_.rstrip("!")
            or (type_.endswith("!") > declared.endswith("!"))
        ):
            yield f"{where} takes {type_}, ${value.name} is {declared}"
    elif isinstance(value, list):
        for part in value:
            yield from _of_value(query, given, part, type_.rstrip("!")[1:-1], where)
    elif isinstance(value, dict):
        fields = given[base_type(type_)]["inputs"]
        for name, part in value.items():
            if name not in fields:
                yield f"{where} has no {name}"
            else:
                yield from _of_value(query, given, part, fields[name], where)
        missing = [name for name, kind in fields.items() if kind.endswith("!") and name not in value]
        yield from (f"{where} needs {name}" for name in missing)
    elif isinstance(value, Enum):
        if value.name not in given.get(base_type(type_), {}).get("values", ()):
            yield f"{where} is never {value.name}"
    elif isinstance(value, int) and base_type(type_) != "Int":
        yield f"{where} takes {type_}"
