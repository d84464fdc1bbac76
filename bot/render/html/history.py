"""How does a page show months, items and changes, with each change once?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from bot.metrics.bugs import BUGS
from bot.metrics.features import FEATURES
from bot.metrics.months import MONTHS
from bot.metrics.other import OTHER
from bot.metrics.registry import metrics_on
from bot.metrics.unclear import UNCLEAR
from bot.model.change import Change, Item
from bot.model.ids import ChangeId, Month
from bot.model.profile import MonthRecord, Profile
from bot.render import wording
from bot.render.escaping import HtmlText, html_link, html_names, html_text
from bot.render.html.evidence import CITED, CITED_BY_DETAIL, PageEvidence
from bot.render.html.listing import Listing
from bot.render.html.non_code_activity import non_code_by_month
from bot.render.html.texts import html_blocks
from bot.render.non_code_activity import history_months

_UNFOLDED = 8
"""months that a reader sees at least without unfolding a year"""
_SENTENCES = {"first": 1, "tally": 0}
"""most sentences of a month's text in these details; in the others all"""
_KINDS = {
    ("feature", True): FEATURES.label,
    ("bug_fix", True): BUGS.label,
    ("other", True): OTHER.label,
    ("", False): UNCLEAR.label,
}
"""heading by kind, if that is certain"""


class Drawn(dict[tuple[Month, str], str]):
    """(month, detail) -> its HTML; valid as long as the anchors of the page do not change."""


def history(profile: Profile, evidence: PageEvidence, drawn: Drawn, months_base: str = "") -> HtmlText:
    """The months by calendar year. A short record is unfolded, of a long one only the newest years."""
    if len(history_months(profile)) == len(profile.months) == 1 and not evidence.listing.outside_months:
        return _only_month(profile, evidence, months_base)
    out: list[str] = []
    visible = 0
    non_code = non_code_by_month(evidence.listing.non_code, evidence.cite)
    for year, group in groupby(history_months(profile), key=lambda month: month.month[:4]):
        months = tuple(group)
        unfolded = " open" if visible < _UNFOLDED else ""
        tally = _year_tally([month for month in months if month.month in evidence.detail])
        out.append(f"<details class=y{unfolded}><summary><h3>{year}</h3> <span>{tally}</span></summary>")
        out += [
            _draw_month(month, evidence, (non_code.get(month.month, ""), months_base), drawn)
            if month.month in evidence.detail
            else _non_code_month(month, non_code[month.month])
            for month in months
        ]
        out.append("</details>\n")
        visible += len(months)
    if cited := evidence.listing.outside_months:
        rows = _cited_rows(cited, evidence, profile.method.timezone)
        label = wording.quantity(len(cited), "change")
        out.append(f"<h3>Cited from elsewhere</h3><details><summary>{label}</summary>")
        out.append(f"<article><ul>{rows}</ul></article></details>")
    return HtmlText("".join(out))


def _only_month(profile: Profile, evidence: PageEvidence, months_base: str) -> HtmlText:
    """The month of a record that has no other. The top of the page says how much it is and quotes what leads."""
    (month,) = profile.months
    anchor, quoted = f"m{month.month}", {one.quoted for one in profile.narrative.sentences if one.quoted}
    sentences = [one for one in month.summary.sentences[1:] if one.quoted not in quoted]
    summary = html_blocks(sentences, evidence.cite_within(CITED, anchor))
    items = _items(month, evidence, rows=evidence.detail[month.month] == "rows")
    non_code = non_code_by_month(evidence.listing.non_code, evidence.cite).get(month.month, "")
    return HtmlText(
        f"<article id={anchor}><h3>{_linked_name(month.month, months_base)}</h3>{non_code}{summary}{items}</article>\n"
    )


def _linked_name(month: Month, months_base: str) -> str:
    name = wording.month_name(month)
    return f"<a href={html_text(months_base)}/{month}>{name}</a>" if months_base else name


def _cited_rows(keys: Iterable[ChangeId], evidence: PageEvidence, zone: str) -> str:
    day, changes = wording.day_reader(zone), evidence.listing.changes
    found = [changes[key] for key in keys]
    names = html_names([change.title for change in found])
    return "".join(
        [
            _cited_row(change, name, evidence, wording.date_name(day(change.landed_at)))
            for change, name in zip(found, names, strict=True)
        ]
    )


def _cited_row(change: Change, name: str, evidence: PageEvidence, date: str) -> str:
    """With the person's own lines and the grade, if they have a part in it."""
    part = evidence.listing.credits.get(change.id)
    if part is None:
        return _row(change, name, evidence, date)
    notes = " · ".join(wording.credit_notes(change, part))
    row = _row(change, name, evidence, f"{date} · {wording.size_text(change, part)}")
    return f"{row}<em>{notes}</em>" if notes else row


def _year_tally(months: Sequence[MonthRecord]) -> str:
    """`3 active months: 41 commits • 7 features`; a month with only credited commits is not active. Of a year with one
    month, that month says how much it was."""
    if not months:
        return "only reviews and triage"
    sums = [(metric, sum(month.numbers.get(metric.key) or 0 for month in months)) for metric in metrics_on("year")]
    amounts = [metric.quantity(number) for metric, number in sums if number and metric.additive]
    active = sum(month.commits > 0 for month in months)
    if active == len(months) == 1:
        return MONTHS.quantity(active)
    return (f"{MONTHS.quantity(active)}: " if active else "") + wording.BULLET.join(amounts)


def _non_code_month(month: MonthRecord, non_code: str) -> str:
    """A month with only non-code activity."""
    return f"<article id=m{month.month}><h4>{wording.month_name(month.month)}</h4>{non_code}</article>\n"


