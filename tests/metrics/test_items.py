"""Are only changes with something in common compared, without missing any that belong together?"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.metrics import item_edges, items
from bot.model.change import Change, CountedCommit
from bot.model.commit import Signature
from bot.model.fact import Fact, Lines
from bot.model.ids import ChangeId, CommitId, Kind

ADA = Signature("Ada Brook", "ada@example.org")
PATHS = ["src/a.py", "src/b.py", "tests/test_a.py", "README.md"]
TITLES = ["fix(core): burn rate of stage 1", "fix(core): burn rate of stage 2", "Add the burn rate", "Trim the nozzle"]
LINKS = ["issue:acme/rocket#3", "issue:acme/rocket#4", "series:core|n", "scope:core"]


def change(number: int, kind: Kind, title: str, links: Sequence[str], paths: Sequence[str]) -> Change:
    fact = Fact(
        repository="acme/rocket",
        commit=CommitId(f"{number:040x}"),
        landed_at=1_735_732_800 + number * 86_400,
        authored_at=1_735_732_800,
        author=ADA,
        committer=ADA,
        title=title,
        how="push",
        merge_commit=CommitId(f"{number:040x}"),
        lines=Lines(authored=number % 5),
        kind=kind,
        links=tuple(links),
        paths=tuple(sorted(paths)),
    )
    return Change(
        id=ChangeId(f"acme/rocket#{number}"),
        repository="acme/rocket",
        title=title,
        kind=kind,
        why="stated",
        certain=True,
        state="landed",
        landed_at=fact.landed_at,
        commits=(CountedCommit(fact, True, fact.lines),),
        pull_request=number,
    )


KINDS: list[Kind] = ["feature", "bug_fix", "docs", "revert"]
ROWS = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from(TITLES),
    st.lists(st.sampled_from(LINKS), max_size=2, unique=True),
    st.lists(st.sampled_from(PATHS), max_size=3, unique=True),
)
CHANGES = st.lists(ROWS, max_size=8).map(lambda rows: [change(at, *row) for at, row in enumerate(rows, 1)])


@given(CHANGES)
def test_two_changes_that_join_also_join_among_all_others(changes: list[Change]) -> None:
    alone = {edge for two in combinations(changes, 2) for item in items.group(two) for edge in item.edges}
    assert {edge for item in items.group(changes) for edge in item.edges} == alone


@given(CHANGES)
def test_the_order_of_changes_makes_no_difference(changes: list[Change]) -> None:
    assert items.group(changes[::-1]) == items.group(changes)


def test_changes_that_share_nothing_are_not_compared() -> None:
    calls = []
    for number in (40, 80, 160):
        alone = [change(at, "feature", f"Add the burn rate {number}", [], [f"src/{at}.py"]) for at in range(number)]
        with counted_calls(item_edges.__file__) as count:
            assert len(items.group(alone)) == number
        calls.append(count[0])
    assert calls[2] - calls[1] <= 2 * (calls[1] - calls[0]), "pairs would be four times as many"


@contextmanager
def counted_calls(file: str) -> Iterator[list[int]]:
    """How often functions of this file are called within the block."""
    count = [0]

    def note(frame: FrameType, event: str, _: object) -> None:
        count[0] += event == "call" and frame.f_code.co_filename == file

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield count
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize(
    ("number", "other", "joined"),
    [(1, 2, "E1 issue:acme/rocket#3"), (3, 1, "E1 issue:acme/rocket#3"), (1, 9, None)],
)
def test_changes_join_where_both_name_an_issue_or_one_names_the_other(
    number: int, other: int, joined: str | None
) -> None:
    link = "issue:acme/rocket#3"
    one = change(number, "feature", "Add the nozzle", [link, "series:core|n"] if number != 3 else [], [])
    two = change(other, "bug_fix", "Trim it", [link, "series:core|n"] if joined else [], [])
    edges = [rule for item in items.group([one, two]) for _, _, rule in item.edges]
    assert edges == ([joined] if joined else [])


def test_a_merge_that_brought_many_changes_joins_none_of_them() -> None:
    def brought(count: int) -> list[Change]:
        plain = [change(at, "docs", f"Say {at}", [], []) for at in range(1, count + 1)]
        merge_commit = CommitId("c" * 40)
        facts = [replace(one.commits[0].fact, merge_commit=merge_commit) for one in plain]
        return [
            replace(one, commits=(CountedCommit(fact, True, fact.lines),))
            for one, fact in zip(plain, facts, strict=True)
        ]

    assert len(items.group(brought(item_edges.BRANCH_MOST))) == 1
    assert len(items.group(brought(item_edges.BRANCH_MOST + 1))) == item_edges.BRANCH_MOST + 1


def test_two_changes_of_like_titles_and_the_same_files_are_one_item() -> None:
    both = [change(at, "feature", f"Add the burn rate, part {at}", [], ["src/a.py"]) for at in (1, 2)]
    (item,) = items.group(both)
    assert item.changes == ("acme/rocket#1", "acme/rocket#2")
    assert [rule.split()[0] for _, _, rule in item.edges] == ["E5"]


def test_thousands_of_changes_with_one_issue_form_one_item_without_pairwise_work() -> None:
    several = [change(at, "bug_fix", f"Mend part {at}", ("issue:acme/rocket#0",), ()) for at in range(1, 3001)]
    (item,) = items.group(several)
    assert len(item.changes) == 3000
    assert len(item.edges) == 2999
