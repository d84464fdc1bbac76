"""In how much detail does a page show each month's changes, where does each change stand, and how is it cited?

The newest months list every change with its title and address. Where the page would grow beyond its budget, older
months name their changes by number alone, and the oldest of very long histories count them; the JSON form holds all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.model import ChangeId, MonthRecord, Profile, Sentence, Text
from bot.render import wording
from bot.render.html_listing import Listing
from bot.render.html_text import html_text
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
Detail = dict[str, str]
"""month -> `rows`, `numbers` or `count`"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where each change of a profile stands on the page, and how it is cited."""

    listing: Listing
    day: Callable[[int], str]
    """epoch seconds as `9 Jul`"""
    detail: Detail
    anchors: dict[ChangeId, str]
    """change -> its own id, or its month's"""

    def cite(self, keys: Sequence[ChangeId], most: int = CITED, here: str = "") -> str:
        """Links to the changes of a sentence, a score or a skill, bare numbers where they stand `here`; HTML."""
        anchors, numbers = self.anchors, self.listing.numbers
        said = []
        for key in keys[:most]:
            if key not in anchors or (anchor := anchors[key]) == here:
                said.append(numbers[key])
            else:
                said.append(f"<a href=#{anchor}>{numbers[key]}</a>")
        if len(keys) > most:
            said.append(f"+{len(keys) - most}")
        return " ".join(said)

    def sentences(self, text: Text, most: int = CITED, here: str = "") -> str:
        """Each sentence followed by the changes it rests on; HTML."""
        said = [
            f"{html_text(one.text, LONGEST_TEXT)}<sup>{self.cite(one.evidence, most, here)}</sup>"
            for one in text.sentences
        ]
        return " ".join(said)


def evidence_of(profile: Profile, room: int, listing: Listing) -> Evidence:
    """Which months get rows, numbers or a count in about `room` bytes, newest months first; and the anchors."""
    detail = _detail(profile.months, listing, room)
    return Evidence(listing, wording.short_day_reader(profile.method.timezone), detail, _anchors(listing, detail))


def _anchors(listing: Listing, detail: Detail) -> dict[ChangeId, str]:
    """A change has its row's id where it has a row, else its month's; the first month that lists it."""
    months = listing.months.items()
    found: dict[ChangeId, str] = {}
    # From the oldest on, so that the first month has the last word.
    for month, keys in reversed(months):
        if detail[month] != "rows":
            anchor = f"m{month}"
            for key in keys:
                found[key] = anchor
    for stranger in found.keys() - listing.changes.keys():
        del found[stranger]
    in_rows = dict.fromkeys([key for month, keys in months if detail[month] == "rows" for key in keys])
    rows = filter(listing.changes.__contains__, in_rows)
    found.update({key: f"c{number}" for number, key in enumerate(rows, 1)})
    return found | {key: f"c{number}" for number, key in enumerate(listing.elsewhere, len(found) + 1)}


# --- room ------------------------------------------------------------------------------------------------------------


def _detail(months: Sequence[MonthRecord], listing: Listing, room: int) -> Detail:
    """Half a year of rows first, then numbers for the months before it, then rows for as many as there is room."""
    detail: Detail = {month.month: "count" for month in months}
    room -= _size_of_counts(months)
    for month in months[:_IN_FULL]:
        room -= (cost := _size_of_numbers(month, listing) + _size_of_rows(month, listing))
        if room < 0:
            room += cost
            break
        detail[month.month] = "rows"
    for month in months:
        if detail[month.month] == "count" and (cost := _size_of_numbers(month, listing)) <= room:
            room -= cost
            detail[month.month] = "numbers"
    for month in months:
        if detail[month.month] != "rows":
            room -= _size_of_rows(month, listing)
            if room < 0:
                break
            detail[month.month] = "rows"
    return detail


def _size_of_counts(months: Sequence[MonthRecord]) -> int:
    """Bytes of months that tell how many changes they have, estimated from above."""
    return sum([_SENTENCE + len(one.text) for month in months for one in month.summary.sentences], _MONTH * len(months))


def _size_of_numbers(month: MonthRecord, listing: Listing) -> int:
    """What numbers take beyond a count."""
    cited = _citations(month.summary.sentences, CITED_BY_DETAIL["numbers"])
    return _UNFOLDING + _NUMBER * len(listing.months[month.month]) + _CITATION * cited


def _size_of_rows(month: MonthRecord, listing: Listing) -> int:
    """What rows take beyond numbers."""
    size = (_LINKED + _CITATION) * _citations(month.summary.sentences, CITED_BY_DETAIL["rows"])
    size += sum([len(item.title) for item in month.items if len(item.changes) > 1])
    found = [change for key in listing.months[month.month] if (change := listing.changes.get(key)) is not None]
    return size + sum([_ROW + len(change.title) + len(change.url or "") for change in found])


def _citations(sentences: Iterable[Sentence], most: int) -> int:
    found = 0
    for one in sentences:
        cited = len(one.evidence)
        found += cited if cited < most else most
    return found