def _draw_month(month: MonthRecord, evidence: PageEvidence, frame: tuple[str, str], drawn: Drawn) -> str:
    """`frame` is the line of non-code activity and the address of the months' own pages."""
    key = (month.month, evidence.detail[month.month])
    block = drawn.get(key)
    if block is None:
        block = drawn[key] = _month(month, evidence, *frame)
    return block


def _month(month: MonthRecord, evidence: PageEvidence, non_code: str, months_base: str) -> str:
    anchor, detail = f"m{month.month}", evidence.detail[month.month]
    sentences = month.summary.sentences[: _SENTENCES.get(detail)]
    name = _linked_name(month.month, months_base)
    summary = html_blocks(sentences, evidence.cite_within(CITED_BY_DETAIL[detail], anchor))
    return (
        f"<article id={anchor}><h4>{name}</h4><p class=t>{wording.tally(month)}"
        f"{non_code}{summary}{_month_details(month, evidence) if month.items else ''}</article>\n"
    )


def month_items(month: MonthRecord, evidence: PageEvidence, zone: str) -> HtmlText:
    """Everything that one month delivered, unfolded, in the detail of its evidence."""
    rows = evidence.detail[month.month] == "rows"
    cited = _cited_rows(evidence.listing.outside_months, evidence, zone)
    more = f"<h3>Cited from elsewhere</h3><ul>{cited}</ul>" if cited else ""
    return HtmlText(f"<article id=m{month.month}>{_items(month, evidence, rows=rows, level='h3')}{more}</article>")


def _month_details(month: MonthRecord, evidence: PageEvidence) -> str:
    items, changes = len(month.items), len(evidence.listing.months[month.month])
    label = wording.quantity(changes, "change")
    label = f"{wording.quantity(items, 'item')}, {label}" if items != changes else label
    detail = evidence.detail[month.month]
    if detail == "tally":
        return ""
    if detail in ("count", "first"):
        return f"<p class=t>{label}"
    return f"<details><summary>{label}</summary>{_items(month, evidence, rows=detail == 'rows')}</details>"


def _items(month: MonthRecord, evidence: PageEvidence, *, rows: bool, level: str = "h5") -> str:
    listing = evidence.listing
    found = _rows(listing.months[month.month], evidence) if rows else {}
    html = ""
    for kind, heading in _KINDS.items():
        if items := [item for item in month.items if (item.kind if item.certain else "", item.certain) == kind]:
            if rows:
                rows_html = "".join([_item(item, found) for item in items])
                html += f"<{level}>{heading}</{level}><ul>{rows_html}</ul>"
            else:
                html += f"<p><b>{heading}</b> {_numbers(items, listing)}"
    return html


def _numbers(items: Iterable[Item], listing: Listing) -> str:
    """`beacon#41 + #43; charts#7 (reverted)`: a repository is named when it differs from the one before."""
    change_of, numbers, names = listing.changes.get, listing.numbers, listing.names
    before = ""
    groups = []
    for item in items:
        one = []
        for key in item.changes:
            change = change_of(key)
            home = "" if change is None else change.repository
            one.append(numbers[key] if home == before else names[home] + numbers[key])
            before = home
        called = " + ".join(one)
        groups.append(called if item.state == "landed" else f"{called} ({wording.STATE_NAMES[item.state]})")
    return "; ".join(groups)


# --- rows ------------------------------------------------------------------------------------------------------------


Row = tuple[str, str]
"""(title, number, day and size of a change; its notes), both HTML"""


def _item(item: Item, rows: Mapping[ChangeId, Row]) -> str:
    keys = item.changes
    if len(keys) == 1:
        return "".join(rows.get(keys[0]) or _unknown_row(keys[0]))
    notes = {rows[key][1] for key in keys if key in rows}
    shared = notes.pop() if len(notes) == 1 else None
    found = [rows.get(key) or _unknown_row(key) for key in keys]
    rows_html = "".join([row if shared is not None else row + note for row, note in found])
    return f"<li><b>{html_text(item.title)}</b>{shared or ''}<ul>{rows_html}</ul>"


def _unknown_row(key: ChangeId) -> Row:
    """The row of a change that the profile does not contain: only its id."""
    return f"<li>{html_text(key)}", ""


def _rows(keys: Iterable[ChangeId], evidence: PageEvidence) -> dict[ChangeId, Row]:
    day, change_of = evidence.day, evidence.listing.changes.get
    found = [change for change in map(change_of, keys) if change]
    names = html_names([change.title for change in found])
    return {
        change.id: (
            _row(
                change,
                name,
                evidence,
                f"{day(change.landed_at)} · {wording.size_text(change, evidence.listing.credits.get(change.id))}",
            ),
            _notes(change, evidence),
        )
        for change, name in zip(found, names, strict=True)
    }


def _row(change: Change, name: str, evidence: PageEvidence, detail: str) -> str:
    listing, key = evidence.listing, change.id
    return (
        f"<li id={evidence.anchors[key]}>{html_link(change.url, name)}"
        f"<small>{listing.names[change.repository]}{listing.numbers[key]} · {detail}</small>"
    )


def _notes(change: Change, evidence: PageEvidence) -> str:
    """Whether a change was reverted, landed again, is elsewhere too, is uncertain or claimed; nothing for most."""
    of_credit = wording.credit_notes(change, evidence.listing.credits.get(change.id))
    plain = change.state == "landed" and change.certain and not change.also_in and not change.partly_reverted_by
    if plain and not of_credit:
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
    notes += of_credit
    return f"<em>{' · '.join(notes)}</em>"
