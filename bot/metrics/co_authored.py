"""How many commits of others credit the person?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.profile import Part


def value(work: Work) -> int:
    return len(work.co_authored)


def evidence(work: Work) -> Iterator[Part]:
    counts = Counter(change.id for change, _ in work.co_authored)
    return (Part((change,), number) for change, number in counts.items())


CO_AUTHORED = Metric(
    key="co_authored",
    field="co_authored",
    version=2,
    label="Co-authored",
    long_label="Co-authored commits",
    words=("co-authored commit", "co-authored commits"),
    unit="commits",
    note="commits credited as co-author, beside the commits",
    question="How many commits of others credit the person as co-author?",
    definition="Landed commits by somebody else with a part by the person, proved or attributed, each once across "
    "forks; never part of `commits`.",
    formula="count of counted commits whose author is not the person and in which the person has a part that is not "
    "only claimed",
    basis="the changes, each with how many of its commits",
    works="The trailers are read as git reads them; the same from deliveries and from a clone.",
    fails="A trailer that a squash left out is seen only where GitHub lists the pull request's commits.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "month", "year", "resume"}),
    shown_at_zero=False,
)
