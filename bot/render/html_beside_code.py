"""How does a page show work beside code, each number with links to what it was counted from?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from bot.metrics.beside_code import together
from bot.model import ChangeId, Month, MonthRecord, Profile, Trace
from bot.render import wording
from bot.render.beside_code import Said, label, months_of, said
from bot.render.html_text import html_link, html_text

_LINKED_MONTHS = 12
"""of the months with work beside code, the newest that link to it; older ones tell its numbers"""
_LINKS = 6
"""links behind one number; of more, the number is told"""
_LINK = 24
"""bytes of a link to a change of the same page"""
Cite = Callable[[Sequence[ChangeId], int], str]


def beside_months(profile: Profile) -> list[MonthRecord]:
    """The months with work beside code, newest first."""
    return [month for month in months_of(profile) if month.beside]


def beside_totals(months: Sequence[MonthRecord]) -> list[str]:
    """Each sort of all these months in words."""
    return [one.words for one in said(together(month.beside for month in months))] if months else []


def beside_lines(beside: Mapping[Month, Sequence[Said]], cite: Cite) -> dict[Month, str]:
    """What was done beside code in each month with any of it, newest first; older ones tell its numbers alone."""
    return {
        month: beside_line(sorts, cite if place < _LINKED_MONTHS else None)
        for place, (month, sorts) in enumerate(beside.items())
    }


def beside_line(sorts: Collection[Said], cite: Cite | None) -> str:
    """`Reviews and triage: reviewed 2 pull requests of others (3 reviews) app#12 app#14`; no links without `cite`."""
    if not sorts:
        return ""
    parts = []
    for one in sorts:
        links = "" if cite is None else cite(one.changes, _LINKS) if one.changes else _links(one.traces)
        parts.append(f"{html_text(one.words)}{links and f'<sup>{links}</sup>'}")
    return f"<p class=t>Reviews and triage: {wording.BULLET.join(parts)}"


def _links(traces: Sequence[Trace]) -> str:
    links = [html_link(one.url, html_text(label(one))) for one in traces[:_LINKS]]
    return " ".join([*links, f"+{len(traces) - _LINKS}"] if len(traces) > _LINKS else links)


def beside_bytes(beside: Mapping[Month, Sequence[Said]], totals: Sequence[str], alone: int) -> int:
    """Bytes of all of it on a page, estimated from above; `alone` of the months have no landed work."""
    lines = [len(line.encode()) for line in beside_lines(beside, _widest).values()]
    return sum(lines) + 90 * alone + sum(len(one) + 10 for one in totals) + (600 if any(lines) else 0)


def _widest(changes: Sequence[ChangeId], most: int) -> str:
    return "." * (_LINK * min(len(changes), most + 1))
