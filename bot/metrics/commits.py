"""How many commits of the person landed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bot.metrics.metric import EVERYWHERE, Metric
from bot.metrics.work import Work
from bot.model.profile import Part


def value(work: Work) -> int:
    return len(work.commits)


def evidence(work: Work) -> Iterator[Part]:
    counts = Counter(change.id for change, _ in work.commits)
    return (Part((change,), number) for change, number in counts.items())


COMMITS = Metric(
    key="commits",
    field="commits",
    version=2,
    label="Commits",
    words=("commit", "commits"),
    unit="commits",
    note="landed on a default branch, merges left out",
    question="How many commits of the person reached a default branch?",
    definition="Non-merge commits that the default branch reaches and the person is the author of, proved or "
    "attributed, each once across forks; reverts and what was reverted included. Commits that credit the person "
    "are `co_authored`.",
    formula="count of counted commits whose author is one of the person's addresses",
    basis="the commits, by full id, of each change",
    works="Equal to `git log --no-merges` with `.mailmap` on every history it was held against.",
    fails="An author who uses an address that nothing proves is a person of its own.",
    value=value,
    evidence=evidence,
    surfaces=EVERYWHERE - {"csv"},
)
