"""Which changes does each month of a profile list, and what is each called where it is shown?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.model import Change, ChangeId, Month, MonthRecord, Profile
from bot.render import wording
from bot.render.html_text import html_text, html_words


@dataclass(frozen=True, slots=True)
class Listing:
    """What a page needs to know of every change before it shows any, worked out once for all of them."""

    changes: Mapping[ChangeId, Change]
    months: dict[Month, list[ChangeId]]
    """month -> the changes of its items, in their order"""
    elsewhere: Sequence[ChangeId]
    """changes that are cited and belong to no month shown, such as the revert of another's"""
    numbers: Mapping[ChangeId, str]
    """change -> `#41` or `@0123456`, also of a change which the profile does not hold; HTML"""
    names: Mapping[str, str]
    """repository -> what stands before a number, empty where the profile has one repository; HTML"""


def listing_of(profile: Profile) -> Listing:
    """The changes of a profile by month."""
    changes: dict[ChangeId, Change] = {}
    numbers = _Numbers()
    names: dict[str, str] = {}
    commits = []
    for change in profile.changes:
        key = change.id
        changes[key] = change
        names[change.repository] = ""
        if number := change.pull_request:
            numbers[key] = f"#{number}"
        else:
            commits.append(key)
    numbers.update(_commit_numbers(commits))
    months = {month.month: _changes_of(month) for month in profile.months}
    cited = set(changes).difference(*months.values())
    return Listing(
        changes=changes,
        months=months,
        elsewhere=[key for key in changes if key in cited] if cited else [],
        numbers=numbers,
        names={"": ""} | (names if len(names) < 2 else {name: _short_name(name) for name in names}),
    )


def _changes_of(month: MonthRecord) -> list[ChangeId]:
    found: list[ChangeId] = []
    for item in month.items:
        found += item.changes
    return found


class _Numbers(dict[ChangeId, str]):
    """Of a change that is not held the id is all there is."""

    def __missing__(self, key: ChangeId) -> str:
        return html_text(wording.short_id(key))


def _commit_numbers(keys: Sequence[ChangeId]) -> dict[ChangeId, str]:
    """Of changes that no pull request brought."""
    commits = html_words([key.rpartition("@")[2][:7] for key in keys])
    return {key: f"@{commit}" for key, commit in zip(keys, commits, strict=True)}


def _short_name(repository: str) -> str:
    return html_text(repository.rpartition("/")[2])
