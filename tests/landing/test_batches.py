"""Does the shape of a merged branch decide which pull request contained each commit, in any order of commits?"""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from landing_facts import ADA

from bot.landing.conventions.batches import pull_requests_by_commit
from bot.model.commit import Commit
from bot.model.ids import CommitId

WHEN = datetime.fromtimestamp(1000, UTC)


def history(text: str) -> dict[CommitId, Commit]:
    """Lines `name: parents: message`; the first is the merge commit."""
    found = {}
    for line in text.strip().splitlines():
        name, parents, message = (part.strip() for part in line.split(":", 2))
        ids = tuple(CommitId(one) for one in parents.split())
        found[CommitId(name)] = Commit(CommitId(name), ids, ADA, ADA, WHEN, WHEN, message.replace(" | ", "\n\n"))
    return found


DEVELOP = """
    m: main d3: Merge branch 'develop'
    d3: d2 b1: Merge pull request #9 from acme/b
    b1: d1: Second
    d2: d1: On develop itself
    d1: main a2: Merge pull request #8 from acme/a
    a2: a1: First again
    a1: main: First
"""
ROLL_UP = """
    m: main r2: Auto merge of #5 - ada:rollup, r=ada | Rollup of 2 pull requests
    r2: r1 b1: Rollup merge of #4 - ben:b, r=ada
    r1: main a2: Rollup merge of #3 - ada:a, r=ada
    b1: a2: Second
    a2: a1: First again
    a1: main: First
"""
BATCH = """
    m: main a1 b1: Merge #3 #4
    a1: main: First
    b1: main: Second
"""
SINGLE = """
    m: main a1: Merge pull request #3 from acme/a
    a1: main: First
"""


TAKEN_IN = """
    m: main o3 : Merge the history of other
    o3: o2 b1: Merge pull request #9 from ben/b
    o2: o1: Second (#8)
    b1: o1: Third
    o1: : First
"""


@given(order=st.randoms(use_true_random=False))
def test_a_commit_belongs_to_the_innermost_merge_that_brought_it(order: object) -> None:
    expected = {
        DEVELOP: {"a1": 8, "a2": 8, "b1": 9},
        ROLL_UP: {"a1": 3, "a2": 3, "b1": 4},
        BATCH: {"a1": 3, "b1": 4},
        SINGLE: {},
        TAKEN_IN: {"o2": 0, "b1": 0},
    }
    for text, numbers in expected.items():
        known = history(text)
        inside = list(known)
        order.shuffle(inside)  # type: ignore[attr-defined]  # a Random
        told = pull_requests_by_commit(known[CommitId("m")], inside, known)
        single = {name: told[name] for name in told if len(known[name].parents) == 1}
        assert single == numbers


def test_a_later_merge_does_not_bring_what_the_branch_already_contained() -> None:
    known = history("""
        m: main d2: Merge branch 'develop'
        d2: d1 b1: Merge pull request #9 from acme:b
        b1: d1: Second
        d1: main: On develop before
    """)
    assert pull_requests_by_commit(known[CommitId("m")], list(known), known) == {"b1": 9}
