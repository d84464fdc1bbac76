"""What was reverted or landed again of a contributor's work, month by month?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.landing.months import month_of
from bot.metrics.work import MonthWork
from bot.model.change import Change
from bot.model.ids import ChangeId, Month

Evidence = tuple[ChangeId, ...]
Course = Literal["reverted", "reverted_now", "partly", "relanded", "relanded_later", "took_back"]
"""reverted: landed this month, taken back (then or later) · reverted_now: of an earlier month, taken back this month
· partly: taken back in part · relanded: landed again this month · relanded_later: landed and taken back, back in a
later month · took_back: a revert that this contributor landed."""


class Turn(Struct, frozen=True):
    """A revert or a re-land that a text about this month must not leave out."""

    course: Course
    change: Change
    evidence: Evidence
    month: Month | None = None
    """of the revert (reverted, partly) or of the re-land (relanded_later), where another month and known"""


def turns_by_month(
    work: Mapping[Month, MonthWork], changes: Mapping[ChangeId, Change], *, zone: ZoneInfo
) -> dict[Month, tuple[Turn, ...]]:
    """The turns of each month; `work` is the contributor's whole record, `changes` holds reverts by others too."""
    found: dict[Month, list[Turn]] = defaultdict(list)
    own: dict[ChangeId, Change] = {}
    for month, done in work.items():
        for change in done.delivered:
            own[change.id] = change
            found[month].extend(_delivered_turns(change, month, changes, zone))
        for change in {change.id: change for change, _ in done.commits if change.state == "relanded"}.values():
            delivered = month_of(change.landed_at, zone)
            if delivered > month:
                found[month].append(Turn("relanded_later", change, (change.id,), delivered))
    for change in own.values():
        for by in _reverters(change):
            when = _month(by, changes, zone)
            if when is not None and when in work and when > month_of(change.landed_at, zone):
                found[when].append(Turn("reverted_now", change, (change.id, by)))
    return {month: _without_echo(turns, own) for month, turns in found.items()}


def _reverters(change: Change) -> Evidence:
    return (change.reverted_by,) if change.state == "reverted" and change.reverted_by else ()


def _month(change: ChangeId, changes: Mapping[ChangeId, Change], zone: ZoneInfo) -> Month | None:
    known = changes.get(change)
    return month_of(known.landed_at, zone) if known else None


def _delivered_turns(
    change: Change, month: Month, changes: Mapping[ChangeId, Change], zone: ZoneInfo
) -> Iterable[Turn]:
    if change.kind == "revert":
        yield Turn("took_back", change, (change.id,))
    elif change.state == "relanded":
        # Where somebody else landed it again later, its first month tells that it came back.
        if month_of(change.landed_at, zone) == month:
            yield Turn("relanded", change, (change.id,))
    elif change.state == "reverted":
        by = tuple(name for name in _reverters(change) if name in changes)
        when = _month(by[0], changes, zone) if by else None
        yield Turn("reverted", change, (change.id, *by), when if when != month else None)
    if change.state != "reverted" and change.partly_reverted_by:
        by = tuple(name for name in change.partly_reverted_by if name in changes)
        yield Turn("partly", change, (change.id, *by))


def _without_echo(turns: Sequence[Turn], own: Mapping[ChangeId, Change]) -> tuple[Turn, ...]:
    """A contributor's revert of the contributor's own change is told once, where the change is told."""
    reverting = {name for turn in turns if turn.course in ("reverted", "reverted_now") for name in turn.evidence[1:]}
    return tuple(turn for turn in turns if not (turn.course == "took_back" and turn.change.id in reverting))
