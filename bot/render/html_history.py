"""How does a page show months, items and changes, each change once?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from bot.metrics.bugs import BUGS
from bot.metrics.features import FEATURES
from bot.metrics.months import MONTHS
from bot.metrics.other import OTHER
from bot.metrics.registry import shown_on
from bot.model import Change, ChangeId, Item, Month, MonthRecord, Profile, Text
from bot.render import wording
from bot.render.beside_code import months_of
from bot.render.html_beside_code import beside_lines
from bot.render.html_evidence import CITED_BY_DETAIL, Evidence
from bot.render.html_listing import Listing
from bot.render.html_text import HtmlText, html_link, html_names, html_text

_UNFOLDED = 8
"""active months that a reader sees without unfolding a year"""
_KINDS = {"feature": FEATURES.label, "bug_fix": BUGS.label, "other": OTHER.label}


class Drawn(dict[tuple[Month, str], str]):
    """(month, detail) -> its block, as long as every change of the page stands at the same place."""


def history(profile: Profile, evidence: Evidence, drawn: Drawn) -> HtmlText:
    """The months by calendar year; the newest years are unfolded until a reader sees enough, a short record wholly."""
    out: list[str] = []
    shown = 0
    beside = beside_lines(evidence.listing.beside, evidence.cite)
    for year, group in groupby(months_of(profile), key=lambda month: month.month[:4]):
        months = tuple(group)
        unfolded = " open" if shown < _UNFOLDED or len(profile.months) <= 24 else ""
        tally = _year_tally([month for month in months if month.month in evidence.detail])
        out.append(f"<h3>{year}</h3><details class=y{unfolded}><summary>{tally}</summary>")
        out += [
            _drawn(month, evidence, beside.get(month.month, ""), drawn)
            if month.month in evidence.detail
            else _only_beside(month, beside[month.month])
            for month in months
        ]
        out.append("</details>\n")
        shown += len(months)
    if elsewhere := evidence.listing.elsewhere:
        rows = _elsewhere(elsewhere, evidence, profile.method.timezone)
        says = wording.counted(len(elsewhere), "change")
        out.append(f"<h3>Cited from elsewhere</h3><details><summary>{says}</summary>")
        out.append(f"<article><ul>{rows}</ul></article></details>")
    return HtmlText("".join(out))


def _elsewhere(keys: Iterable[ChangeId], evidence: Evidence, zone: str) -> str:
    day, changes = wording.day_reader(zone), evidence.listing.changes
    found = [changes[key] for key in keys]
    names = html_names([change.title for change in found])
    return "".join(
        [
            _row(change, name, evidence, wording.date_name(day(change.landed_at)))
            for change, name in zip(found, names, strict=True)
        ]
    )


def _year_tally(months: Sequence[MonthRecord]) -> str:
    """`3 active months: 41 commits • 7 features`; what was only credited makes no month active."""
    if not months:
        return "only reviews and triage"
    sums = [(metric, sum(month.numbers.get(metric.key) or 0 for month in months)) for metric in shown_on("year")]
    told = [metric.counted(number) for metric, number in sums if number and metric.additive]
    active = sum(month.commits > 0 for month in months)
    return (f"{MONTHS.counted(active)}: " if active else "") + wording.BULLET.join(told)


def _only_beside(month: MonthRecord, beside: str) -> str:
    """A month that has work beside code alone."""
    return f"<article id=m{month.month}><h4>{wording.month_name(month.month)}</h4>{beside}</article>\n"


def _drawn(month: MonthRecord, evidence: Evidence, beside: str, drawn: Drawn) -> str:
    key = (month.month, evidence.detail[month.month])
    block = drawn.get(key)
    if block is None:
        block = drawn[key] = _month(month, evidence, beside)
    return block


def _month(month: MonthRecord, evidence: Evidence, beside: str) -> str:
    anchor, detail = f"m{month.month}", evidence.detail[month.month]
    text, said = month.summary, evidence.listing.said[month.month]
    if detail == "first":
        text, said = Text(text.sentences[:1]), said[:1]
    summary = evidence.sentences(text, said, CITED_BY_DETAIL[detail], anchor)
    return (
        f"<article id={anchor}><h4>{wording.month_name(month.month)}</h4><p class=t>{wording.tally(month)}"
        f"{beside}{summary and '<p>' + summary}{_unfolding(month, evidence) if month.items else ''}</article>\n"
    )


def month_items(month: MonthRecord, evidence: Evidence, zone: str) -> HtmlText:
    """Everything one month delivered, unfolded, as far as its evidence goes."""
    rows = evidence.detail[month.month] == "rows"
    cited = _elsewhere(evidence.listing.elsewhere, evidence, zone)
    more = f"<h3>Cited from elsewhere</h3><ul>{cited}</ul>" if cited else ""
    return HtmlText(f"<article id=m{month.month}>{_items(month, evidence, rows=rows, level='h3')}{more}</article>")


def _unfolding(month: MonthRecord, evidence: Evidence) -> str:
    items, changes = len(month.items), len(evidence.listing.months[month.month])
    says = f"{wording.counted(items, 'item')}, {wording.counted(changes, 'change')}"
    detail = evidence.detail[month.month]
    if detail in ("count", "first"):
        return f"<p class=t>{says}"
    return f"<details><summary>{says}</summary>{_items(month, evidence, rows=detail == 'rows')}</details>"


def _items(month: MonthRecord, evidence: Evidence, *, rows: bool, level: str = "h5") -> str:
    listing = evidence.listing
    found = _rows(listing.months[month.month], evidence) if rows else {}
    said = ""
    for kind, heading in _KINDS.items():
        if items := [item for item in month.items if item.kind == kind]:
            if rows:
                shown = "".join([_item(item, found) for item in items])
                said += f"<{level}>{heading}</{level}><ul>{shown}</ul>"
            else:
                said += f"<p><b>{heading}</b> {_numbers(items, listing)}"
    return said


def _numbers(items: Iterable[Item], listing: Listing) -> str:
    """`beacon#41 + #43; charts#7 (reverted)`: a repository is named where it changes."""
    change_of, numbers, names = listing.changes.get, listing.numbers, listing.names
    before = ""
    said = []
    for item in items:
        one = []
        for key in item.changes:
            change = change_of(key)
            home = "" if change is None else change.repository
            one.append(numbers[key] if home == before else names[home] + numbers[key])
            before = home
        called = " + ".join(one)
        said.append(called if item.state == "landed" else f"{called} ({wording.STATE_NAMES[item.state]})")
    return "; ".join(said)


# --- rows ------------------------------------------------------------------------------------------------------------


Row = tuple[str, str]
"""of a change: its title, number, day and size; and what became of it"""


def _item(item: Item, rows: Mapping[ChangeId, Row]) -> str:
    keys = item.changes
    if len(keys) == 1:
        return "".join(rows.get(keys[0]) or _unknown(keys[0]))
    notes = {rows[key][1] for key in keys if key in rows}
    shared = notes.pop() if len(notes) == 1 else None
    found = [rows.get(key) or _unknown(key) for key in keys]
    shown = "".join([row if shared is not None else row + told for row, told in found])
    return f"<li><b>{html_text(item.title)}</b>{shared or ''}<ul>{shown}</ul>"


def _unknown(key: ChangeId) -> Row:
    """Of a change that the profile does not hold its id is all there is."""
    return f"<li>{html_text(key)}", ""


def _rows(keys: Iterable[ChangeId], evidence: Evidence) -> dict[ChangeId, Row]:
    day, change_of = evidence.day, evidence.listing.changes.get
    found = [change for change in map(change_of, keys) if change]
    names = html_names([change.title for change in found])
    return {
        change.id: (
            _row(
                change,
                name,
                evidence,
                f"{day(change.landed_at)} · {wording.counted(wording.changed_lines(change), 'line')}",
            ),
            _notes(change, evidence),
        )
        for change, name in zip(found, names, strict=True)
    }


def _row(change: Change, name: str, evidence: Evidence, told: str) -> str:
    listing, key = evidence.listing, change.id
    return (
        f"<li id={evidence.anchors[key]}>{html_link(change.url, name)}"
        f"<small>{listing.names[change.repository]}{listing.numbers[key]} · {told}</small>"
    )


def _notes(change: Change, evidence: Evidence) -> str:
    """What became of a change beside landing; nothing for most."""
    if change.state == "landed" and change.certain and not change.also_in and not change.partly_reverted_by:
        return ""
    notes = []
    if change.state == "reverted":
        by = f" by {evidence.cite([change.reverted_by])}" if change.reverted_by else ""
        notes.append(f"<mark>Reverted{by}</mark>")
    elif change.state == "relanded":
        notes.append("<mark>Landed again after a revert</mark>")
    if change.partly_reverted_by:
        notes.append(f"<mark>Partly reverted by {evidence.cite(change.partly_reverted_by)}</mark>")
    if change.also_in:
        notes.append(f"also in {html_text(', '.join(change.also_in))}, credited once")
    if not change.certain:
        notes.append("kind uncertain")
    return f"<em>{' · '.join(notes)}</em>"
