"""What do the other pages look like: welcome, one month, two months, a document and an error?"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bot.metrics.lines import LINES
from bot.metrics.metric import Metric
from bot.metrics.registry import metrics_on
from bot.metrics.work import Work
from bot.model.fact import Lines
from bot.model.ids import ChangeId, Month
from bot.model.profile import MonthRecord, Number, Overall, Profile
from bot.render import wording
from bot.render.environment import source, template
from bot.render.escaping import HtmlText
from bot.render.html import sections
from bot.render.html.evidence import evidence_of
from bot.render.html.history import month_items
from bot.render.html.listing import profile_listing
from bot.render.html.non_code_activity import non_code_line
from bot.render.html.page import style
from bot.render.html.texts import html_blocks
from bot.render.images.pictures import picture_styles

PROBLEMS = {
    404: ("Not found", "There is no such page, or it is not public."),
    405: ("Method not allowed", "This page is read-only."),
    406: ("Format not available", "This page is available as HTML, JSON, text, Markdown, SVG, Atom and CSV."),
    400: ("Bad request", "Something in the request is wrong. Go back and try again."),
    403: ("Not allowed", "The form has expired or belongs to somebody else. Go back, reload the page and try again."),
    413: ("Too large", "The request is larger than any form on this site."),
    429: ("Too many requests", "Wait a minute and then reload the page."),
    500: ("Server error", "Something went wrong on our side. The error has been logged."),
    503: ("Not available", "The record cannot be read at the moment. Try again in a minute."),
}
"""status -> (heading, text); the text never says why a page is not shown"""
_ROOM = 120_000
"""bytes for the list of what landed in a month"""


class PageLocation(Struct, frozen=True):
    """Where a page is: its own address if public, the path of its record, and whether it is public."""

    base: str = ""
    """path of the record's page, for links to its months; empty if there is none"""
    canonical: str = ""
    public: bool = False


_NOWHERE = PageLocation()


@cache
def site_style() -> str:
    """The text of the second style element of these pages, byte for byte."""
    return "".join(line.strip() for line in source("site.css").splitlines() if line.strip())


@cache
def site_style_hash() -> str:
    """The Content-Security-Policy hash of `site_style`."""
    return _hash(site_style())


@cache
def picture_hashes() -> tuple[str, ...]:
    """The Content-Security-Policy hashes of the styles in SVG files that are opened on their own, one a theme."""
    return tuple(map(_hash, picture_styles()))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def site_page(name: str, heading: str, location: PageLocation = _NOWHERE, **values: Any) -> str:
    """A page of the site from its template."""
    given = {"title": heading, "span": "", "foot": "", "narrow": False, "home": ""} | values
    return template(name).render(
        heading=heading,
        public=location.public,
        canonical=location.canonical,
        style=HtmlText(style()),
        site_style=HtmlText(site_style()),
        **given,
    )


def welcome_page(*, settings: bool, definitions: bool) -> str:
    """The first page, which shows no person."""
    return site_page("welcome.html", "A record of landed work", narrow=True, settings=settings, definitions=definitions)


def problem_page(status: int) -> str:
    """The error page for an HTTP status."""
    heading, words = PROBLEMS.get(status, PROBLEMS[500] if status >= 500 else PROBLEMS[400])
    return site_page("problem.html", heading, narrow=True, words=words)


def document_page(title: str, document: HtmlText) -> str:
    """A page with a document that is already rendered and sanitised."""
    return site_page("document.html", title, PageLocation(public=True), document=document)


# --- months ----------------------------------------------------------------------------------------------------------


def months_with_page(profile: Profile) -> tuple[Month, ...]:
    """The months that have a page, newest first."""
    return tuple(record.month for record in profile.months)


def restrict_to_month(profile: Profile, month: Month) -> Profile:
    """The profile reduced to one month: its numbers, items and changes."""
    (record,) = [one for one in profile.months if one.month == month]
    named: set[ChangeId] = {key for item in record.items for key in item.changes}
    named |= {key for sentence in record.summary.sentences for key in sentence.evidence}
    return replace(
        profile,
        narrative=record.summary,
        months=(record,),
        non_code_months=(),
        overall=Overall(record.lines, record.numbers),
        activity={day: commits for day, commits in profile.activity.items() if day.startswith(month)},
        changes=tuple(change for change in profile.changes if change.id in named),
    )


