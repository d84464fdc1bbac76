"""How many of the person's bug fixes were not reverted?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.metrics.metric import EVERYWHERE, Metric
from bot.metrics.work import Work
from bot.model.profile import Part


def value(work: Work) -> int:
    return sum(1 for _ in evidence(work))


def evidence(work: Work) -> Iterator[Part]:
    return (Part(item.changes) for item in work.certain_items("bug_fix"))


BUGS = Metric(
    key="bugs",
    field="bugs",
    version=2,
    label="Bug fixes",
    words=("bug fix", "bug fixes"),
    unit="items",
    note="items that mend something",
    question="How many bug fixes stand?",
    definition="Items whose kind is certainly bug fix and that were not reverted; changes of one month that belong "
    "together are one item.",
    formula="count of items with a bug fix and no feature in them",
    basis="the items, each with its changes and why they belong together",
    works="See `items` and `kind`.",
    fails="See `items` and `kind`.",
    value=value,
    evidence=evidence,
    surfaces=EVERYWHERE - {"csv", "badge"},
)
