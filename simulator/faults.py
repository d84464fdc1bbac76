"""Which requests fail, and how? Planned faults, each for a pattern of requests and a number of times."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Literal

from aiohttp import web

from simulator.lies import falsify
from simulator.state import SimToken

Kind = Literal[
    "500",
    "502",
    "503",
    "html",
    "cut",
    "reset",
    "slow",
    "lost",
    "primary",
    "secondary",
    "429",
    "unnamed",
    "points",
    "revoked",
    "scope",
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
    "counts",
    "lag",
]
REFUSALS = {
    "401": "Bad credentials",
    "403": "Repository was archived so is read-only.",
    "404": "Not Found",
    "410": "Issues are disabled for this repo",
}
LIES: tuple[Kind, ...] = ("short", "empty", "repeat", "zeros", "counts", "lag")
"""a list that lost its last row or all of them, or repeats one; files without their lines; wrong counts; a replica"""
KINDS: tuple[Kind, ...] = ("500", "502", "503", "html", "cut", "reset")
"""those that any request may meet at random"""
HESITATIONS: tuple[Kind, ...] = (
    *KINDS,
    "slow",
    "lost",
    "primary",
    "secondary",
    "429",
    "unnamed",
    "points",
    "revoked",
    "scope",
    "no-link",
    *LIES,
)
"""all that GitHub does to a request, although nothing is wrong with it"""
_RARE: dict[Kind, float] = {"primary": 0.02, "unnamed": 0.3, "429": 0.5, "secondary": 0.5, "slow": 0.2}
"""those that cost an hour, minutes, or a second, beside the others' 1"""
_YOUNG = timedelta(minutes=1)
"""the age up to which a narrowed token may not have reached all replicas"""
_READS: tuple[Kind, ...] = ("no-link", "short", "empty", "repeat", "zeros", "counts")
SCOPE_LAG = (
    "found your scoped installation token with limited permissions, but the permissions they write aren't replicated "
    "yet"
)
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@dataclass(slots=True)
class Fault:
    """A fault: `match` is a shell pattern over "METHOD /path", `times` counts down, `after` skips the first matches."""

    kind: Kind
    match: str = "*"
    times: int = 1
    after: int = 0
    seconds: float = 1
    """duration of "slow", or the retry-after of "secondary" and "429", in seconds"""


@dataclass(slots=True)
class Faults:
    """The faults still to come."""

    planned: list[Fault] = field(default_factory=list)
    _chance: float = 0.0
    _kinds: Sequence[Kind] = KINDS
    _random: random.Random = field(default_factory=lambda: random.Random(0))
    slow: float = 1.0
    """seconds that a random "slow" answer takes"""
    counted: Counter[str] = field(default_factory=Counter)
    """the faults so far, by kind"""

    def plan(self, kind: Kind, match: str = "*", *, times: int = 1, after: int = 0, seconds: float = 1) -> Fault:
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
            kinds: list[Kind] = [kind for kind in self._kinds if _concerns(kind, request)] or ["500"]
            kind = self._random.choices(kinds, [_RARE.get(kind, 1.0) for kind in kinds])[0]
            return Fault(kind, seconds=self.slow if kind == "slow" else self._random.randint(1, 120))
        return None

    def spoil(self, fault: Fault, answer: web.Response, now: datetime) -> web.Response:
        """The real answer, damaged: its body cut in half, its Link header removed, or its rows plausible and false."""
        if fault.kind == "no-link":
            answer.headers.pop("Link", None)
        if fault.kind == "cut" and isinstance(answer.body, bytes):
            answer.body = answer.body[: len(answer.body) // 2]
        return falsify(fault.kind, answer, now=now, chance=self._random) if fault.kind in LIES else answer


def _concerns(kind: Kind, request: str) -> bool:
    """Whether a request can meet this fault."""
    is_query = request == "POST /graphql"
    if kind in _READS:
        return request.startswith("GET ") or (is_query and kind in ("short", "empty", "repeat"))
    if kind in ("scope", "revoked"):
        return not request.partition(" ")[2].startswith("/app")
    return is_query if kind == "points" else not (is_query and kind in ("lag", "primary"))


def is_young(token: SimToken | None, now: datetime) -> bool:
    """Whether a token may not have reached all replicas; only narrowed ones take that long."""
    return token is not None and token.repositories is not None and now - token.minted_at < _YOUNG


async def fail(fault: Fault, request: web.Request) -> web.StreamResponse | None:
    """The faulty answer; None if the real answer is still sent (slow), lost, or damaged by `Faults.spoil`."""
    message = {"message": "Server Error", "documentation_url": "https://docs.github.com/rest"}
    match fault.kind:
        case "500" | "502" | "503":
            return web.json_response(message, status=int(fault.kind))
        case "html":
            return web.Response(text="<html><body>502 Bad Gateway</body></html>", status=502, content_type="text/html")
        case "401" | "403" | "404" | "410":
            return web.json_response(message | {"message": REFUSALS[fault.kind]}, status=int(fault.kind))
        case "secondary" | "429" | "unnamed":
            after = {} if fault.kind == "unnamed" else {"Retry-After": str(int(fault.seconds))}
            status = 429 if fault.kind == "429" else 403
            return web.json_response(message | {"message": SECONDARY}, status=status, headers=after)
        case "points":
            limited = {"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation."}
            return web.json_response({"errors": [limited]})
        case "scope":
            return web.json_response(message | {"message": SCOPE_LAG}, status=403)
        case "renamed-host":
            return web.HTTPMovedPermanently("http://elsewhere.invalid/steal")
        case "reset":
            return cut_off(request)
        case "slow":
            await asyncio.sleep(fault.seconds)
    return None


def cut_off(request: web.Request) -> web.Response:
    """End the connection without an answer."""
    if request.transport:
        request.transport.abort()
    return web.Response(status=500)
