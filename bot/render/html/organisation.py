"""How do the sums of an organisation and the month of a repository look? They show sums and changes, never people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.landing.months import day_of
from bot.metrics.bugs import BUGS
from bot.metrics.commits import COMMITS
from bot.metrics.features import FEATURES
from bot.metrics.lines import LINES
from bot.metrics.other import OTHER
from bot.metrics.unclear import UNCLEAR
from bot.metrics.work import sum_lines
from bot.model.change import Change
from bot.model.fact import Lines
from bot.model.ids import Month
from bot.narrative.words import MONTH_NAMES
from bot.render import wording
from bot.render.escaping import HtmlText, html_link, html_name, html_text
from bot.render.html.site import PageLocation, site_page

_MOST_CHANGES = 600
"""most rows in a repository's month; the rest is a number"""
_KINDS = (("feature", FEATURES.label), ("bug_fix", BUGS.label), ("unclear", UNCLEAR.label), ("", OTHER.label))


class SumRow(Protocol):
    """Sums over people for one month, one repository or everything."""

    @property
    def name(self) -> str: ...
    @property
    def people(self) -> int: ...
    @property
    def commits(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def bugs(self) -> int: ...
    @property
    def other(self) -> int: ...
    @property
    def unclear(self) -> int: ...
    @property
    def lines(self) -> Lines: ...


class SumsView(Protocol):
    """All sums of an organisation."""

    @property
    def total(self) -> SumRow: ...
    @property
    def months(self) -> Sequence[SumRow]: ...
    @property
    def left_out(self) -> Sequence[Month]: ...
    @property
    def repositories(self) -> Sequence[SumRow]: ...
    @property
    def languages(self) -> Sequence[tuple[str, int]]: ...


Sum = tuple[str, Callable[[SumRow], int]]
_SUMMED: tuple[Sum, ...] = (
    ("People", attrgetter("people")),
    (COMMITS.label, attrgetter("commits")),
    (FEATURES.label, attrgetter("features")),
    (BUGS.label, attrgetter("bugs")),
    (OTHER.label, attrgetter("other")),
    (UNCLEAR.label, attrgetter("unclear")),
    (LINES.label, attrgetter("lines.code")),
)
"""(heading, number) of each sum; unlike a metric, which measures one person, these sum over all people"""


class RepositoryMonth(Struct, frozen=True):
    """What one repository's month delivered, oldest first."""

    repository: str
    month: Month
    changes: tuple[Change, ...]
    zone: str


def organisation_page(name: str, report: SumsView, newest: Mapping[str, Month], location: PageLocation) -> str:
    """The sums by month and repository; `newest` is each repository's newest month, for the link to it."""
    months = [one.name for one in report.months]
    columns = [sum_of for sum_of in _SUMMED if sum_of[1](report.total)]
    return site_page(
        "organisation.html",
        name,
        location,
        span=wording.span(Month(min(months)), Month(max(months))),
        stats=_stats(report.total),
        columns=[label for label, _ in columns],
        months=[_row(one, wording.short_month(Month(one.name)), columns) for one in report.months],
        left_out=", ".join(wording.short_month(month) for month in report.left_out),
        repositories=[_row(one, _repository_link(one.name, newest, location), columns) for one in report.repositories],
        languages=_shares(report.languages),
        foot="Sums over at least five people. People have their own pages and decide who can read them.",
    )


def _stats(total: SumRow) -> list[tuple[str, str]]:
    return [(label, wording.thousands(number(total))) for label, number in _SUMMED if number(total)]


def _row(one: SumRow, label: str | HtmlText, columns: Sequence[Sum]) -> list[Any]:
    return [label, *(wording.thousands(number(one)) for _, number in columns)]


def _repository_link(name: str, newest: Mapping[str, Month], location: PageLocation) -> HtmlText:
    if name not in newest:
        return HtmlText(html_text(name))
    address = f"{location.base}/repositories/{name.rpartition('/')[2]}/{newest[name]}"
    return HtmlText(f'<a href="{html_text(address)}">{html_text(name)}</a>')


def _shares(languages: Sequence[tuple[str, int]], most: int = 15) -> list[tuple[str, str, str]]:
    total = sum(lines for _, lines in languages)
    return [(name, wording.thousands(lines), f"{100 * lines / total:.1f} %") for name, lines in languages[:most]]


class RepositoryWay(Struct, frozen=True):
    """Where a repository's month leads: the organisation's page, and the nearest months with a page."""

    organisation: str = ""
    earlier: Month | None = None
    later: Month | None = None


def repository_month_page(month: RepositoryMonth, location: PageLocation, way: RepositoryWay) -> str:
    """Everything that landed in the repository in that month, by kind, each change with its address."""
    name = f"{month.repository}, {wording.month_name(month.month)}"
    earlier, later = (
        {"link": f"{location.base}/{one}", "name": wording.month_name(one)} if one else None
        for one in (way.earlier, way.later)
    )
    return site_page(
        "repository.html",
        name,
        location,
        back=way.organisation,
        earlier=earlier,
        later=later,
        **month_view(month),
    )


def month_view(month: RepositoryMonth) -> dict[str, Any]:
    """The values of the template that do not depend on where the page is."""
    zone = ZoneInfo(month.zone)
    changes = month.changes
    listed = changes[-_MOST_CHANGES:]
    lines = sum_lines(change.lines for change in changes)
    return {
        "span": _tally(changes, lines),
        "groups": _groups(listed, lambda moment: day_of(moment, zone)),
        "more": len(changes) - len(listed),
        "parts": [
            (name, wording.thousands(getattr(lines, part)))
            for part, name in wording.PART_NAMES.items()
            if getattr(lines, part)
        ],
        "total": wording.thousands(lines.total),
        "foot": f"Months are calendar months of landing in {month.zone}",
    }


def _tally(changes: Sequence[Change], lines: Lines) -> str:
    reverted = sum(1 for change in changes if change.state == "reverted")
    parts = [wording.quantity(len(changes), "change")]
    parts += [f"{wording.thousands(reverted)} of them reverted"] if reverted else []
    return wording.BULLET.join([*parts, LINES.quantity(lines.code)])


def _groups(changes: Sequence[Change], day: Callable[[int], str]) -> list[tuple[str, HtmlText]]:
    own = {kind for kind, _ in _KINDS if kind}
    groups = []
    for kind, heading in _KINDS:
        found = [change for change in changes if _shown_kind(change, own) == kind]
        if found:
            groups.append((heading, HtmlText("".join(_change(change, day) for change in found))))
    return groups


def _shown_kind(change: Change, own: Collection[str]) -> str:
    """The kind under which a change is listed: its own if that is certain; empty for other work."""
    if not change.certain:
        return "unclear"
    return change.kind if change.kind in own else ""


def _change(change: Change, day: Callable[[int], str]) -> str:
    number = f"#{change.pull_request}" if change.pull_request else f"@{change.id.rpartition('@')[2][:7]}"
    total = wording.quantity(wording.lines_of(change).total, "line")
    marks = {
        "reverted": "<em><mark>Reverted</mark></em>",
        "relanded": "<em><mark>Landed again after a revert</mark></em>",
    }
    when = day(change.landed_at)
    return (
        f"<li>{html_link(change.url, html_name(change.title))}<small>{html_text(number)} · "
        f"{int(when[8:])} {MONTH_NAMES[int(when[5:7]) - 1][:3]} · {total}</small>{marks.get(change.state, '')}"
    )
