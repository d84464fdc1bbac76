"""Where does each change of a profile stand on its page, in how much detail, and how is it cited?

The newest months list every change with its title and address. Where the page would grow beyond its budget, older
months name their changes by number alone, and the oldest of very long histories count them; the JSON form holds all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from operator import attrgetter

from bot.model import Change, ChangeId, Item, MonthRecord, Profile, Text
from bot.render import wording
from bot.render.html_text import HtmlText, html_text
from bot.render.plain import LONGEST_TEXT

_IN_FULL = 6
"""active months that list their changes in full before older ones name theirs by number"""
CITED = 6
"""changes linked behind one sentence; of more, the number is told"""
CITED_BY_DETAIL = {"rows": CITED, "numbers": 3, "count": 1}
"""the same in a month, where numbers stand right below or the newest months need the room"""
_MONTH, _SENTENCE, _CITATION = 155, 24, 9
"""bytes of a month without evidence, of the frame of a sentence's citations, of a citation without a link"""
_UNFOLDING, _NUMBER = 85, 10
"""bytes of the frame of a month's list, and of one change in it by number"""
_LINKED, _ROW = 14, 84
"""bytes of the link of a citation, and of a row beside title and address"""
Listed = Mapping[str, Sequence[ChangeId]]
"""month -> the changes of its items"""
_changes_of: Callable[[Item], tuple[ChangeId, ...]] = attrgetter("changes")


def commit_number(key: ChangeId) -> str:
    """`@0123456` of a change that no pull request brought; HTML."""
    return html_text(f"@{key.rpartition('@')[2][:7]}")


@dataclass(slots=True)
class Evidence:
    """Where each change of a profile stands on the page, and how it is cited."""

    changes: dict[ChangeId, Change]
    one_repository: bool
    zone: str
    day: Callable[[int], str]
    """epoch seconds as `9 Jul`"""
    listed: Listed
    detail: dict[str, str] = field(default_factory=dict)
    """month -> `rows`, `numbers` or `count`"""
    anchors: dict[ChangeId, str] = field(default_factory=dict)
    """change -> its own id, or its month's"""
    elsewhere: list[ChangeId] = field(default_factory=list)
    """changes that are cited and belong to no month shown, such as the revert of another's"""
    names: dict[str, str] = field(default_factory=dict)
    """repository -> its name without the owner, escaped; filled as they are asked for"""

    def label(self, key: ChangeId) -> str:
        """`#41`, or `beacon#41` where the profile has several repositories; HTML."""
        change = self.changes.get(key)
        if change is None or self.one_repository:
            return self.number(key)
        return self.name(change.repository) + self.number(key)

    def number(self, key: ChangeId) -> str:
        """`#41` or `@0123456`; HTML."""
        change = self.changes.get(key)
        if change is None:
            return html_text(wording.short_id(key))
        return f"#{change.pull_request}" if change.pull_request else commit_number(key)

    def name(self, repository: str) -> str:
        """`beacon` of `harbour/beacon`; HTML."""
        name = self.names.get(repository)
        if name is None:
            name = self.names[repository] = html_text(repository.rpartition("/")[2])
        return name

    def cite(self, keys: Sequence[ChangeId], most: int = CITED, here: str = "") -> str:
        """Links to the changes of a sentence, a score or a skill, bare numbers where they stand `here`; HTML."""
        place, number = self.anchors.get, self.number
        said = []
        for key in keys[:most]:
            anchor = place(key, here)
            said.append(number(key) if anchor == here else f"<a href=#{anchor}>{number(key)}</a>")
        if len(keys) > most:
            said.append(f"+{len(keys) - most}")
        return " ".join(said)

    def sentences(self, text: Text, most: int = CITED, here: str = "") -> HtmlText:
        """Each sentence followed by the changes it rests on."""
        cite = self.cite
        said = [
            f"{html_text(one.text, LONGEST_TEXT)}<sup>{cite(one.evidence, most, here)}</sup>" for one in text.sentences
        ]
        return HtmlText(" ".join(said))


def listed_changes(profile: Profile) -> Listed:
    """Month -> the changes of its items, in their order."""
    return {month.month: list(chain.from_iterable(map(_changes_of, month.items))) for month in profile.months}


