"""How many lines of code did the person's work change?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.ids import ChangeId
from bot.model.profile import Part


def value(work: Work) -> int:
    return sum(commit.lines.code for _, commit in work.own)


def evidence(work: Work) -> Iterator[Part]:
    counts: Counter[ChangeId] = Counter()
    for change, commit in work.own:
        counts[change.id] += commit.lines.code
    return (Part((change,), number) for change, number in counts.items() if number)


LINES = Metric(
    key="lines",
    field="lines_of_code",
    version=2,
    stage="landing",
    label="Lines of code",
    words=("line of code", "lines of code"),
    unit="lines",
    note="authored, tests, docs and configuration",
    question="How many lines did the work change, and of which sort?",
    definition="Additions and deletions as git counts them, each in exactly one of eleven parts; of a "
    "squash of several people, each person's own. Lines of code "
    "are authored, tests, docs and config; generated, vendored, lock file, moved, whitespace, reverted and "
    "mirrored lines stand beside them.",
    formula="authored + tests + docs + config",
    basis="the parts of each commit, which sum to git's total",
    works="The parts sum to git's total for every commit, by construction and by test.",
    fails="A line says nothing of the work it took; generated files that nothing marks are taken for authored.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text", "table", "resume"}),
)
