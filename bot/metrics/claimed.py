"""How many commits and co-author credits does only a text attribute to the person?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.profile import Part


def value(work: Work) -> int:
    return len(work.claimed)


def evidence(work: Work) -> Iterator[Part]:
    counts = Counter(change.id for change, _ in work.claimed)
    return (Part((change,), number) for change, number in counts.items())


CLAIMED = Metric(
    key="claimed",
    field="claimed",
    version=1,
    label="Claimed by others",
    long_label="Claimed by others: review",
    words=("commit claimed by others", "commits claimed by others"),
    unit="commits",
    note="only a text says so; in no other number until the person accepts it",
    question="How many commits and co-author credits does only a text attribute to the person?",
    definition="Landed commits that name the person as author or co-author, where GitHub neither proves nor attributes "
    "it: trailers, addresses that GitHub resolves to no account, and other authors in pull requests that were opened "
    "without write access. `/almanac accept` and the settings page make them count, `/almanac reject` removes them.",
    formula="count of counted commits in which the person's part has the grade `claimed`",
    basis="the changes, each with how many of its commits",
    works="Follows from what GitHub said of each landing, which is stored with it.",
    fails="Honest co-authors stand here until they accept; a clone shows only whether they authored anything else.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"page", "text"}),
    shown_at_zero=False,
    monthly=False,
)