def in_no_month(profile: Profile, listed: Listed) -> list[Change]:
    """The changes that no month lists."""
    known = set(chain.from_iterable(listed.values()))
    return [change for change in profile.changes if change.id not in known]


def evidence_of(profile: Profile, room: int, listed: Listed | None = None) -> Evidence:
    """Which months get rows, numbers or a count in about `room` bytes, newest months first; and the anchors."""
    listed = listed_changes(profile) if listed is None else listed
    evidence = Evidence(
        changes={change.id: change for change in profile.changes},
        one_repository=len({change.repository for change in profile.changes}) < 2,
        zone=profile.method.timezone,
        day=wording.short_day_reader(profile.method.timezone),
        listed=listed,
    )
    evidence.detail = _detail(profile, _Sizes(evidence.changes, listed), room)
    evidence.anchors = anchors = _anchors(evidence)
    evidence.elsewhere = [change.id for change in in_no_month(profile, listed)]
    anchors |= {key: f"c{number}" for number, key in enumerate(evidence.elsewhere, len(anchors) + 1)}
    return evidence


def _anchors(evidence: Evidence) -> dict[ChangeId, str]:
    """A change has its row's id where it has a row, else its month's; the first month that lists it."""
    months = [(month, keys, evidence.detail[month] == "rows") for month, keys in evidence.listed.items()]
    # From the oldest on, so that the first month has the last word.
    older = [(f"m{month}", keys) for month, keys, rows in reversed(months) if not rows]
    places = chain.from_iterable(repeat(anchor, len(keys)) for anchor, keys in older)
    found = dict(zip(chain.from_iterable(keys for _, keys in older), places, strict=True))
    known = evidence.changes
    if not all(map(known.__contains__, found)):
        found = {key: anchor for key, anchor in found.items() if key in known}
    with_rows = dict.fromkeys(chain.from_iterable(keys for _, keys, rows in months if rows))
    found.update({key: f"c{number}" for number, key in enumerate(filter(known.__contains__, with_rows), 1)})
    return found


def _detail(profile: Profile, sizes: _Sizes, room: int) -> dict[str, str]:
    """Half a year of rows first, then numbers for the months before it, then rows for as many as there is room."""
    months = profile.months
    detail: dict[str, str] = {month.month: "count" for month in months}
    room -= sum(map(_size, months))
    for month in months[:_IN_FULL]:
        room -= (cost := sizes.of_numbers(month) + sizes.of_rows(month))
        if room < 0:
            room += cost
            break
        detail[month.month] = "rows"
    for month in months:
        if detail[month.month] == "count" and (cost := sizes.of_numbers(month)) <= room:
            room -= cost
            detail[month.month] = "numbers"
    for month in months:
        if detail[month.month] != "rows":
            room -= sizes.of_rows(month)
            if room < 0:
                break
            detail[month.month] = "rows"
    return detail


def _size(month: MonthRecord) -> int:
    """Bytes of a month that tells how many changes it has, estimated from above."""
    sentences = month.summary.sentences
    return _MONTH + _SENTENCE * len(sentences) + sum([len(one.text) for one in sentences])


def _citations(month: MonthRecord, detail: str) -> int:
    most = CITED_BY_DETAIL[detail]
    return sum([min(len(one.evidence), most) for one in month.summary.sentences])


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How many bytes the evidence of a month takes, estimated from above."""

    changes: Mapping[ChangeId, Change]
    listed: Listed

    def of_numbers(self, month: MonthRecord) -> int:
        return _UNFOLDING + _NUMBER * len(self.listed[month.month]) + _CITATION * _citations(month, "numbers")

    def of_rows(self, month: MonthRecord) -> int:
        """What rows take beyond numbers."""
        size = (_LINKED + _CITATION) * _citations(month, "rows")
        size += sum([len(item.title) for item in month.items if len(item.changes) > 1])
        found = [change for key in self.listed[month.month] if (change := self.changes.get(key)) is not None]
        return size + sum([_ROW + len(change.title) + len(change.url or "") for change in found])
