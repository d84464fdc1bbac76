"""In how many months was the person active?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.profile import Part


def value(work: Work) -> int:
    return sum(1 for _ in evidence(work))


def evidence(work: Work) -> Iterator[Part]:
    return (Part(tuple(dict.fromkeys(change.id for change, _ in one.commits))) for one in work.months if one.commits)


MONTHS = Metric(
    key="months",
    field="active_months",
    version=1,
    label="Active months",
    words=("active month", "active months"),
    unit="months",
    note="calendar months with a commit",
    question="In how many months was the person active?",
    definition="Calendar months with a commit of one's own; a month with nothing but credited commits is none.",
    formula="count of months with a counted commit of the person",
    basis="the changes of each month",
    works="The same from deliveries and from a clone, in the time zone that the profile names.",
    fails="Which month a commit at a month's edge belongs to depends on the time zone.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "card", "resume"}),
    monthly=False,
)
