"""What does a spreadsheet read of a profile? One row per change, without formulas."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

from bot.metrics.metric import Metric, decimal
from bot.metrics.registry import metrics_on
from bot.model.ids import ChangeId
from bot.model.profile import Profile
from bot.render.plain_text import plain_text
from bot.render.wording import day_reader, lines_of

COLUMNS = (
    "change",
    "repository",
    "pull_request",
    "landed_on",
    "month",
    "kind",
    "state",
    "title",
    "commits",
    "lines_of_code",
    "lines_total",
    "reverted_by",
    "also_in",
    "url",
    "not_measured",
)
"""columns of every change; a column for each metric shown in CSV follows"""
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r")
"""what starts a formula, full-width signs too: https://owasp.org/www-community/attacks/CSV_Injection"""


def render_csv(profile: Profile) -> str:
    """The changes of the profile as RFC 4180 text with a header row, in the profile's order."""
    day = day_reader(profile.method.timezone)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\r\n")
    metrics = [(metric, _added(profile, metric)) for metric in metrics_on("csv")]
    rows.writerow((*COLUMNS, *(metric.key for metric, _ in metrics)))
    for change in profile.changes:
        date, lines = day(change.landed_at), lines_of(change)
        rows.writerow(
            (
                _cell(change.id),
                _cell(change.repository),
                change.pull_request or "",
                date,
                date[:7],
                change.kind,
                change.state,
                _cell(change.title),
                len(change.counted),
                lines.code,
                lines.total,
                _cell(change.reverted_by or ""),
                _cell(" ".join(change.also_in)),
                _cell(change.url or ""),
                sum(commit.fact.not_measured for commit in change.counted),
                *(_figure(metric, added.get(change.id)) for metric, added in metrics),
            )
        )
    return out.getvalue()


def _added(profile: Profile, metric: Metric) -> dict[ChangeId, int | Fraction]:
    """What each change adds to the metric: over all months if the metric is additive, else in the newest."""
    found: dict[ChangeId, int | Fraction] = {}
    for month in profile.months:
        for part in month.parts.get(metric.key, ()):
            for key in part.changes:
                if metric.additive:
                    found[key] = found.get(key, 0) + part.value
                else:
                    found.setdefault(key, part.value)
    return found


def _figure(metric: Metric, value: int | Fraction | None) -> str:
    """A number without thousands separators, for programs; empty if the change adds nothing."""
    return "" if value is None else decimal(value, metric.precision).replace(",", "")


def _cell(text: str) -> str:
    return escape_formula(plain_text(text, 2000))


def escape_formula(text: str) -> str:
    """Text that a spreadsheet does not evaluate: an apostrophe precedes a leading formula sign."""
    return f"'{text}" if text.startswith(_FORMULA) else text
