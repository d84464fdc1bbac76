"""Which files tell programs and feed readers about a site? The months of its repositories, without people."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import to_builtins

from bot.metrics import METHOD_VERSION
from bot.model.ids import Month
from bot.narrative.words import digits, month_name
from bot.render.environment import template
from bot.render.plain_text import plain_text
from bot.render.static.pages import MonthCounts, SitePerson, SiteRepository
from bot.render.text.atom import ENTRIES
from bot.render.text.csv import escape_formula
from bot.render.wording import rfc3339


def months_json(one: SiteRepository, zone: str) -> str:
    """The months as JSON, oldest first."""
    return _json({"repository": one.full_name, "months": to_builtins(one.months)}, zone)


def months_csv(one: SiteRepository) -> str:
    """The months as RFC 4180 text with a header row, oldest first."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\r\n")
    rows.writerow(("repository", *MonthCounts.__struct_fields__))
    name = escape_formula(plain_text(one.full_name))
    rows.writerows((name, *to_builtins(month).values()) for month in one.months)
    return out.getvalue()


def site_json(people: Sequence[SitePerson], repositories: Sequence[SiteRepository], zone: str) -> str:
    """Who and what the site shows, and where."""
    pages = [{"name": one.name, "page": f"people/{one.folder}/index.html"} for one in people]
    known = [{"name": one.full_name, "page": f"repositories/{one.folder}/index.html"} for one in repositories]
    return _json({"people": pages, "repositories": known}, zone)


def _json(values: Mapping[str, object], zone: str) -> str:
    known = {"method": {"version": METHOD_VERSION, "timezone": zone, "date_basis": "landed"}}
    return json.dumps({**known, **values}, ensure_ascii=False, indent=1) + "\n"


def digests_feed(one: SiteRepository, texts: Mapping[Month, str], now: datetime) -> str:
    """An Atom feed with an entry for each of the newest months."""
    updated, name = rfc3339(now), plain_text(one.full_name)
    subject = f"tag:almanac.invalid,2025:{name.replace(' ', '-')}"
    return template("months.atom").render(
        address="feed.atom",
        page="index.html",
        id=subject,
        name=name,
        updated=updated,
        version=METHOD_VERSION,
        unmeasured="",
        entries=[_entry(month, subject, texts[month.month], updated) for month in one.months[: -ENTRIES - 1 : -1]],
    )


def _entry(one: MonthCounts, subject: str, text: str, updated: str) -> dict[str, str]:
    year, number = int(one.month[:4]), int(one.month[5:7])
    closed = f"{year + number // 12:04d}-{number % 12 + 1:02d}-01T00:00:00Z"
    return {
        "id": f"{subject}#{one.month}",
        "link": f"digests/{one.month}.html",
        "title": f"{month_name(one.month)}: {digits(one.commits, 'commit')}, {digits(one.changes, 'change')}",
        "text": text,
        "closed": min(closed, updated),
    }
