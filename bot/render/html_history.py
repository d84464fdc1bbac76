"""How does a page show months, items and changes, each change once?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from bot.model import Change, ChangeId, Item, Month, MonthRecord, Profile, Text
from bot.render import wording
from bot.render.beside_code import months_of
from bot.render.html_beside_code import beside_line, beside_months, linked_months
from bot.render.html_evidence import CITED_BY_DETAIL, Evidence, html_sentences
from bot.render.html_listing import Listing
from bot.render.html_text import HtmlText, html_link, html_name, html_text

_UNFOLDED = 8
"""active months that a reader sees without unfolding a year"""
_KIND: Callable[[Item], str] = attrgetter("kind")
_KINDS = {"feature": "Features", "bug_fix": "Bug fixes", "other": "Other"}


def history(profile: Profile, evidence: Evidence) -> HtmlText:
    """The months by calendar year; the newest years are unfolded until a reader sees enough, a short record wholly."""
    out: list[str] = []
    shown = 0
    beside = _beside_lines(profile, evidence)
    said = dict(zip(evidence.detail, html_sentences(month.summary for month in profile.months), strict=True))
    for year, group in groupby(months_of(profile), key=lambda month: month.month[:4]):
        months = tuple(group)
        unfolded = " open" if shown < _UNFOLDED or len(profile.months) <= 24 else ""
        tally = _year_tally([month for month in months if month.month in evidence.detail])
        out.append(f"<h3>{year}</h3><details class=y{unfolded}><summary>{tally}</summary>")
        out += [
            _month(month, evidence, said[month.month], beside.get(month.month, ""))
            if month.month in said
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
    return "".join([_row(changes[key], evidence, wording.date_name(day(changes[key].landed_at))) for key in keys])


def _year_tally(months: Sequence[MonthRecord]) -> str:
    """`3 active months: 41 commits • 7 features`."""
    if not months:
        return "work beside code alone"
    numbers = [(month.commits, month.features, month.bugs) for month in months]
    commits, features, bugs = (sum(column) for column in zip(*numbers, strict=True))
    parts = ((commits, "commit", "commits"), (features, "feature", "features"), (bugs, "bug fix", "bug fixes"))
    told = wording.BULLET.join(wording.counted(number, one, many) for number, one, many in parts if number)
    return f"{wording.counted(len(months), 'active month')}: {told}"


def _beside_lines(profile: Profile, evidence: Evidence) -> dict[Month, str]:
    """What was done beside code in each month with any of it."""
    months = beside_months(profile)
    linked = linked_months(months)
    return {month.month: beside_line(month, evidence.cite if month.month in linked else None) for month in months}


def _only_beside(month: MonthRecord, beside: str) -> str:
    """A month that has work beside code alone."""
    return f"<article id=m{month.month}><h4>{wording.month_name(month.month)}</h4>{beside}</article>\n"


def _month(month: MonthRecord, evidence: Evidence, said: Sequence[str], beside: str) -> str:
    """`said` are the sentences of its text."""
    anchor, detail = f"m{month.month}", evidence.detail[month.month]
    text = month.summary
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
    by_kind = {kind: [*items] for kind, items in groupby(sorted(month.items, key=_KIND), _KIND)}
    said = ""
    for kind in filter(by_kind.__contains__, _KINDS):
        if rows:
            shown = "".join([_item(item, evidence) for item in by_kind[kind]])
            said += f"<{level}>{_KINDS[kind]}</{level}><ul>{shown}</ul>"
        else:
            said += f"<p><b>{_KINDS[kind]}</b> {_numbers(by_kind[kind], evidence.listing)}"
    return said


def _numbers(items: Iterable[Item], listing: Listing) -> str:
    """`beacon#41 + #43; charts#7 (reverted)`: a repository is named where it changes."""
    change_of, numbers, names = listing.changes.get, listing.numbers, listing.names
    before = ""
    said = []
    for item in items:
        one = ""
        for key in item.changes:
            change = change_of(key)
            home = "" if change is None else change.repository
            one += f" + {numbers[key]}" if home == before else f" + {names[home]}{numbers[key]}"
            before = home
        said.append(one[3:] if item.state == "landed" else f"{one[3:]} ({wording.STATE_NAMES[item.state]})")
    return "; ".join(said)


# --- rows ------------------------------------------------------------------------------------------------------------


def _item(item: Item, evidence: Evidence) -> str:
    keys, changes = item.changes, evidence.listing.changes
    if len(keys) == 1:
        return _change(keys[0], evidence)
    notes = {_notes(change, evidence) for change in map(changes.get, keys) if change}
    shared = notes.pop() if len(notes) == 1 else None
    rows = "".join([_change(key, evidence, told=shared is not None) for key in keys])
    return f"<li><b>{html_text(item.title)}</b>{shared or ''}<ul>{rows}</ul>"


def _change(key: ChangeId, evidence: Evidence, *, told: bool = False) -> str:
    """A row; its notes are left out where they are `told` once for all rows of the item."""
    change = evidence.listing.changes.get(key)
    if change is None:
        return f"<li>{html_text(key)}"
    lines = wording.counted(wording.changed_lines(change), "line")
    row = _row(change, evidence, f"{evidence.day(change.landed_at)} · {lines}")
    return row if told else row + _notes(change, evidence)


def _row(change: Change, evidence: Evidence, told: str) -> str:
    listing, key = evidence.listing, change.id
    return (
        f"<li id={evidence.anchors[key]}>{html_link(change.url, html_name(change.title))}"
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
