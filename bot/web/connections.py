"""Which connections are open, how long may each last, and which one is dropped when there are too many?

Nothing that a sender only announces or holds open can shut out others: each peer, all strangers, and all together have
bounds below the operating system's limit on open files, and the oldest connection without a verified request goes
first. Peers that lately sent a valid signature have bounds of their own, which strangers cannot use up.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct

from bot.web.peers import KnownSenders

log = logging.getLogger(__name__)

ACCEPTED_AT_ONCE = 32
"""connections accepted in one turn of the event loop; a few turns pass before the first excess one is closed"""
_OWN_FILES = 160
"""files for the database, git, GitHub and logs"""
_ACCEPTED_AHEAD = 4 * ACCEPTED_AT_ONCE
_MOST = 4096
_FEWEST = 48
_LOOK_EVERY = 0.5
_LOG_EVERY = 60.0


class Phase(enum.IntEnum):
    """What a connection is doing."""

    HEAD = 0
    """its next request has begun, and the headers are not complete"""
    IDLE = 1
    BODY = 2
    """the body of an unverified delivery is arriving"""
    ANSWER = 3
    """an answer is being sent"""
    WORK = 4
    """we are working on its request"""


_UNVERIFIED = (Phase.HEAD, Phase.IDLE, Phase.BODY, Phase.ANSWER)


class Bounds(Struct, frozen=True):
    """The most connections, and the most of them with an incomplete head."""

    connections: int
    heads: int


class ConnectionLimits(Struct, frozen=True):
    """Bounds on numbers and times."""

    strangers: Bounds
    stranger: Bounds
    """for one peer that has not signed lately"""
    known: Bounds
    known_peer: Bounds
    head_seconds: float = 5.0
    body_seconds: float = 8.0
    idle_seconds: float = 75.0
    answer_seconds: float = 30.0

    @classmethod
    def for_files(cls, files: int) -> ConnectionLimits:
        """The limits of a process that may open this many files."""
        most = max(min(files - _OWN_FILES - _ACCEPTED_AHEAD, _MOST), _FEWEST)
        strangers, known = most // 3, most - most // 3
        return cls(
            strangers=Bounds(strangers, strangers * 2 // 3),
            stranger=Bounds(max(strangers // 4, 8), max(strangers // 6, 8)),
            known=Bounds(known, known * 2 // 3),
            known_peer=Bounds(known * 3 // 4, known // 2),
        )

    def seconds(self, phase: Phase) -> float:
        """How long a connection may be in this phase; work has limits of its own."""
        return (self.head_seconds, self.idle_seconds, self.body_seconds, self.answer_seconds, float("inf"))[phase]


def file_limit() -> int:
    """How many files this process may have open."""
    if sys.platform == "win32":
        return _MOST
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST * 2 if soft == resource.RLIM_INFINITY else soft


class Droppable(Protocol):
    """A connection in the registry. The registry alone writes its phase and time."""

    peer: str
    phase: Phase
    since: float
    known: bool
    group: ConnectionGroup | None

    def drop(self) -> None:
        """Close at once, without sending what is left."""
        ...


class ConnectionGroup:
    """The connections under one pair of bounds, by phase, oldest first."""

    __slots__ = ("phases", "size")

    def __init__(self) -> None:
        self.phases: tuple[dict[Droppable, None], ...] = tuple({} for _ in Phase)
        self.size = 0

    def excess(self, bounds: Bounds) -> Droppable | None:
        """The connection to drop; None within the bounds."""
        heads = self.phases[Phase.HEAD]
        if len(heads) > bounds.heads:
            return next(iter(heads))
        return self._oldest() if self.size > bounds.connections else None

    def _oldest(self) -> Droppable:
        """The oldest whose request is not being worked on, else the oldest of all."""
        firsts = [next(iter(self.phases[phase])) for phase in _UNVERIFIED if self.phases[phase]]
        return min(firsts, key=lambda one: one.since) if firsts else next(iter(self.phases[Phase.WORK]))


class OpenConnections:
    """All open connections of the server, each in the group of its peer and in that of strangers or known senders."""

    def __init__(
        self,
        limits: ConnectionLimits,
        known: KnownSenders,
        *,
        is_proxy: Callable[[str], bool] = lambda peer: False,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits, self._known, self._is_proxy, self._timer = limits, known, is_proxy, timer
        self._groups = (ConnectionGroup(), ConnectionGroup())  # strangers, known senders
        self._by_peer: dict[str, ConnectionGroup] = {}
        self.dropped: Counter[str] = Counter()
        """connections dropped, by reason; the log names them once a minute"""
        self.dropped_in_all: Counter[str] = Counter()
        """the same since the start"""

    def __len__(self) -> int:
        return sum(group.size for group in self._groups)

    def has_half_heads(self) -> bool:
        """Whether a request has begun whose head is not complete."""
        return any(group.phases[Phase.HEAD] for group in self._groups)

    def add(self, one: Droppable) -> None:
        """Add a connection that was just opened; drop the oldest if it is one too many."""
        one.known = one.peer in self._known or self._is_proxy(one.peer)
        one.phase, one.since = Phase.HEAD, self._timer()
        own = one.group = self._by_peer.get(one.peer) or self._by_peer.setdefault(one.peer, ConnectionGroup())
        for group in (own, self._groups[one.known]):
            group.phases[Phase.HEAD][one] = None
            group.size += 1
        self._keep_within_bounds(one, own)

    def change_phase(self, one: Droppable, phase: Phase) -> None:
        """The connection does something else from now on."""
        if one.group is None or one.phase == phase:
            return
        for group in (one.group, self._groups[one.known]):
            del group.phases[one.phase][one]
            group.phases[phase][one] = None
        one.phase, one.since = phase, self._timer()
        if phase is Phase.HEAD:
            self._keep_within_bounds(one, one.group)

    def recognise(self, one: Droppable) -> None:
        """Its peer has sent a valid signature: it no longer counts as a stranger's."""
        if one.group is None or one.known:
            return
        for group, step in ((self._groups[0], -1), (self._groups[1], 1)):
            group.size += step
        del self._groups[0].phases[one.phase][one]
        self._groups[1].phases[one.phase][one] = None
        one.known = True

    def remove(self, one: Droppable) -> None:
        """The connection is closed."""
        if one.group is None:
            return
        for group in (one.group, self._groups[one.known]):
            del group.phases[one.phase][one]
            group.size -= 1
        if not one.group.size:
            self._by_peer.pop(one.peer, None)
        one.group = None

    def drop(self, one: Droppable, reason: str) -> None:
        """Close the connection at once."""
        self.dropped[reason] += 1
        self.dropped_in_all[reason] += 1
        self.remove(one)
        one.drop()

    def drop_late(self) -> None:
        """Drop every connection that has been in its phase for too long."""
        now = self._timer()
        for group in self._groups:
            for phase in _UNVERIFIED:
                oldest = now - self.limits.seconds(phase)
                for one in _older_than(group.phases[phase], oldest):
                    self.drop(one, f"{phase.name.lower()} took too long")

    async def watch(self) -> None:
        """Drop late connections, and log how many were dropped, forever."""
        logged = self._timer()
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            self.drop_late()
            if self.dropped and self._timer() - logged >= _LOG_EVERY:
                logged = self._timer()
                log.warning("connections dropped", extra={"connections": dict(sorted(self.dropped.items()))})
                self.dropped.clear()

    def _keep_within_bounds(self, one: Droppable, own: ConnectionGroup) -> None:
        limits = self.limits
        for group, bounds, reason in (
            (own, limits.known_peer if one.known else limits.stranger, "too many of one peer"),
            (self._groups[one.known], limits.known if one.known else limits.strangers, "too many in all"),
        ):
            surplus = group.excess(bounds)
            if surplus is not None:
                self.drop(surplus, reason)


def _older_than(connections: dict[Droppable, None], moment: float) -> Iterator[Droppable]:
    """Those that were there before the moment; they are in order of time."""
    while connections:
        first = next(iter(connections))
        if first.since > moment:
            return
        yield first
