"""What does a browser show of a profile? One page, without scripts or further requests."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Any

from msgspec import Struct

from bot.metrics.bugs import BUGS
from bot.metrics.feature_share import FEATURE_SHARE
from bot.metrics.features import FEATURES
from bot.metrics.unclear import UNCLEAR
from bot.model.profile import Profile
from bot.render import wording
from bot.render.anonymity import PERSONAL
from bot.render.environment import source, template
from bot.render.escaping import HtmlText
from bot.render.html import activity, sections
from bot.render.html.evidence import PageEvidence, evidence_of
from bot.render.html.history import Drawn, history
from bot.render.html.listing import Listing, profile_listing
from bot.render.html.non_code_activity import months_with_non_code, non_code_bytes, non_code_totals
from bot.render.html.texts import html_blocks
from bot.render.images import charts
from bot.render.non_code_activity import KNOWN_SINCE
from bot.render.verification import repository_addresses, verify_commands

BUDGET = 149_000
"""most bytes of one page, so that it stays under 150 kB with its address and headers"""
_REST_FIXED = 15_500
"""bytes that do not grow with the record: style, headings, notes"""

_MAPS = 3
"""newest years whose heat maps are not folded"""
_SLACK = 2_000
"""bytes by which a second attempt aims below the budget"""


class DatedLink(Struct, frozen=True):
    """A dated snapshot: its address, the month it closes (if it closes one) and the day on which it was taken."""

    address: str
    month: str
    day: str
    """`YYYY-MM-DD`"""


class PageOptions(Struct, frozen=True):
    """What a page says about itself besides the record. An empty string omits a part."""

    public: bool = False
    """search engines may list it; `canonical` and `picture` are written only then"""
    canonical: str = ""
    picture: str = ""
    """address of the card image for previews"""
    record: str = ""
    """address of the JSON format"""
    feed: str = ""
    snapshots: tuple[DatedLink, ...] = ()
    """the dated snapshots, newest first"""
    months: str = ""
    """address under which each month has its own page"""
    repositories: tuple[tuple[str, str, str], ...] = ()
    """(full name, address, month) of pages about repositories that the reader may open"""
    home: str = ""
    """address of the site's first page"""
    files: Sequence[tuple[str, str]] = ()
    """(address, name) of pictures and files of the same record"""
    people_file: str = ""
    """path of the file by which the person agreed to this page; a page of the bot has none"""
    budget: int = BUDGET


def render_html(profile: Profile) -> str:
    """The profile as one self-contained page that search engines may not list."""
    return render_page(profile, PageOptions())


def render_page(profile: Profile, page: PageOptions) -> str:
    """The profile as a page of about `page.budget` bytes at most: older evidence is shortened as needed."""
    listing = profile_listing(profile)
    years = charts.by_year(profile.activity)
    view = _view(profile, page, years)
    room = page.budget - _fixed_bytes(profile, listing, view)
    room -= sum(40 + len(one.address) for one in page.snapshots)
    evidence, drawn = evidence_of(profile, room, listing), Drawn()
    text = _render(view, profile, evidence, drawn)
    excess = len(text.encode("utf-8", "replace")) - page.budget
    if excess <= 0:
        return text
    less = evidence_of(profile, room - excess - _SLACK, listing)
    return _render(view, profile, less, drawn if less.anchors == evidence.anchors else Drawn())


@cache
def style() -> str:
    """The text of the page's only style element, byte for byte."""
    lines = (line.strip() for line in source("page.css").splitlines())
    return "".join(line for line in lines if line and not line.startswith("/*"))


@cache
def style_hash() -> str:
    """The Content-Security-Policy hash of that style: `sha256-…`."""
    return "sha256-" + base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()


def _fixed_bytes(profile: Profile, listing: Listing, view: Mapping[str, Any]) -> int:
    """Bytes of everything but the month blocks, an upper estimate."""
    elsewhere = [listing.changes[key] for key in listing.outside_months]
    return (
        _REST_FIXED
        + len(view["bars"]["path"])
        + sum(len(view[part]) for part in ("newest_map", "maps", "older_maps", "months", "repositories"))
        + 260 * len(profile.technical)
        + 190 * len(profile.languages)
        + 4 * 1200
        + non_code_bytes(listing.non_code, view["non_code"], len(profile.non_code_months))
        + sum(110 + len(change.title) + len(change.url or "") for change in elsewhere)
    )


def _render(view: dict[str, Any], profile: Profile, evidence: PageEvidence, drawn: Drawn) -> str:
    """The page with this evidence."""
    short = [month for month, detail in evidence.detail.items() if detail != "rows"]
    cut = [month for month, detail in evidence.detail.items() if detail in ("first", "tally")]
    lead = [*takewhile(lambda one: one.role == "counts", profile.narrative.sentences)]
    return template("page.html").render(
        view,
        lead=HtmlText(html_blocks(lead, evidence.cite_within(0))),
        top=HtmlText(html_blocks(profile.narrative.sentences[len(lead) :], evidence.cite_within(0), level="h2")),
        history=history(profile, evidence, drawn, view["page"].months),
        shortened=wording.month_name(short[0]) if short else "",
        cut=wording.month_name(cut[0]) if cut else "",
        quality=sections.quality_rows(profile, evidence),
        quality_note=sections.quality_note(profile),
        ai=sections.ai_rows(profile, evidence),
        skills=sections.skill_rows(profile, evidence),
    )


