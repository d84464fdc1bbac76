"""What does a feed reader show of a profile? One entry per active month, newest first."""

from __future__ import annotations

from typing import Any

from bot.model.profile import MonthRecord, Profile
from bot.render import wording
from bot.render.environment import template
from bot.render.plain_text import plain_lines, plain_text

ENTRIES = 24
"""newest months in the feed"""
_TAG = "tag:almanac.invalid,2025:"
"""prefix of ids if no address is known: tag URIs (RFC 4151), which lead nowhere"""


def render_atom(profile: Profile) -> str:
    """The months as an Atom feed (RFC 4287) without an address."""
    return render_feed(profile)


def render_feed(profile: Profile, address: str = "", page: str = "") -> str:
    """The feed served at `address` about the page at `page`; ids stay the same when texts change.

    Where `page` is a path relative to the feed, ids are tag URIs.
    """
    subject = page if "://" in page else _TAG + _subject(profile)
    updated = wording.rfc3339(profile.generated_at)
    return template("months.atom").render(
        address=address,
        page=page,
        id=subject,
        name=plain_text(profile.contributor.display),
        updated=updated,
        unmeasured="; ".join(wording.list_missing_parts(profile.method)),
        version=profile.method.version,
        entries=[_entry(month, subject, page=page, computed=updated) for month in profile.months[:ENTRIES]],
    )


def _subject(profile: Profile) -> str:
    who = profile.contributor
    named = who.naming == "named"
    return str(who.id) if named and who.id else "anonymous" if not named else plain_text(who.display).replace(" ", "-")


def _entry(month: MonthRecord, subject: str, *, page: str, computed: str) -> dict[str, Any]:
    year, number = int(month.month[:4]), int(month.month[5:7])
    closed = f"{year + number // 12:04d}-{number % 12 + 1:02d}-01T00:00:00Z"
    return {
        "id": f"{subject}#m{month.month}",
        "link": f"{page}#m{month.month}" if page else "",
        "title": f"{wording.month_name(month.month)}: {wording.tally(month)}",
        "text": plain_lines(month.summary.text) or wording.tally(month),
        "closed": min(closed, computed),
    }
