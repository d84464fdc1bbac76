"""Which landings of a work group are live, after everything that landed and every revert?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from bot.model import State

What = Literal["land", "again", "back", "restore", "part"]


class Event(Struct, frozen=True):
    """Something that happened to a work group; `places` are the landings concerned."""

    at: int
    """epoch seconds"""
    rank: int
    """order within one second: a landing, then its revert, then the revert of the revert"""
    place: int
    what: What
    places: frozenset[int] = frozenset()


@dataclass(slots=True)
class Standing:
    """The state of a work group after its events."""

    live: set[int] = field(default_factory=set)
    delivered: int = 0
    emptied: bool = False
    reverted_by: int | None = None
    partly: list[int] = field(default_factory=list)

    @property
    def state(self) -> State:
        if not self.emptied:
            return "landed"
        return "relanded" if self.live else "reverted"


def stand(events: Iterable[Event], patch: Callable[[int], int]) -> Standing:
    """Apply the events in order. `patch` is equal for landings of the same patch: reverting one reverts all of them."""
    now = Standing()
    for event in sorted(events, key=lambda event: (event.at, event.rank, event.place)):
        if event.what == "land":
            _land(now, event)
        elif event.what == "again":
            _land_again(now, event)
        elif event.what == "restore":
            _restore(now, event)
        elif event.what == "part":
            now.partly.append(event.place)
        else:
            _take_back(now, event, patch)
    return now


def _land(now: Standing, event: Event) -> None:
    if not now.live:
        now.delivered = event.at
    now.live.add(event.place)


def _land_again(now: Standing, event: Event) -> None:
    """A landing that says it brings the work back: earlier landings are no longer live."""
    now.emptied = now.emptied or bool(now.live)
    now.live = {event.place}
    now.delivered = event.at


def _restore(now: Standing, event: Event) -> None:
    if not now.live:
        now.delivered = event.at
    now.live |= event.places


def _take_back(now: Standing, event: Event, patch: Callable[[int], int]) -> None:
    patches = {patch(place) for place in event.places}
    gone = {place for place in now.live if patch(place) in patches}
    if not gone:
        return
    now.live -= gone
    if now.live:
        now.partly.append(event.place)
    else:
        now.emptied = True
        now.reverted_by = event.place
