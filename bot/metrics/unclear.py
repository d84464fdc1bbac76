"""How many of the person's items might be features, bug fixes or neither?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.profile import Part


def value(work: Work) -> int:
    return sum(1 for _ in evidence(work))


def evidence(work: Work) -> Iterator[Part]:
    return (Part(item.changes) for item in work.items if not item.certain and item.state != "reverted")


UNCLEAR = Metric(
    key="unclear",
    field="unclear",
    version=1,
    label="Not sure which",
    words=("not sure which", "not sure which"),
    unit="items",
    note="items whose kind is not certain",
    question="How many pieces of work have a kind that nobody stated and that the evidence does not settle?",
    definition="Items whose kind is not certain and that were not reverted. They count as neither feature nor bug fix "
    "nor other work.",
    formula="count of items whose kind is not certain",
    basis="the items, each with its changes and why they belong together",
    works="See `kind`.",
    fails="See `kind`.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "month", "year", "resume"}),
)
