"""Which requests fail, and how? Planned faults, each for a pattern of requests and a number of times."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from aiohttp import web

Kind = Literal[
    "500",
    "502",
    "503",
    "html",
    "cut",
    "reset",
    "slow",
    "primary",
    "secondary",
    "401",
    "403",
    "404",
    "410",
    "no-link",
    "renamed-host",
    "short",
    "empty",
    "repeat",
    "zeros",
]
REFUSALS = {
    "401": "Bad credentials",
    "403": "Repository was archived so is read-only.",
    "404": "Not Found",
    "410": "Issues are disabled for this repo",
}
LIES: tuple[Kind, ...] = ("short", "empty", "repeat", "zeros")
"""a list that lost its last row or all of them, or repeats one; files without their lines"""
LISTS = ("files", "commits", "check_runs", "repositories", "workflow_runs")
KINDS: tuple[Kind, ...] = ("500", "502", "503", "html", "cut", "reset")
"""those that any request may meet at random"""


@dataclass(slots=True)
class Fault:
    """A fault: `match` is a shell pattern over "METHOD /path", `times` counts down, `after` skips the first matches."""

    kind: Kind
    match: str = "*"
    times: int = 1
    after: int = 0
    seconds: int = 1
    """duration of "slow", or the retry-after of "secondary", in seconds"""


@dataclass(slots=True)
class Faults:
    """The faults still to come."""

    planned: list[Fault] = field(default_factory=list)
    _chance: float = 0.0
    _kinds: Sequence[Kind] = KINDS
    _random: random.Random = field(default_factory=lambda: random.Random(0))

    def plan(self, kind: Kind, match: str = "*", *, times: int = 1, after: int = 0, seconds: int = 1) -> Fault:
        fault = Fault(kind, match, times, after, seconds)
        self.planned.append(fault)
        return fault

    def at_random(self, chance: float, *, seed: int, kinds: Sequence[Kind] = KINDS) -> None:
        """Make each later request fail with this chance; the same seed repeats the same faults."""
        self._chance, self._kinds, self._random = chance, kinds, random.Random(seed)

    def calm(self) -> None:
        """Cancel all faults."""
        self.planned.clear()
        self._chance = 0.0

    def next_for(self, request: str) -> Fault | None:
        """The fault that applies to a request ("METHOD /path"), if any."""
        for fault in self.planned:
            if fault.times > 0 and fnmatchcase(request, fault.match):
                if fault.after:
                    fault.after -= 1
                    continue
                fault.times -= 1
                return fault
        if self._chance and self._random.random() < self._chance:
            return Fault(self._random.choice(self._kinds))
        return None


async def fail(fault: Fault, request: web.Request) -> web.StreamResponse | None:
    """The faulty answer; None if the real answer is still sent (slow) or damaged by `spoil`."""
    message = {"message": "Server Error", "documentation_url": "https://docs.github.com/rest"}
    match fault.kind:
        case "500" | "502" | "503":
            return web.json_response(message, status=int(fault.kind))
        case "html":
            return web.Response(text="<html><body>502 Bad Gateway</body></html>", status=502, content_type="text/html")
        case "401" | "403" | "404" | "410":
            return web.json_response(message | {"message": REFUSALS[fault.kind]}, status=int(fault.kind))
        case "secondary":
            text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
            return web.json_response(
                message | {"message": text}, status=403, headers={"Retry-After": str(fault.seconds)}
            )
        case "renamed-host":
            return web.HTTPMovedPermanently("http://elsewhere.invalid/steal")
        case "reset":
            if request.transport:
                request.transport.abort()
            return web.Response(status=500)
        case "slow":
            await asyncio.sleep(fault.seconds)
    return None


def spoil(fault: Fault, answer: web.Response) -> web.Response:
    """The real answer, damaged: its body cut in half, its Link header removed, or its rows plausible and false."""
    if fault.kind == "no-link":
        answer.headers.pop("Link", None)
    if fault.kind == "cut" and isinstance(answer.body, bytes):
        answer.body = answer.body[: len(answer.body) // 2]
    if fault.kind in LIES and isinstance(answer.body, bytes) and answer.body and answer.status == 200:
        answer.headers.pop("ETag", None)  # GitHub's is a hash of what it sent
        answer.body = json.dumps(_with_lies(json.loads(answer.body), fault.kind)).encode()
    return answer


def _with_lies(answer: Any, kind: Kind) -> Any:
    """The answer with false lists: that of an array, or each list of an object."""
    if isinstance(answer, dict):
        return {name: _false_rows(rows, kind) if name in LISTS else rows for name, rows in answer.items()}
    return _false_rows(answer, kind)


def _false_rows(rows: Any, kind: Kind) -> Any:
    if not isinstance(rows, list):
        return rows
    match kind:
        case "short":
            return rows[:-1]
        case "empty":
            return []
        case "repeat":
            return [*rows[:1], *rows]
    nothing = {"additions": 0, "deletions": 0, "changes": 0}
    return [{name: row[name] for name in row if name != "patch"} | nothing if "patch" in row else row for row in rows]