def month_page(profile: Profile, month: Month, location: PageLocation) -> str:
    """The page of one month of a person: its text, its numbers and everything that landed in it."""
    all_months = months_with_page(profile)
    at = all_months.index(month)
    own = restrict_to_month(profile, month)
    evidence = evidence_of(own, _ROOM, profile_listing(own))
    record = own.months[0]
    earlier = _month_link(all_months[at + 1 : at + 2], location)
    return site_page(
        "month.html",
        f"{own.contributor.display}, {wording.month_name(month)}",
        location,
        span=wording.tally(record),
        summary=HtmlText(html_blocks(record.summary.sentences, evidence.cite_within())),
        stats=sections.stat_rows(own, monthly=True),
        lines=sections.line_rows(own),
        lines_total=wording.thousands(record.lines.total),
        languages=", ".join(record.languages),
        non_code=HtmlText(non_code_line(evidence.listing.non_code.get(month, ()), evidence.cite)),
        work=month_items(record, evidence, own.method.timezone),
        back=location.base,
        earlier=earlier,
        later=_month_link(all_months[at - 1 : at] if at else (), location),
        compare=_compare(all_months[at + 1 : at + 2], month, location),
        foot=_foot(profile),
    )


def _month_link(months: Sequence[Month], location: PageLocation) -> dict[str, str] | None:
    if not months or not location.base:
        return None
    return {"link": f"{location.base}/months/{months[0]}", "name": wording.month_name(months[0])}


def _compare(before: Sequence[Month], month: Month, location: PageLocation) -> dict[str, str] | None:
    if not before or not location.base:
        return None
    return {"link": f"{location.base}/compare/{before[0]}/{month}", "name": wording.month_name(before[0])}


def _foot(profile: Profile) -> str:
    computed = wording.moment_name(profile.generated_at, profile.method.timezone)
    zone = profile.method.timezone
    return f"Computed {computed} · method {profile.method.version} · months are calendar months of landing in {zone}"


def difference_page(profile: Profile, months: tuple[Month, Month], location: PageLocation) -> str:
    """The page of two months of a person side by side; a month without work shows zeros."""
    by_month = {record.month: record for record in profile.months}
    before, after = (by_month.get(month) for month in months)
    names = [
        {"name": wording.month_name(one), "short": wording.short_month(one), "link": f"{location.base}/months/{one}"}
        for one in months
    ]
    return site_page(
        "difference.html",
        profile.contributor.display,
        location,
        title=f"{profile.contributor.display}, {names[0]['name']} and {names[1]['name']}",
        span=f"{names[0]['name']} and {names[1]['name']} side by side",
        rows=_counts(before, after),
        where=_where_rows(before, after, names),
        before=names[0],
        after=names[1],
        back=location.base,
        foot=_foot(profile),
    )


def _counts(first: MonthRecord | None, second: MonthRecord | None) -> list[dict[str, str]]:
    """The metrics, then the parts of lines, each if there is any of it in either month."""
    numbers = [(metric, _number(first, metric), _number(second, metric)) for metric in metrics_on("page")]
    rows = [_row(metric, metric.label, *pair) for metric, *pair in numbers if metric.monthly and any(pair)]
    old, new = (record.lines if record else Lines() for record in (first, second))
    parts = [
        _row(LINES, f"Lines: {name}", getattr(old, part), getattr(new, part))
        for part, name in wording.PART_NAMES.items()
        if getattr(old, part) or getattr(new, part)
    ]
    return [*rows, *parts]


def _number(record: MonthRecord | None, metric: Metric) -> Number:
    """The metric of the month; without a record, its value for no work at all."""
    return record.numbers.get(metric.key) if record else metric.value(Work(()))


def _row(metric: Metric, label: str, before: Number, after: Number) -> dict[str, str]:
    change = None if before is None or after is None else after - before
    sign = "+" if change and change > 0 else "−" if change else ""
    return {
        "label": label,
        "before": metric.figure(before),
        "after": metric.figure(after),
        "change": "" if change is None else f"{sign}{metric.figure(-change if change < 0 else change)}",
    }


def _where_rows(
    before: MonthRecord | None, after: MonthRecord | None, names: Sequence[dict[str, str]]
) -> list[tuple[str, str]]:
    rows = []
    for what, field in (("Repositories", "repositories"), ("Languages", "languages")):
        old, new = (tuple(getattr(record, field)) if record else () for record in (before, after))
        rows.append((f"{what} in both months", [one for one in new if one in old]))
        rows.append((f"{what} in {names[0]['name']} only", [one for one in old if one not in new]))
        rows.append((f"{what} in {names[1]['name']} only", [one for one in new if one not in old]))
    return [(label, ", ".join(found)) for label, found in rows if found]
