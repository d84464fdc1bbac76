"""How do an organisation's sums and a repository's month look? Sums and changes, never people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from bot.metrics.work import sum_lines
from bot.model import Change, Lines, Month
from bot.render import wording
from bot.render.html_text import HtmlText, html_link, html_name, html_text
from bot.render.site import Place, site_page

_MOST_CHANGES = 600
"""rows of one repository's month; the number of the others is told"""
_KINDS = (("feature", FEATURES.label), ("bug_fix", BUGS.label), ("", OTHER.label))


class Added(Protocol):
    """A sum over people."""

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
    def lines(self) -> Lines: ...


class Report(Protocol):
    """All sums of an organisation."""

    @property
    def whole(self) -> Added: ...
    @property
    def months(self) -> Sequence[Added]: ...
    @property
    def left_out(self) -> Sequence[Month]: ...
    @property
    def repositories(self) -> Sequence[Added]: ...
    @property
    def languages(self) -> Sequence[tuple[str, int]]: ...


_SUMMED: tuple[tuple[str, Callable[[Added], int]], ...] = (
    ("People", attrgetter("people")),
    (COMMITS.label, attrgetter("commits")),
    (FEATURES.label, attrgetter("features")),
    (BUGS.label, attrgetter("bugs")),
    (OTHER.label, attrgetter("other")),
    (LINES.label, attrgetter("lines.code")),
)
"""(heading, number) of what is summed over people: metrics are measured on one person's work, these over changes"""


class Landed(Struct, frozen=True):
    """What one repository's month delivered, oldest first."""

    repository: str
    month: Month
    changes: tuple[Change, ...]
    zone: str


def organisation_page(name: str, report: Report, newest: Mapping[str, Month], place: Place) -> str:
    """The sums by month and repository; `newest` is each repository's newest month, for the link to it."""
    months = [one.name for one in report.months]
    return site_page(
        "organisation.html",
        name,
        place,
        span=wording.span(Month(min(months)), Month(max(months))),
        stats=_stats(report.whole),
        columns=[label for label, _ in _SUMMED],
        months=[_row(one, wording.short_month(Month(one.name))) for one in report.months],
        left_out=", ".join(wording.short_month(month) for month in report.left_out),
        repositories=[_row(one, _linked(one.name, newest, place)) for one in report.repositories],
        languages=_shares(report.languages),
        foot="Sums over at least five people. People have their own pages and decide who can read them.",
    )


def _stats(whole: Added) -> list[tuple[str, str]]:
    return [(label, wording.thousands(number(whole))) for label, number in _SUMMED]


def _row(one: Added, label: str | HtmlText) -> list[Any]:
    return [label, *(wording.thousands(number(one)) for _, number in _SUMMED)]


def _linked(name: str, newest: Mapping[str, Month], place: Place) -> HtmlText:
    if name not in newest:
        return HtmlText(html_text(name))
    address = f"{place.base}/repositories/{name.rpartition('/')[2]}/{newest[name]}"
    return HtmlText(f'<a href="{html_text(address)}">{html_text(name)}</a>')


def _shares(languages: Sequence[tuple[str, int]], most: int = 15) -> list[tuple[str, str, str]]:
    whole = sum(lines for _, lines in languages)
    return [(name, wording.thousands(lines), f"{100 * lines / whole:.1f} %") for name, lines in languages[:most]]


def repository_month_page(landed: Landed, place: Place) -> str:
    """Everything that landed in the repository in that month, by kind, each change with its address."""
    zone = ZoneInfo(landed.zone)
    changes = landed.changes
    shown = changes[-_MOST_CHANGES:]
    lines = sum_lines(change.lines for change in changes)
    return site_page(
        "repository.html",
        f"{landed.repository}, {wording.month_name(landed.month)}",
        place,
        span=_tally(changes, lines),
        groups=_groups(shown, lambda moment: day_of(moment, zone)),
        more=len(changes) - len(shown),
        parts=[
            (name, wording.thousands(getattr(lines, part)))
            for part, name in wording.PART_NAMES.items()
            if getattr(lines, part)
        ],
        total=wording.thousands(lines.total),
        back=place.base,
        foot=f"Months are calendar months of landing in {landed.zone}",
    )


def _tally(changes: Sequence[Change], lines: Lines) -> str:
    standing = sum(1 for change in changes if change.outcome)
    taken_back = sum(1 for change in changes if change.state == "reverted")
    parts = [wording.counted(len(changes), "change"), f"{wording.thousands(standing)} of them not reverted"]
    parts += [f"{wording.thousands(taken_back)} reverted"] if taken_back else []
    return wording.BULLET.join([*parts, LINES.counted(lines.code)])


def _groups(changes: Sequence[Change], day: Callable[[int], str]) -> list[tuple[str, HtmlText]]:
    own = {kind for kind, _ in _KINDS if kind}
    groups = []
    for kind, heading in _KINDS:
        found = [change for change in changes if (change.kind == kind if kind else change.kind not in own)]
        if found:
            groups.append((heading, HtmlText("".join(_change(change, day) for change in found))))
    return groups


def _change(change: Change, day: Callable[[int], str]) -> str:
    number = f"#{change.pull_request}" if change.pull_request else f"@{change.id.rpartition('@')[2][:7]}"
    total = wording.counted(wording.lines_of(change).total, "line")
    marks = {
        "reverted": "<em><mark>Reverted</mark></em>",
        "relanded": "<em><mark>Landed again after a revert</mark></em>",
    }
    when = day(change.landed_at)
    return (
        f"<li>{html_link(change.url, html_name(change.title))}<small>{html_text(number)} · "
        f"{int(when[8:])} {wording.MONTH_NAMES[int(when[5:7]) - 1][:3]} · {total}</small>{marks.get(change.state, '')}"
    )
