"""What does a metric declare? Its texts, its formula, its value and evidence, and where it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct

from bot.metrics.work import Work
from bot.model.profile import Number, Part

Surface = Literal["page", "text", "month", "year", "table", "card", "badge", "resume", "csv"]
"""Where a number can be shown. `page`: a cell of the page's totals, of a month's page and of two months compared;
`text`: a line of the totals in text and Markdown; `month`: the line about one month, in every form, in the feed and in
posts; `year`: the line about a year on the page; `table`: a column of the page's table of months; `card` and `badge`:
the images; `resume`: JSON Resume; `csv`: a column with what each change adds.

Not listed because every metric appears there: the JSON form, `almanac explain`, `/almanac why`, `almanac verify`,
snapshots and the page of definitions.
"""
EVERYWHERE: frozenset[Surface] = frozenset(get_args(Surface))


class Definition(Struct, frozen=True, kw_only=True, eq=False):
    """The definition of a measured quantity in words. `version` rises whenever a new definition changes a number."""

    key: str
    """its name in the JSON form, in `almanac explain` and in `/almanac why`"""
    version: int
    stage: Literal["landing", "record"] = "record"
    """`landing`: measured once for each landed commit and stored in its fact; `record`: computed whenever it is read"""
    question: str
    definition: str
    formula: str
    basis: str
    """its evidence"""
    unit: str
    works: str
    """how well it works: figures, with the data they were measured on"""
    fails: str
    """where it fails"""
    function: str = ""
    """`module:name` of the pure function; a metric's is the one that it declares"""


class Metric(Definition, frozen=True, kw_only=True, eq=False):
    """One number of a profile. `METRICS` in bot/metrics/registry.py lists all of them."""

    label: str
    """the heading of its column or cell: `Bug fixes`"""
    long_label: str = ""
    """the heading where there is room; the label if empty"""
    words: tuple[str, str]
    """singular and plural after the number: `bug fix`, `bug fixes`"""
    note: str
    """a one-line explanation under the number"""
    value: Callable[[Work], Number]
    evidence: Callable[[Work], Iterable[Part]]
    surfaces: frozenset[Surface] = EVERYWHERE
    precision: int = 0
    """displayed decimal places; records store the exact number"""
    percent: bool = False
    """a share, shown as a percentage"""
    nothing: str = "not measured"
    """shown if there is no value"""
    shown_at_zero: bool = True
    monthly: bool = True
    """meaningful for a single month; otherwise only for all months together"""
    additive: bool = True
    """the values of months add up to that of all months together"""
    source: Literal["record", "GitHub"] = "record"
    """`GitHub`: based on what no clone holds, so that `verify` can neither confirm nor refute it"""
    field: str = ""
    """its own field in `profile.schema.json`, for metrics that had one before `metrics` existed"""

    @property
    def heading(self) -> str:
        """The label where there is room."""
        return self.long_label or self.label

    def figure(self, value: Number) -> str:
        """`12,345`, `12.5`, `73 %`, or a text if there is no value."""
        return _figure(self, value)

    def noun_for(self, value: Number) -> str:
        """The noun for this number of it: `bug fix`, `bug fixes`."""
        return self.words[0] if value == 1 else self.words[1]

    def quantity(self, value: Number) -> str:
        """`1 bug fix`, `2 bug fixes`, `bug fixes: not measured`."""
        return _counted(self, value)


@lru_cache(maxsize=4096)
def _figure(metric: Metric, value: Number) -> str:
    """Cached, because a page repeats the same small numbers, and grouping digits is slow."""
    if value is None:
        return metric.nothing
    text = decimal(100 * value if metric.percent else value, metric.precision)
    return f"{text} %" if metric.percent else text


@lru_cache(maxsize=4096)
def _counted(metric: Metric, value: Number) -> str:
    if value is None:
        return f"{metric.words[1]}: {metric.nothing}"
    return f"{metric.figure(value)} {metric.noun_for(value)}"


def decimal(value: int | Fraction, digits: int) -> str:
    """An exact number with grouped thousands and this many decimal places, halves rounded to even."""
    if not digits:
        return f"{round(value):,}"
    scaled = round(value * 10**digits)
    integer, rest = divmod(abs(scaled), 10**digits)
    return f"{'-' if scaled < 0 else ''}{integer:,}.{rest:0{digits}d}"