def _view(profile: Profile, page: PageOptions, years: charts.Days) -> dict[str, Any]:
    """The values of the template that do not depend on how much evidence is shown."""
    pictures = activity.year_pictures(years, profile.activity)
    first, others = activity.first_screen_year(activity.fitting_years(profile, pictures), years)
    rows = activity.month_rows(profile, pictures)
    addresses = repository_addresses(profile)
    older = [one.year for one in others[_MAPS - 1 :]]
    lead = " ".join(one.text for one in takewhile(lambda one: one.role == "counts", profile.narrative.sentences))
    return {
        "page": page,
        "style": HtmlText(style()),
        "name": profile.contributor.display,
        "span": _span(profile),
        "description": lead or f"The landed work of {profile.contributor.display}",
        "headline": sections.headline_rows(profile),
        "newest_map": activity.map_rows(first),
        "notes": sections.folded_notes(profile),
        "present": _present(profile),
        "stats": sections.stat_rows(profile),
        "share": _share(profile),
        "share_label": _share_label(profile),
        "share_bar": sections.share_bar(profile),
        "lines": sections.part_rows(profile),
        "lines_total": wording.thousands(profile.overall.lines.total),
        "non_code": non_code_totals(months_with_non_code(profile)),
        "known_since": KNOWN_SINCE,
        "bars": activity.bars(profile),
        "other_days": "Commits by day in other years" if first else "Commits by day",
        "maps": activity.map_rows(others[: _MAPS - 1]),
        "older_years": " to ".join(dict.fromkeys((older[-1], older[0]))) if older else "",
        "older_maps": activity.map_rows(others[_MAPS - 1 :]),
        "months": HtmlText("".join(rows)),
        "unlisted_years": activity.unlisted_years(profile, len(rows), years, len(first) + len(others)),
        "month_columns": activity.month_columns(),
        "languages": sections.language_rows(profile),
        "repositories": sections.repository_cards(profile, addresses, page.repositories),
        "repository_note": _repository_note(profile),
        "verify": verify_commands(profile, addresses),
        "anonymous": wording.ANONYMOUS if profile.contributor.naming == "anonymous" else "",
        "personal": any(record.full_name.startswith(PERSONAL) for record in profile.repositories),
        "snapshots": _snapshots(page),
        "computed": wording.moment_name(profile.generated_at, profile.method.timezone),
        "stamp": wording.rfc3339(profile.generated_at),
        "method": profile.method,
        "limits": wording.limits(profile.method),
    }


def _present(profile: Profile) -> dict[str, str]:
    """The sections in which there is something to show, by id, with what the links to them say."""
    commits = profile.ai_usage.declared + profile.ai_usage.detected + profile.ai_usage.unknown
    found = (
        ("history", "History", profile.months or profile.non_code_months or profile.changes),
        ("activity", "Activity", profile.activity),
        ("overall", "Numbers", True),
        ("quality", "Quality", profile.months),
        ("ai", "AI usage", commits),
        ("skills", "Skills", profile.languages or profile.technical),
        ("repositories", "Repositories", profile.repositories),
        ("verify", "Verify", True),
    )
    return {name: word for name, word, content in found if content}


def _snapshots(page: PageOptions) -> list[tuple[str, list[tuple[str, str]]]]:
    """(year, (address, label) of each dated snapshot); a snapshot that closes a month is labelled with the month."""
    found = [((one.month or one.day)[:4], one.address, _snapshot_label(one)) for one in page.snapshots]
    return [
        (year, [(address, words) for _, address, words in rows]) for year, rows in groupby(found, key=itemgetter(0))
    ]


def _snapshot_label(one: DatedLink) -> str:
    month = wording.short_month(one.month or one.day)[:3]
    return month if one.month else f"{int(one.day[8:10])} {month}"


def _span(profile: Profile) -> str:
    """`acme/api · May 2019 – Aug 2026`, or the number of repositories if there are several."""
    names = [record.full_name for record in profile.repositories]
    months = [month.month for month in profile.months]
    where = names if len(names) == 1 else [wording.quantity(len(names), "repository", "repositories")] if names else []
    when = wording.span(min(months), max(months)) if months else _nothing(profile)
    return " · ".join([*where, when])


def _nothing(profile: Profile) -> str:
    window = profile.method.since or profile.method.until
    return "no work landed in the months shown" if window else "no work has landed yet"


def _repository_note(profile: Profile) -> str:
    count = wording.quantity(len(profile.repositories), "repository", "repositories")
    return f"{count}, most active months first" if len(profile.repositories) > 1 else count


def _share(profile: Profile) -> str:
    """`73 %`, or nothing if there are too few items for a share."""
    share = profile.overall.numbers.get(FEATURE_SHARE.key)
    return "" if share is None else FEATURE_SHARE.figure(share)


def _share_label(profile: Profile) -> str:
    """`12 features, 5 bug fixes, 9 not sure which; 3 other items`."""
    overall = profile.overall
    unclear = f", {UNCLEAR.quantity(overall.unclear)}" if overall.unclear else ""
    if not overall.features and not overall.bugs:
        return f"no certain feature or bug fix{unclear}" if unclear else "no feature and no bug fix"
    other = f"; {wording.quantity(overall.other, 'other item')}" if overall.other else ""
    return f"{FEATURES.quantity(overall.features)}, {BUGS.quantity(overall.bugs)}{unclear}{other}"
