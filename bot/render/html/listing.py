"""Which changes does each month of a profile list, and under what names?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

from msgspec import Struct

from bot.model.change import Change, Credit, Item
from bot.model.ids import ChangeId, Month
from bot.model.profile import Profile
from bot.render import non_code_activity, wording
from bot.render.escaping import html_text, html_texts
from bot.render.non_code_activity import NonCodeLine

_MOST_OUTSIDE = 120
_CHANGES: Callable[[Item], tuple[ChangeId, ...]] = attrgetter("changes")


class Listing(Struct, frozen=True):
    """What a page needs to know about all changes before it shows any, computed once."""

    changes: Mapping[ChangeId, Change]
    credits: Mapping[ChangeId, Credit]
    """the person's own part in each of them"""
    months: dict[Month, list[ChangeId]]
    """month -> the changes of its items, in order"""
    month_anchors: Mapping[ChangeId, str]
    """change -> the HTML id of the first month that lists it; only changes that the profile contains"""
    outside_months: Sequence[ChangeId]
    """cited changes that belong to no month shown, such as another person's revert; the newest of them"""
    numbers: Mapping[ChangeId, str]
    """change -> `#41` or `@0123456`, also for a change that the profile does not contain; HTML"""
    names: Mapping[str, str]
    """repository -> prefix of its numbers, empty if the profile has one repository; HTML"""
    non_code: Mapping[Month, Sequence[NonCodeLine]]
    """month with non-code activity -> each kind of it, newest month first"""


def profile_listing(profile: Profile) -> Listing:
    """The changes of a profile by month."""
    changes = {change.id: change for change in profile.changes}
    months = {month.month: [*chain.from_iterable(map(_CHANGES, month.items))] for month in profile.months}
    month_anchors = _month_anchors(months, changes)
    names = {change.repository for change in profile.changes}
    return Listing(
        changes=changes,
        credits=profile.credits,
        months=months,
        month_anchors=month_anchors,
        outside_months=[]
        if len(month_anchors) == len(changes)
        else [key for key in changes if key not in month_anchors][-_MOST_OUTSIDE:],
        numbers=_numbers(changes),
        names={"": ""} | {name: _short_name(name) if len(names) > 1 else "" for name in names},
        non_code={
            one.month: [*non_code_activity.month_lines(one.non_code)]
            for one in non_code_activity.history_months(profile)
            if one.non_code
        },
    )


def _month_anchors(months: dict[Month, list[ChangeId]], changes: Mapping[ChangeId, Change]) -> dict[ChangeId, str]:
    found: dict[ChangeId, str] = {}
    # From the last to the first, so that the first month wins.
    for month, keys in reversed(months.items()):
        anchor = f"m{month}"
        for key in keys:
            found[key] = anchor
    return found if found.keys() <= changes.keys() else {key: found[key] for key in found if key in changes}


def _numbers(changes: Mapping[ChangeId, Change]) -> Mapping[ChangeId, str]:
    numbers = _Numbers({key: f"#{change.pull_request}" for key, change in changes.items() if change.pull_request})
    if len(numbers) < len(changes):
        numbers.update(_commit_numbers([key for key in changes if key not in numbers]))
    return numbers


class _Numbers(dict[ChangeId, str]):
    """Change -> number; for a change that the profile does not contain, its short id."""

    def __missing__(self, key: ChangeId) -> str:
        return html_text(wording.short_id(key))


def _commit_numbers(keys: Sequence[ChangeId]) -> dict[ChangeId, str]:
    """The numbers of changes without a pull request."""
    commits = html_texts([key.rpartition("@")[2][:7] for key in keys])
    return {key: f"@{commit}" for key, commit in zip(keys, commits, strict=True)}


def _short_name(repository: str) -> str:
    return html_text(repository.rpartition("/")[2])
