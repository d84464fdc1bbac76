"""In how much detail does a page show the changes of each month, where is each change, and how is it cited?

The newest months list every change with its title and link. If the page would exceed its budget, older months show
only the numbers of their changes, still older ones only a count, and the oldest months of very long histories also
show only the first sentence of their text, or none. The JSON format contains everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from bot.model.ids import ChangeId
from bot.model.profile import MonthRecord, Profile, Sentence
from bot.render import wording
from bot.render.html.listing import Listing
from bot.render.html.texts import Cite, text_bytes

_IN_FULL = 6
"""active months that list their changes in full before older ones get even the numbers"""
CITED = 3
"""most changes linked after one sentence; the rest is a number"""
CITED_BY_DETAIL = {"rows": CITED, "numbers": 2, "count": 1, "first": 1, "tally": 0}
"""the same within a month, by its detail: fewer links where the page is short of room"""
_MONTH, _CITATION = 155, 9
"""bytes of a month without evidence, and of a citation without a link"""
_LABEL = 30
"""bytes of the count of a month's items and changes"""
_UNFOLDING, _NUMBER = 85, 10
"""bytes of the markup around a month's list, and of one change in it by number"""
_LINKED, _ROW = 14, 84
"""bytes of the link of a citation, and of a row without its title and address"""
Detail = dict[str, str]
"""month -> `rows`, `numbers`, `count`, `first` (with one sentence of its text) or `tally` (only what the month adds up
to)"""


class PageEvidence(Struct, frozen=True):
    """Where each change of a profile is on the page, and how it is cited."""

    listing: Listing
    day: Callable[[int], str]
    """epoch seconds as `9 Jul`"""
    detail: Detail
    anchors: dict[ChangeId, str]
    """change -> the HTML id of its row, or of its month"""

    def cite(self, keys: Sequence[ChangeId], most: int = CITED, own_anchor: str = "") -> str:
        """Links to the changes of a sentence, a score or a skill; those at `own_anchor` are plain numbers. HTML."""
        anchor_of, numbers = self.anchors.get, self.listing.numbers
        links = ""
        for key in keys[:most]:
            anchor = anchor_of(key, own_anchor)
            links += f" {numbers[key]}" if anchor == own_anchor else f" <a href=#{anchor}>{numbers[key]}</a>"
        if len(keys) > most > 0:
            links += f" +{len(keys) - most}"
        return links[1:]

    def cite_within(self, most: int = CITED, own_anchor: str = "") -> Cite:
        """`cite` for the sentences of a text."""
        return lambda keys: self.cite(keys, most, own_anchor)


def evidence_of(profile: Profile, room: int, listing: Listing) -> PageEvidence:
    """The evidence that fits into about `room` bytes, the newest months in most detail, and the anchors."""
    detail = _detail(profile.months, listing, room)
    return PageEvidence(
        listing, wording.short_day_reader(profile.method.timezone), detail, _change_anchors(listing, detail)
    )


def _change_anchors(listing: Listing, detail: Detail) -> dict[ChangeId, str]:
    """Change -> the id of its row if it has one, else of its month."""
    found = dict(listing.month_anchors)
    in_rows = [key for month, keys in listing.months.items() if detail[month] == "rows" for key in keys]
    rows = filter(found.__contains__, dict.fromkeys(in_rows))
    found.update({key: f"c{number}" for number, key in enumerate(rows, 1)})
    found.update({key: f"c{number}" for number, key in enumerate(listing.outside_months, len(found) + 1)})
    return found


# --- room ------------------------------------------------------------------------------------------------------------


def _detail(months: Sequence[MonthRecord], listing: Listing, room: int) -> Detail:
    """Rows for the newest half year, then numbers for older months, then rows for as many months as fit."""
    detail: Detail = {month.month: "count" for month in months}
    room -= _size_of_counts(months)
    for month in reversed(months):
        if room >= 0:
            break
        room += _size_of_sentences(month.summary.sentences[1:])
        detail[month.month] = "first"
    for month in reversed(months):
        if room >= 0:
            break
        room += _size_of_sentences(month.summary.sentences[:1]) + _LABEL
        detail[month.month] = "tally"
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
    """Bytes of months that only count their changes, an upper estimate."""
    return sum([_size_of_sentences(month.summary.sentences) for month in months], _MONTH * len(months))


def _size_of_sentences(sentences: Sequence[Sentence]) -> int:
    return text_bytes(sentences, CITED_BY_DETAIL["count"])


def _size_of_numbers(month: MonthRecord, listing: Listing) -> int:
    """Bytes that numbers take in addition to a count."""
    cited = _citations(month.summary.sentences, CITED_BY_DETAIL["numbers"])
    return _UNFOLDING + _NUMBER * len(listing.months[month.month]) + _CITATION * cited


def _size_of_rows(month: MonthRecord, listing: Listing) -> int:
    """Bytes that rows take in addition to numbers."""
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
