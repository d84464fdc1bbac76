"""How does a page show months, items and changes, each change once?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from bot.model import Change, ChangeId, Item, MonthRecord, Profile
from bot.render import wording
from bot.render.html_evidence import CITED_BY_DETAIL, Evidence, commit_number
from bot.render.html_text import HtmlText, html_link, html_name, html_text

_UNFOLDED = 8
"""active months that a reader sees without unfolding a year"""
_KINDS = (("feature", "Features"), ("bug_fix", "Bug fixes"), ("other", "Other"))


def history(profile: Profile, evidence: Evidence) -> HtmlText:
    """The months by calendar year; the newest years are unfolded until a reader sees enough, a short record wholly."""
    out: list[str] = []
    shown = 0
    for year, group in groupby(profile.months, key=lambda month: month.month[:4]):
        months = tuple(group)
        unfolded = " open" if shown < _UNFOLDED or len(profile.months) <= 24 else ""
        tally = f"{wording.counted(len(months), 'active month')}: {_year_tally(months)}"
        out.append(f"<h3>{year}</h3><details class=y{unfolded}><summary>{tally}</summary>")
        out += [_month(month, evidence) for month in months]
        out.append("</details>\n")
        shown += len(months)
    if evidence.elsewhere:
        rows = "".join(_elsewhere(key, evidence) for key in evidence.elsewhere)
        says = wording.counted(len(evidence.elsewhere), "change")
        out.append(f"<h3>Cited from elsewhere</h3><details><summary>{says}</summary>")
        out.append(f"<article><ul>{rows}</ul></article></details>")
    return HtmlText("".join(out))


def _elsewhere(key: ChangeId, evidence: Evidence) -> str:
    change = evidence.changes[key]
    date = wording.date_name(wording.day_reader(evidence.zone)(change.landed_at))
    return (
        f"<li id={evidence.anchors[key]}>{html_link(change.url, html_name(change.title))}"
        f"<small>{evidence.label(key)} · {date}</small>"
    )


def _year_tally(months: Iterable[MonthRecord]) -> str:
    numbers = [(month.commits, month.features, month.bugs) for month in months]
    commits, features, bugs = (sum(column) for column in zip(*numbers, strict=True))
    parts = ((commits, "commit", "commits"), (features, "feature", "features"), (bugs, "bug fix", "bug fixes"))
    return wording.BULLET.join(wording.counted(number, one, many) for number, one, many in parts if number)


def _month(month: MonthRecord, evidence: Evidence) -> str:
    anchor = f"m{month.month}"
    most = CITED_BY_DETAIL[evidence.detail[month.month]]
    summary = evidence.sentences(month.summary, most, here=anchor)
    return (
        f"<article id={anchor}><h4>{wording.month_name(month.month)}</h4><p class=t>{wording.tally(month)}"
        + (f"<p>{summary}" if summary else "")
        + (_unfolding(month, evidence) if month.items else "")
        + "</article>\n"
    )


def month_items(month: MonthRecord, evidence: Evidence) -> HtmlText:
    """Everything one month delivered, unfolded, as far as its evidence goes."""
    rows = evidence.detail[month.month] == "rows"
    cited = "".join(_elsewhere(key, evidence) for key in evidence.elsewhere)
    more = f"<h3>Cited from elsewhere</h3><ul>{cited}</ul>" if cited else ""
    return HtmlText(f"<article id=m{month.month}>{_items(month, evidence, rows=rows, level='h3')}{more}</article>")


def _unfolding(month: MonthRecord, evidence: Evidence) -> str:
    items, listed = len(month.items), len(evidence.listed[month.month])
    says = f"{items:,} item{'s'[: items != 1]}, {listed:,} change{'s'[: listed != 1]}"
    detail = evidence.detail[month.month]
    if detail == "count":
        return f"<p class=t>{says}"
    return f"<details><summary>{says}</summary>{_items(month, evidence, rows=detail == 'rows')}</details>"


def _items(month: MonthRecord, evidence: Evidence, *, rows: bool, level: str = "h5") -> str:
    out = []
    for kind, heading in _KINDS:
        items = [item for item in month.items if item.kind == kind]
        if items and rows:
            out.append(f"<{level}>{heading}</{level}><ul>{''.join([_item(item, evidence) for item in items])}</ul>")
        elif items:
            out.append(f"<p><b>{heading}</b> {_numbers(items, evidence)}")
    return "".join(out)


def _numbers(items: Iterable[Item], evidence: Evidence) -> str:
    """`beacon#41 + #43; charts#7 (reverted)`: a repository is named where it changes."""
    said: list[str] = []
    before = ""
    changes = evidence.changes
    for item in items:
        mark = "; " if said else ""
        for key in item.changes:
            change = changes.get(key)
            here = change.repository if change else ""
            if change is None or here != before:
                said += mark, evidence.label(key)
            else:
                said.append(f"{mark}#{change.pull_request}" if change.pull_request else mark + commit_number(key))
            before, mark = here, " + "
        if item.state != "landed":
            said.append(f" ({wording.STATE_NAMES[item.state]})")
    return "".join(said)


def _item(item: Item, evidence: Evidence) -> str:
    keys = item.changes
    if len(keys) == 1:
        return _change(keys[0], evidence)
    notes = {_notes(change, evidence) for change in map(evidence.changes.get, keys) if change}
    shared = notes.pop() if len(notes) == 1 else None
    rows = "".join(_change(key, evidence, told=shared is not None) for key in keys)
    return f"<li><b>{html_text(item.title)}</b>{shared or ''}<ul>{rows}</ul>"


def _change(key: ChangeId, evidence: Evidence, *, told: bool = False) -> str:
    """A row; its notes are left out where they are `told` once for all rows of the item."""
    change = evidence.changes.get(key)
    if change is None:
        return f"<li>{html_text(key)}"
    lines = wording.lines_in(wording.lines_of(change))
    row = (
        f"<li id={evidence.anchors[key]}>{html_link(change.url, html_name(change.title))}"
        f"<small>{evidence.label(key)} · {evidence.day(change.landed_at)} · {lines:,} line{'s'[: lines != 1]}</small>"
    )
    return row if told else row + _notes(change, evidence)


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
