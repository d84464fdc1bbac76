"""Which metrics are there? `METRICS` lists all of them, in the order in which every form shows them.

Whatever shows, explains, documents or verifies numbers iterates over it: a metric is one file and one line here.
"""

from __future__ import annotations

from bot.metrics.bugs import BUGS
from bot.metrics.claimed import CLAIMED
from bot.metrics.co_authored import CO_AUTHORED
from bot.metrics.commits import COMMITS
from bot.metrics.definitions import DEFINITIONS
from bot.metrics.feature_share import FEATURE_SHARE
from bot.metrics.features import FEATURES
from bot.metrics.hours_to_land import HOURS_TO_LAND
from bot.metrics.lines import LINES
from bot.metrics.metric import Definition, Metric, Surface
from bot.metrics.months import MONTHS
from bot.metrics.other import OTHER
from bot.metrics.outcomes import OUTCOMES
from bot.metrics.pull_requests import PULL_REQUESTS
from bot.metrics.unclear import UNCLEAR
from bot.metrics.work import Work
from bot.model.profile import Number, Part

METRICS: list[Metric] = [
    COMMITS,
    CO_AUTHORED,
    CLAIMED,
    OUTCOMES,
    FEATURES,
    BUGS,
    OTHER,
    UNCLEAR,
    FEATURE_SHARE,
    LINES,
    MONTHS,
    PULL_REQUESTS,
    HOURS_TO_LAND,
]


def definitions() -> tuple[Definition, ...]:
    """Everything that is measured: the metrics, then what has its own section on a page."""
    return (*METRICS, *DEFINITIONS)


def metrics_on(surface: Surface) -> list[Metric]:
    """The metrics shown on this surface, in order."""
    return [metric for metric in METRICS if surface in metric.surfaces]


def metric_called(key: str) -> Metric | None:
    return next((metric for metric in METRICS if metric.key == key), None)


def numbers_of(work: Work) -> dict[str, Number]:
    """The value of every metric by its key."""
    return {metric.key: metric.value(work) for metric in METRICS}


def parts_of(work: Work) -> dict[str, tuple[Part, ...]]:
    """The evidence of every metric, by its key; metrics without any are left out."""
    found = {metric.key: tuple(metric.evidence(work)) for metric in METRICS}
    return {key: parts for key, parts in found.items() if parts}


REVISION = 100
"""rises, by a hundred, with a change of method that concerns every definition: 100 is graded credit"""
METHOD_VERSION = str(REVISION + sum(one.version for one in definitions()))
"""Version of the definitions, on every profile: it rises by one with each new metric and each new version of one."""
FACT_METHOD = REVISION + sum(one.version for one in definitions() if one.stage == "landing")
"""Version of what is measured once and stored: facts of another version must be measured again."""
