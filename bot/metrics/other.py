"""How many of the person's items are neither features nor bug fixes?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.profile import Part


def value(work: Work) -> int:
    return sum(1 for _ in evidence(work))


def evidence(work: Work) -> Iterator[Part]:
    return (Part(item.changes) for item in work.certain_items("other"))


OTHER = Metric(
    key="other",
    field="other",
    version=2,
    label="Other",
    long_label="Other items",
    words=("other", "other"),
    unit="items",
    note="items that are neither",
    question="How many pieces of work are neither feature nor bug fix?",
    definition="Items that are certainly neither feature nor bug fix and that were not reverted.",
    formula="count of items without a feature or a bug fix in them",
    basis="the items, each with its changes and why they belong together",
    works="See `items` and `kind`.",
    fails="See `items` and `kind`.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "table", "resume"}),
)
