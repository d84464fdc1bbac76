"""When may the next request of one installation start?

Requests are sent one after the other. Writes keep a pause between them and stay within hourly budgets, below GitHub's
own: 80 pieces of content a minute and 500 an hour, of which some 20 and 150 may be issues. What GitHub refuses pauses
only what it refused: REST or GraphQL, or writes alone, so that a limit on writes never stops reads.
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, Protocol

from msgspec import Struct

from bot.github.limits import Clock, Limited, RequestPace
from bot.model.budget import Budget, spend, wait_for

LimitName = Literal["core", "graphql", "writes"]
"""what one pause stops: a resource, for reads and writes, or all writes"""
Write = Literal["edit", "content", "issue"]

_CONTENT = Budget("content", 3600 / 350, burst=100, spared=60)
"""at most 450 an hour; digests leave 60 of a burst to landings"""
_ISSUES = Budget("issues", 36.0, burst=20)
"""at most 120 an hour"""
_ISSUE_GAP = Budget("issue gap", 4.0)


class Errand(Struct, frozen=True):
    """What the lane has to know about a request. `write` is None for a read; `urgent` writes go before others."""

    resource: Literal["core", "graphql"] = "core"
    write: Write | None = None
    urgent: bool = True

    @property
    def limits(self) -> tuple[LimitName, ...]:
        """The limits that must not be reached."""
        return (self.resource,) if self.write is None else (self.resource, "writes")

    @property
    def refused_limit(self) -> LimitName:
        """The limit that a refusal of this request shows."""
        return self.resource if self.write is None else "writes"


def errand_of(method: str, url: str, *, urgent: bool = True) -> Errand:
    """What a request means for the limits. A token is no content, and a GraphQL question is a read."""
    resource: Literal["core", "graphql"] = "graphql" if url.endswith("/graphql") else "core"
    if method in ("GET", "QUERY") or url.endswith("/access_tokens"):
        return Errand(resource)
    if method != "POST":
        return Errand(resource, "edit", urgent)
    return Errand(resource, "issue" if url.endswith("/issues") else "content", urgent)


class Pace(Protocol):
    """The pace of one installation, of this process or of all that serve it. All numbers are seconds from now."""

    async def reserve(self, budgets: Sequence[Budget], *, urgent: bool, patience: float) -> float:
        """Spend the budgets on a request that starts after the seconds returned; above `patience` nothing is spent."""
        ...

    async def seconds_until_open(self, limits: Collection[str]) -> float: ...

    async def close(self, limit: str, seconds: float) -> None: ...


class OwnPace:
    """The pace of an installation that only this process serves."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spent: dict[str, float] = {}
        self._closed: dict[str, float] = {}

    async def reserve(self, budgets: Sequence[Budget], *, urgent: bool, patience: float) -> float:
        now = self._clock.steady()
        wait = wait_for(budgets, self._spent, now, urgent=urgent)
        if wait <= patience:
            self._spent |= spend(budgets, self._spent, now + wait)
        return wait

    async def seconds_until_open(self, limits: Collection[str]) -> float:
        return max((self._closed.get(limit, 0.0) for limit in limits), default=0.0) - self._clock.steady()

    async def close(self, limit: str, seconds: float) -> None:
        self._closed[limit] = max(self._closed.get(limit, 0.0), self._clock.steady() + seconds)


class Lane:
    """The requests of one installation, one after the other; with a shared `pace`, across processes."""

    def __init__(self, pace: RequestPace, clock: Clock, shared: Pace | None = None) -> None:
        self._pace = pace
        self._clock = clock
        self._shared: Pace = shared or OwnPace(clock)
        self._turn = asyncio.Lock()
        self._next_write = float("-inf")
        self._promised: dict[Errand, float] = {}
        self.hits: Counter[LimitName] = Counter()
        """limits hit in a row"""
        self._budgets = _budgets(pace.write_gap)

    async def pause(self, limit: LimitName, seconds: float) -> None:
        """Let no request within this limit start for `seconds`."""
        await self._shared.close(limit, seconds)

    @asynccontextmanager
    async def turn(self, errand: Errand) -> AsyncIterator[None]:
        """Hold the lane for one request. Raises `Limited` at once if the pause exceeds the patience.

        Whoever waits does not hold the lane: reads pass a write that waits.
        """
        await self._wait_until_open(errand)
        if errand.write is not None:
            await self._pay(errand)
        while True:
            async with self._turn:
                wait = await self._paused_for(errand)
                if errand.write is not None:
                    wait = max(wait, self._next_write - self._clock.steady())
                if wait <= 0:
                    try:
                        yield
                    finally:
                        if errand.write is not None:
                            self._next_write = self._clock.steady() + self._pace.write_gap
                    return
            await self._clock.sleep(wait)

    async def _wait_until_open(self, errand: Errand) -> None:
        """Before a budget is spent: what is reserved before a pause would have passed when it ends."""
        wait = await self._paused_for(errand)
        if wait > 0:
            await self._clock.sleep(wait)

    async def _paused_for(self, errand: Errand) -> float:
        wait = await self._shared.seconds_until_open(errand.limits)
        if wait > self._pace.patience:
            raise Limited(wait)
        return wait

    async def _pay(self, errand: Errand) -> None:
        """Wait until the budgets allow one more. Raises `Limited` with a time of its own for each that must wait long.

        Otherwise all that wait would come back at the same moment, and only one of them would be served.
        """
        budgets, patience = self._budgets[errand.write or "edit"], self._pace.patience
        wait = await self._shared.reserve(budgets, urgent=errand.urgent, patience=patience)
        if wait > patience:
            now = self._clock.steady()
            start = max(self._promised.get(errand, now), now + wait)
            self._promised[errand] = start + max(one.gap for one in budgets)
            raise Limited(start - now)
        if wait > 0:
            await self._clock.sleep(wait)


def _budgets(write_gap: float) -> Mapping[Write, tuple[Budget, ...]]:
    """What each kind of write spends; nothing without a gap, for a server without limits."""
    if not write_gap:
        return {"edit": (), "content": (), "issue": ()}
    gap = Budget("write gap", write_gap)
    return {"edit": (gap,), "content": (gap, _CONTENT), "issue": (gap, _CONTENT, _ISSUES, _ISSUE_GAP)}
