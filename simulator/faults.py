"""Which requests fail, and how? Planned faults, each for a pattern of requests and a number of times."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

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
]
REFUSALS = {
    "401": "Bad credentials",
    "403": "Repository was archived so is read-only.",
    "404": "Not Found",
    "410": "Issues are disabled for this repo",
}
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
    """The faulty answer; None if the real answer is still sent (slow) or damaged by `spoil` (no-link, cut)."""
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
    """The real answer, damaged: its body cut in half, or its Link header removed."""
    if fault.kind == "no-link":
        answer.headers.pop("Link", None)
    if fault.kind == "cut" and isinstance(answer.body, bytes):
        answer.body = answer.body[: len(answer.body) // 2]
    return answer
