"""How does a page show non-code activity, each number with links to its evidence?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from bot.metrics.non_code_activity import combine_activity
from bot.model.ids import ChangeId, Month
from bot.model.profile import MonthRecord, Profile, Trace
from bot.render import wording
from bot.render.escaping import html_link, html_text
from bot.render.non_code_activity import NonCodeLine, history_months, non_code_lines, trace_label

_LINKED_MONTHS = 12
"""newest months with non-code activity that link to their evidence; older ones show only numbers"""
_LINKS = 6
"""most links after one number; the rest is a number"""
_LINK = 24
"""bytes of a link to a change on the same page"""
Cite = Callable[[Sequence[ChangeId], int], str]


def months_with_non_code(profile: Profile) -> list[MonthRecord]:
    """The months with non-code activity, newest first."""
    return [month for month in history_months(profile) if month.non_code]


def non_code_totals(months: Sequence[MonthRecord]) -> list[str]:
    """Each kind of non-code activity in these months together, in words."""
    return [one.words for one in non_code_lines(combine_activity(month.non_code for month in months))] if months else []


def non_code_by_month(non_code: Mapping[Month, Sequence[NonCodeLine]], cite: Cite) -> dict[Month, str]:
    """The line of each month with non-code activity, newest first; older months have no links. HTML."""
    return {
        month: non_code_line(sorts, cite if index < _LINKED_MONTHS else None)
        for index, (month, sorts) in enumerate(non_code.items())
    }


def non_code_line(sorts: Collection[NonCodeLine], cite: Cite | None) -> str:
    """`Reviews and triage: reviewed 2 pull requests of others (3 reviews) app#12 app#14`; no links without `cite`.

    What the person's own changes show comes first and is neither: `1 documentation change • first contribution to …`.
    """
    own = wording.BULLET.join([_with_links(one, cite) for one in sorts if not one.traces])
    seen = wording.BULLET.join([_with_links(one, cite) for one in sorts if one.traces])
    lines = [own[:1].upper() + own[1:], seen and f"Reviews and triage: {seen}"]
    return "".join([f"<p class=t>{line}" for line in lines if line])


def _with_links(one: NonCodeLine, cite: Cite | None) -> str:
    links = "" if cite is None else cite(one.changes, _LINKS) if one.changes else _links(one.traces)
    return f"{html_text(one.words)}{links and f'<sup>{links}</sup>'}"


def _links(traces: Sequence[Trace]) -> str:
    links = [html_link(one.url, html_text(trace_label(one))) for one in traces[:_LINKS]]
    return " ".join([*links, f"+{len(traces) - _LINKS}"] if len(traces) > _LINKS else links)


def non_code_bytes(
    non_code: Mapping[Month, Sequence[NonCodeLine]], totals: Sequence[str], months_without_code: int
) -> int:
    """Bytes of all non-code activity on a page, an upper estimate."""
    lines = [len(line.encode()) for line in non_code_by_month(non_code, _widest_links).values()]
    return sum(lines) + 90 * months_without_code + sum(len(one) + 10 for one in totals) + (600 if any(lines) else 0)


def _widest_links(changes: Sequence[ChangeId], most: int) -> str:
    return "." * (_LINK * min(len(changes), most + 1))
