"""How many of the person's changes were not reverted?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.ids import ChangeId
from bot.model.profile import Part


def value(work: Work) -> int:
    return len(_standing(work))


def evidence(work: Work) -> Iterator[Part]:
    return (Part((change,)) for change in _standing(work))


def _standing(work: Work) -> dict[ChangeId, None]:
    return dict.fromkeys(change.id for change in work.delivered if change.outcome)


OUTCOMES = Metric(
    key="outcomes",
    field="outcomes",
    version=2,
    label="Outcomes",
    words=("outcome", "outcomes"),
    unit="changes",
    note="distinct changes that stand today",
    question="How many pieces of work stand?",
    definition="Distinct changes that are not reverted, not themselves a revert, and not the export of work that "
    "lives in another repository.",
    formula="count of changes with an outcome",
    basis="the changes, each with the commits that carry it",
    works="The same from deliveries in any order and from clones: tests replay public landings both ways.",
    fails="Work that lands again under a new name, with nothing that says so, is two changes, and so is a backport "
    "from outside whose lines are others.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "resume"}),
)
