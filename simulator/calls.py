"""What does a request ask, and what does it get? Requests as handlers see them, answers, and paginated lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from msgspec import Struct, field

from simulator.access import Caller, RefusedError
from simulator.state import Issue, Json, SimApp, SimPullRequest, SimRepository, State
from simulator.work import Activity

T = TypeVar("T")


class ApiResponse(Struct, frozen=True):
    """An answer; `body` None means an empty one."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """One request whose caller and repository are known."""

    github: Activity
    caller: Caller
    path: str
    names: Mapping[str, str]
    """parameters of the path: owner, repo, number, ..."""
    query: Mapping[str, str]
    body: Json
    found: SimRepository | None = None

    @property
    def api(self) -> str:
        return self.github.api_url

    @property
    def state(self) -> State:
        return self.github.state

    @property
    def repo(self) -> SimRepository:
        if self.found is None:
            raise RefusedError(404, "Not Found")
        return self.found

    @property
    def app(self) -> SimApp:
        """The App that authenticates with its JWT. Raises RefusedError 401."""
        if self.caller.app is None or self.caller.token is not None:
            raise RefusedError(401, "A JSON web token could not be decoded")
        return self.caller.app

    @property
    def issue(self) -> Issue:
        found = self.repo.issues.get(int(self.names["number"]))
        if found is None:
            raise RefusedError(404, "Not Found")
        return found

    @property
    def pull(self) -> SimPullRequest:
        if self.issue.pull is None:
            raise RefusedError(404, "Not Found")
        return self.issue.pull

    def text(self, name: str) -> str:
        """A required string field of the body. Raises RefusedError 422."""
        value = self.body.get(name)
        if not isinstance(value, str) or not value:
            raise RefusedError(422, "Validation Failed", errors=[{"code": "missing_field", "field": name}])
        return value


def page_of(
    call: Call, things: Sequence[T], *, default: int = 30, most: int = 100
) -> tuple[Sequence[T], dict[str, str]]:
    """The requested page and its Link header. GitHub silently clamps per_page."""
    size = max(1, min(most, _number(call, "per_page", default)))
    page = max(1, _number(call, "page", 1))
    last = max(1, -(-len(things) // size))
    targets = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    relations = [
        name for name, number in targets.items() if 1 <= number <= last and (name in {"prev", "next"} or number != page)
    ]
    links = [f'<{call.api}{call.path}?{_query(call, targets[name])}>; rel="{name}"' for name in relations]
    return things[(page - 1) * size : page * size], ({"Link": ", ".join(links)} if last > 1 else {})


def _number(call: Call, name: str, default: int) -> int:
    value = call.query.get(name, "")
    return int(value) if value.isdecimal() else default


def _query(call: Call, page: int) -> str:
    return urlencode({**call.query, "page": page})


def list_page(call: Call, things: Sequence[T], shape: Callable[[T], Json], *, key: str | None = None) -> ApiResponse:
    """A list answer; with `key`, an object that wraps the list and its total count."""
    part, headers = page_of(call, things)
    rows = [shape(thing) for thing in part]
    return ApiResponse({"total_count": len(things), key: rows} if key else rows, headers=headers)
