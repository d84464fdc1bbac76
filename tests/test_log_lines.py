"""Has every log line a constant event, and fields from the list that operators read about?"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator

from bot.configuration.logs import FIELDS
from tests.test_repository import modules, text

_METHODS = {f"log.{name}" for name in ("debug", "info", "warning", "error", "exception", "critical", "log")}
_RESERVED = set(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "event"}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Each call of a logger, with where it is."""
    for path in modules("bot", "handlers"):
        for node in ast.walk(ast.parse(text(path) or "")):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in _METHODS:
                yield f"{path}:{node.lineno}", node


def fields() -> Iterator[tuple[str, set[str]]]:
    """The fields of each call, with where it is: the keys of its `extra`, and of the dictionaries it is made of."""
    for path in modules("bot", "handlers"):
        for function in ast.walk(ast.parse(text(path) or "")):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
            made = {ast.unparse(node.targets[0]): node.value for node in assigned}
            for node in ast.walk(function):
                if isinstance(node, ast.keyword) and node.arg == "extra":
                    names = [one for one in ast.walk(node.value) if isinstance(one, ast.Name)]
                    parts = [node.value, *(made[one.id] for one in names if one.id in made)]
                    yield f"{path}:{node.value.lineno}", {key for part in parts for key in _keys(part)}


def _keys(value: ast.expr) -> Iterator[str]:
    """The keys of the dictionaries that an expression joins; not those of their values."""
    if isinstance(value, ast.BinOp):
        yield from (*_keys(value.left), *_keys(value.right))
    elif isinstance(value, ast.Dict):
        yield from (ast.literal_eval(key) for key in value.keys if key is not None)


def test_every_log_call_has_a_constant_event() -> None:
    found = list(calls())
    wrong = [
        where
        for where, call in found
        if len(call.args) != 1 or not isinstance(call.args[0], ast.Constant) or "%" in str(call.args[0].value)
    ]
    assert len(found) > 30
    assert wrong == []


def test_events_are_short_and_differ() -> None:
    events = [str(call.args[0].value) for _, call in calls() if isinstance(call.args[0], ast.Constant)]
    assert [event for event in events if len(event) > 60] == []
    assert len(set(events)) > 30


def test_every_field_is_on_the_list() -> None:
    used = list(fields())
    assert len(used) > 25
    assert [(where, names - FIELDS) for where, names in used if names - FIELDS] == []
    assert [where for where, names in used if not names] == []
    assert not FIELDS & _RESERVED, "the logging module has other uses for these names"
