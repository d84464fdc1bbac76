"""Where does each change of a profile stand on its page, in how much detail, and how is it cited?

The newest months list every change with its title and address. Where the page would grow beyond its budget, older
months name their changes by number alone, and the oldest of very long histories count them; the JSON form holds all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.model import Change, ChangeId, MonthRecord, Profile, Text
from bot.render import wording
from bot.render.html_text import HtmlText, html_text
from bot.render.plain import LONGEST_TEXT

_IN_FULL = 6
"""active months that list their changes in full before older ones name theirs by number"""
CITED = 6
"""changes linked behind one sentence; of more, the number is told"""
_MONTH, _SENTENCE, _CITATION = 155, 11, 7
"""bytes of a month without evidence, of the frame of a sentence's citations, of a citation without a link"""
_UNFOLDING, _NUMBER = 85, 10
"""bytes of the frame of a month's list, and of one change in it by number"""
_LINKED, _ROW = 14, 84
"""bytes of the link of a citation, and of a row beside title and address"""


@dataclass(slots=True)
class Evidence:
    """Where each change of a profile stands on the page, and how it is cited."""

    changes: dict[ChangeId, Change]
    one_repository: bool
    day: Callable[[int], str]
    detail: dict[str, str] = field(default_factory=dict)
    """month -> `rows`, `numbers` or `count`"""
    anchors: dict[ChangeId, str] = field(default_factory=dict)
    """change -> its own id, or its month's"""
    elsewhere: list[ChangeId] = field(default_factory=list)
    """changes that are cited and belong to no month shown, such as the revert of another's"""
    numbers: dict[ChangeId, str] = field(default_factory=dict)
    """change -> `#41` or `@0123456`, escaped"""
    names: dict[str, str] = field(default_factory=dict)
    """repository -> its name without the owner, escaped"""

    def label(self, key: ChangeId) -> str:
        """`#41`, or `beacon#41` where the profile has several repositories; HTML."""
        change = self.changes.get(key)
        if change is None or self.one_repository:
            return self.number(key)
        name = self.names.get(change.repository)
        if name is None:
            name = self.names[change.repository] = html_text(change.repository.rpartition("/")[2])
        return name + self.number(key)

    def number(self, key: ChangeId) -> str:
        """`#41` or `@0123456`; HTML."""
        return self.numbers.get(key) or html_text(wording.short_id(key))

    def cite(self, keys: Sequence[ChangeId], most: int = CITED, here: str = "") -> str:
        """Links to the changes of a sentence, a score or a skill, bare numbers where they stand `here`; HTML."""
        anchors, numbers = self.anchors, self.numbers
        said = []
        for key in keys[:most]:
            number = numbers.get(key) or self.number(key)
            anchor = anchors.get(key, here)
            said.append(number if anchor == here else f"<a href=#{anchor}>{number}</a>")
        if len(keys) > most:
            said.append(f"+{len(keys) - most}")
        return " ".join(said)

    def sentences(self, text: Text, most: int = CITED, here: str = "") -> HtmlText:
        """Each sentence followed by the changes it rests on."""
        return HtmlText(
            " ".join(
                f"{html_text(one.text, LONGEST_TEXT)}<sup>{self.cite(one.evidence, most, here)}</sup>"
                for one in text.sentences
            )
        )


def evidence_of(profile: Profile, room: int) -> Evidence:
    """Which months get rows, numbers or a count in about `room` bytes, newest months first; and the anchors."""
    evidence = Evidence(
        changes={change.id: change for change in profile.changes},
        one_repository=len({change.repository for change in profile.changes}) < 2,
        day=wording.day_reader(profile.method.timezone),
        numbers={change.id: _number(change) for change in profile.changes},
    )
    evidence.detail = _detail(profile, evidence.changes, room)
    for month in profile.months:
        _set_anchors(month, evidence)
    for key in (change.id for change in profile.changes):
        if key not in evidence.anchors:
            evidence.anchors[key] = f"c{len(evidence.anchors) + 1}"
            evidence.elsewhere.append(key)
    return evidence


def _number(change: Change) -> str:
    number = change.pull_request
    return f"#{number}" if number else html_text(f"@{change.id.rpartition('@')[2][:7]}")


def _set_anchors(month: MonthRecord, evidence: Evidence) -> None:
    """A change has its row's id where it has a row, else its month's; the first month that lists it."""
    anchors, changes = evidence.anchors, evidence.changes
    with_rows = evidence.detail[month.month] == "rows"
    anchor = f"m{month.month}"
    for item in month.items:
        for key in item.changes:
            if key in changes and key not in anchors:
                anchors[key] = f"c{len(anchors) + 1}" if with_rows else anchor


def _detail(profile: Profile, changes: dict[ChangeId, Change], room: int) -> dict[str, str]:
    """Half a year of rows first, then numbers for the months before it, then rows for as many as there is room."""
    months = profile.months
    detail: dict[str, str] = {month.month: "count" for month in months}
    room -= sum(map(_size, months))
    for month in months[:_IN_FULL]:
        room -= (cost := _numbers_size(month) + _rows_size(month, changes))
        if room < 0:
            room += cost
            break
        detail[month.month] = "rows"
    for month in months:
        if detail[month.month] == "count" and (cost := _numbers_size(month)) <= room:
            room -= cost
            detail[month.month] = "numbers"
    for month in months:
        if detail[month.month] != "rows":
            room -= _rows_size(month, changes)
            if room < 0:
                break
            detail[month.month] = "rows"
    return detail


def _size(month: MonthRecord) -> int:
    """Bytes of a month that tells how many changes it has, estimated from above."""
    return _MONTH + sum(len(one.text) + _CITATION * min(len(one.evidence), CITED) for one in month.summary.sentences)


def _numbers_size(month: MonthRecord) -> int:
    return _UNFOLDING + _NUMBER * sum(len(item.changes) for item in month.items)


def _rows_size(month: MonthRecord, changes: dict[ChangeId, Change]) -> int:
    """Bytes that rows take beyond numbers, estimated from above."""
    size = _LINKED * sum(min(len(one.evidence), CITED) for one in month.summary.sentences)
    for item in month.items:
        size += len(item.title) if len(item.changes) > 1 else 0
        size += sum(
            _ROW + len(change.title) + len(change.url or "")
            for change in map(changes.get, item.changes)
            if change is not None
        )
    return size
