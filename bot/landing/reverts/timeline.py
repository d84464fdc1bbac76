"""Which landings of a work group are live, after everything that landed and every revert?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from bot.model.ids import State

EventKind = Literal["land", "again", "back", "restore", "part"]


class Event(Struct, frozen=True):
    """Something that happened to a work group; `indexes` are the landings concerned."""

    at: int
    """epoch seconds"""
    rank: int
    """order within one second: a landing, then its revert, then the revert of the revert"""
    index: int
    what: EventKind
    indexes: frozenset[int] = frozenset()


@dataclass(slots=True)
class WorkState:
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


def play_events(events: Iterable[Event], patch: Callable[[int], int]) -> WorkState:
    """Apply the events in order. `patch` is equal for landings of the same patch: reverting one reverts all of them."""
    state = WorkState()
    for event in sorted(events, key=lambda event: (event.at, event.rank, event.index)):
        if event.what == "land":
            _land(state, event)
        elif event.what == "again":
            _reland(state, event)
        elif event.what == "restore":
            _restore(state, event)
        elif event.what == "part":
            state.partly.append(event.index)
        else:
            _revert(state, event, patch)
    return state


def _land(state: WorkState, event: Event) -> None:
    if not state.live:
        state.delivered = event.at
    state.live.add(event.index)


def _reland(state: WorkState, event: Event) -> None:
    """A landing that says it brings the work back: earlier landings are no longer live."""
    state.emptied = state.emptied or bool(state.live)
    state.live = {event.index}
    state.delivered = event.at


def _restore(state: WorkState, event: Event) -> None:
    if not state.live:
        state.delivered = event.at
    state.live |= event.indexes


def _revert(state: WorkState, event: Event, patch: Callable[[int], int]) -> None:
    patches = {patch(index) for index in event.indexes}
    reverted = {index for index in state.live if patch(index) in patches}
    if not reverted:
        return
    state.live -= reverted
    if state.live:
        state.partly.append(event.index)
    else:
        state.emptied = True
        state.reverted_by = event.index
