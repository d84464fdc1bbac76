"""When did work land, if the dates in a history can be anything from 1970 to 9999?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

EARLIEST = int(datetime(1980, 1, 1, tzinfo=UTC).timestamp())
"""no commit is older: the first version control systems whose history was imported into git are younger"""


def is_believable(moment: int, *, oldest: int, now: int) -> bool:
    return oldest <= moment <= now


def oldest_believable(times: Sequence[int], now: int) -> int:
    """The first of the times, oldest commit first, that a commit can have; `now` if none can."""
    return next((moment for moment in times if EARLIEST <= moment <= now), now)


def believable_times(times: Sequence[int], *, now: int, oldest: int | None = None, before: int = 0) -> dict[int, int]:
    """By index, a believable time for each commit of a first-parent line, oldest first, whose own time is not.

    That is the time of the nearest believable commit before it, else of the next one. `oldest` and `before` are
    the times of the oldest believable commit and of the last one, if the line continues a known one.
    """
    least = oldest_believable(times, now) if oldest is None else oldest
    found: dict[int, int] = {}
    last = before
    first = next((moment for moment in times if is_believable(moment, oldest=least, now=now)), least)
    for index, moment in enumerate(times):
        if is_believable(moment, oldest=least, now=now):
            last = moment
        else:
            found[index] = last or first
    return found
