"""In how many pull requests did the person's work land?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.ids import ChangeId
from bot.model.profile import Part


def value(work: Work) -> int:
    return len({pull for _, pull in _landed(work)})


def evidence(work: Work) -> Iterator[Part]:
    pulls: dict[ChangeId, set[tuple[str, int]]] = defaultdict(set)
    for change, pull in _landed(work):
        pulls[change].add(pull)
    return (Part((change,), len(found)) for change, found in pulls.items())


def _landed(work: Work) -> Iterator[tuple[ChangeId, tuple[str, int]]]:
    """Each commit's change, and the pull request that is proved to have landed it."""
    for change, commit in work.commits:
        fact = commit.fact
        if fact.pull_request is not None:
            yield change.id, (fact.repository, fact.pull_request)


PULL_REQUESTS = Metric(
    key="pull_requests",
    version=1,
    label="Pull requests landed",
    words=("pull request landed", "pull requests landed"),
    unit="pull requests",
    note="that brought commits to a default branch",
    question="How many pull requests did the landed work come in?",
    definition="Distinct pull requests that are proved to have brought a counted commit of the person to a default "
    "branch, whatever became of the work since. Commits that were pushed without one are in none.",
    formula="count of distinct (repository, number) over counted commits whose author is the person",
    basis="the changes, each with how many pull requests brought it",
    works="The number is proved by GitHub's answer or by how the commit landed; a bare `(#12)` is held against the "
    "repository's landing convention.",
    fails="A clone knows only what commits and merges say: a rebase that names no number is not seen there, and is "
    "where GitHub was asked.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "resume", "csv"}),
    additive=False,
)
