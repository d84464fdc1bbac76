"""Does an exchange with the simulated GitHub match GitHub's own description (simulator/openapi.json)?"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from openapi_core import Config, OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing.requests import MockRequest
from openapi_core.testing.responses import MockResponse

from simulator.server import Exchange, Simulator

HOST = "https://api.github.com"
DESCRIBED_ELSEWHERE = {301, 400, 401, 403, 404, 406, 415, 422}
"""refusals that GitHub gives on any operation, named in its prose, not on each one"""
EVERY_LIST = {"per_page", "page"}


@functools.cache
def description() -> dict[str, Any]:
    """GitHub's description as intended: `nullable` allows null, whatever keywords are next to it."""
    text = (files("simulator") / "openapi.json").read_text()
    read: dict[str, Any] = json.loads(text, object_hook=_nullable)
    # The list says that an account is a user AND an enterprise; the single installation, rightly, says one of them.
    listed = read["paths"]["/app/installations"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    listed["items"] = {"$ref": "#/components/schemas/installation"}
    return read


def _nullable(node: dict[str, Any]) -> dict[str, Any]:
    if node.get("nullable") is not True:
        return node
    if "enum" in node and None not in node["enum"]:
        return node | {"enum": [*node["enum"], None]}
    for word in ("anyOf", "oneOf"):
        if word in node and "type" not in node:
            return node | {word: [*node[word], {"type": "object", "nullable": True, "enum": [None]}]}
    return node


@functools.cache
def specification() -> OpenAPI:
    """Not checked itself here, which takes longer than most tests; one of them does it (tests/simulator)."""
    return OpenAPI.from_dict(description(), config=Config(spec_validator_cls=None))


@functools.cache
def patterns() -> list[tuple[re.Pattern[str], str]]:
    """Each path as an expression, the most literal first; a branch or a file path may hold slashes."""
    paths = sorted(description()["paths"], key=lambda path: (path.count("{"), -len(path)))
    return [(re.compile(_expression(path)), path) for path in paths]


def _expression(path: str) -> str:
    escaped = path.replace(".", r"\.")
    return re.sub(r"\{(\w+)\}", lambda name: f"(?P<{name[1]}>{'.+' if name[1] in _LONG else '[^/]+'})", escaped)


_LONG = {"path", "ref", "base", "head"}


def _resolved(parameter: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in parameter:
        named: dict[str, Any] = description()["components"]["parameters"]
        return dict(named[parameter["$ref"].rpartition("/")[2]])
    return parameter


@dataclass
class Contract:
    """Checks every exchange it is shown; `violations` holds what was wrong, in words."""

    violations: list[str] = field(default_factory=list)
    checked: int = 0

    def __call__(self, exchange: Exchange) -> None:
        self.checked += 1
        found = self._operation(exchange)
        if found is None:
            self._blame(exchange, "GitHub's description has no such operation")
            return
        pattern, names, operation = found
        self._check_query(exchange, operation)
        request = _request(exchange, pattern, names)
        if exchange.status < 400:
            self._check(exchange, "request", lambda: specification().validate_request(request))
        if exchange.status == 204 or (
            str(exchange.status) not in operation["responses"] and exchange.status in DESCRIBED_ELSEWHERE
        ):
            return
        if exchange.status == 304 or (exchange.status >= 400 and exchange.answer is None):
            return
        answer = MockResponse(json.dumps(exchange.answer).encode(), exchange.status, exchange.headers)
        self._check(exchange, "answer", lambda: specification().validate_response(request, answer))

    def _operation(self, exchange: Exchange) -> tuple[str, dict[str, str], dict[str, Any]] | None:
        for expression, pattern in patterns():
            operation = description()["paths"][pattern].get(exchange.method.lower())
            found = expression.fullmatch(exchange.path)
            if operation and found:
                return pattern, found.groupdict(), operation
        return None

    def _check_query(self, exchange: Exchange, operation: dict[str, Any]) -> None:
        known = {p["name"] for p in map(_resolved, operation.get("parameters", [])) if p["in"] == "query"}
        for name in sorted(exchange.query.keys() - known):
            self._blame(exchange, f"unknown query parameter {name!r}")

    def _check(self, exchange: Exchange, what: str, validate: Any) -> None:
        try:
            validate()
        except OpenAPIError as error:
            self._blame(exchange, f"{what}: {_reason(error)}")

    def _blame(self, exchange: Exchange, reason: str) -> None:
        self.violations.append(f"{exchange.method} {exchange.path} -> {exchange.status}: {reason}")


@contextlib.asynccontextmanager
async def strict_simulator() -> AsyncIterator[Simulator]:
    """A simulated GitHub; fails at its end if an exchange did not keep to GitHub's own description."""
    contract = Contract()
    async with Simulator(observer=contract) as running:
        yield running
    assert not contract.violations, contract.violations


def _request(exchange: Exchange, pattern: str, names: dict[str, str]) -> MockRequest:
    body = json.dumps(exchange.body).encode() if exchange.method in {"POST", "PATCH", "PUT"} else None
    typed: dict[str, Any] = {name: int(value) if value.isdecimal() else value for name, value in names.items()}
    query = {name: values[-1] for name, values in exchange.query.items()}
    return MockRequest(HOST, exchange.method, exchange.path, HOST + pattern, query, typed, data=body)


def _reason(error: BaseException) -> str:
    """The schema's complaints, field by field, where there are any."""
    cause: BaseException | None = error
    while cause is not None:
        complaints = list(_leaves(getattr(cause, "schema_errors", None) or ()))
        if complaints:
            return "; ".join(complaints)
        cause = cause.__cause__
    return str(error)[:500]


def _leaves(complaints: Iterable[Any]) -> Iterator[str]:
    """The innermost complaints; an `anyOf` hides them one level down."""
    for complaint in complaints:
        if complaint.context:
            yield from _leaves(complaint.context)
        else:
            yield f"{'/'.join(map(str, complaint.absolute_path))}: {complaint.message[:200]}"
