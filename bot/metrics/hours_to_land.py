"""How long did the person's pull requests take from opening to landing?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from statistics import median

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.ids import ChangeId
from bot.model.profile import Part

_HOUR = 3600


def value(work: Work) -> Fraction | None:
    waits = [wait for _, wait in _waits(work)]
    return Fraction(median(waits)) if waits else None


def evidence(work: Work) -> Iterator[Part]:
    return (Part((change,), wait) for change, wait in _waits(work))


def _waits(work: Work) -> list[tuple[ChangeId, Fraction]]:
    """For each pull request with a known opening time: the change that it first landed in, and the hours until then."""
    first: dict[tuple[str, int], tuple[int, ChangeId, int]] = {}
    for change, commit in work.commits:
        fact = commit.fact
        if fact.pull_request is not None and fact.opened_at is not None:
            landed = fact.landed_at, change.id, fact.opened_at
            pull = fact.repository, fact.pull_request
            first[pull] = min(first.get(pull, landed), landed)
    return [
        (change, Fraction(landed_at - opened_at, _HOUR))
        for landed_at, change, opened_at in first.values()
        if landed_at >= opened_at
    ]


HOURS_TO_LAND = Metric(
    key="hours_to_land",
    version=1,
    label="Hours to land",
    long_label="Median hours to land",
    words=("hour from opened to landed (median)", "hours from opened to landed (median)"),
    unit="hours",
    note="median from opened to landed, where GitHub said when a pull request was opened",
    question="How long did pull requests take from their opening to their landing?",
    definition="Median of the hours from the opening of a pull request to the first landing of a commit of the person "
    "that it brought, over the pull requests whose opening GitHub reported. Not measured if it reported none.",
    formula="median over pull requests of (first landing - opening) / 3600 seconds; of an even number, the mean of the "
    "middle two",
    basis="the change that each pull request first landed in, with its hours",
    works="Exact to the second. Times are GitHub's own, or those of the commits that a clone reads too.",
    fails="Known only since the installation or a backfill by this version; a clone has no opening time. A draft waits "
    "as any other, and who made it wait is not said: it ranks nobody.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "resume", "csv"}),
    precision=1,
    additive=False,
    source="GitHub",
)
