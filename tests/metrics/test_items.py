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
def test_two_changes_join_among_others_only_if_they_join_alone(changes: list[Change]) -> None:
    alone = {edge for two in combinations(changes, 2) for item in items.group(two) for edge in item.edges}
    together = {edge for item in items.group(changes) for edge in item.edges}
    assert together <= alone
    assert {edge for edge in alone if edge[2] < "E4"} <= together, "a stated link always joins"


@given(CHANGES)
def test_no_two_changes_of_an_item_are_more_than_two_likenesses_apart(changes: list[Change]) -> None:
    for item in items.group(changes):
        near = {name: {name} for name in item.changes}
        for one, other, rule in item.edges:
            if rule >= "E4":
                near[one].add(other)
                near[other].add(one)
        if not any(rule < "E4" for *_, rule in item.edges):
            assert all(near[one] & near[other] for one in item.changes for other in item.changes)


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
            replace(one, commits=(CountedCommit(fact, True, fact.lines),), pull_request=None)
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


def joined(*titles: str, kinds: Sequence[Kind] = ("feature",), path: str = "src/a.py") -> list[tuple[int, ...]]:
    """The items of changes with these titles in one file, as the numbers of their changes."""
    made = [change(at, kinds[at % len(kinds)], title, [], [path]) for at, title in enumerate(titles, 1)]
    return [tuple(int(name.rpartition("#")[2]) for name in item.changes) for item in items.group(made)]


def test_a_prefix_that_both_share_does_not_make_titles_alike() -> None:
    assert joined("lib/gauge: burn faster", "lib/gauge: cool the nozzle") == [(1,), (2,)]
    assert joined("[Engine][Gauge] burn faster", "[Engine][Gauge] cool the nozzle") == [(1,), (2,)]
    assert joined("engine, gauge: burn longer", "engine: burn longer at night") == [(1, 2)]


def test_names_that_differ_keep_changes_apart() -> None:
    assert joined("Use the nozzle timer in `Gauge`", "Use the nozzle timer of `Valve`") == [(1, 2)], "a series"
    assert joined("Nozzle timer of `Gauge` stops", "Nozzle timer of `Valve` runs on") == [(1,), (2,)]
    assert joined("Nozzle timer of `Gauge` stops", "Nozzle timer stops early") == [(1, 2)]


def test_a_bug_fix_is_no_part_of_a_series() -> None:
    assert joined("Burn rate of `Gauge` overflows", "Burn rate of `Valve` overflows", kinds=["bug_fix"]) == [(1,), (2,)]


def test_likeness_joins_no_certain_fix_to_a_certain_feature() -> None:
    titles = ("Show the burn rate of stages", "Burn rate of stages is shown twice")
    assert joined(*titles, kinds=["feature", "bug_fix"]) == [(1,), (2,)]
    assert joined(*titles, kinds=["feature", "refactor"]) == [(1, 2)]


def test_likeness_makes_no_chains_and_no_large_items() -> None:
    chain = ["alpha beta", "beta gamma", "gamma delta", "delta epsilon", "epsilon zeta", "zeta eta"]
    assert all(len(item) <= 3 for item in joined(*chain))
    same = joined(*["Trim the nozzle of the engine"] * 25)
    assert max(map(len, same)) == 10


def test_upkeep_and_lists_of_issues_join_nothing() -> None:
    assert joined("Release the engine", "Release the engine again", kinds=["upkeep"]) == [(1,), (2,)]
    links = [f"issue:acme/rocket#{number}" for number in range(50, 54)]
    several = [change(1, "docs", "Write the news", links, [])]
    several += [change(at, "bug_fix", f"Mend part {at}", [link], []) for at, link in enumerate(links, 2)]
    assert len(items.group(several)) == 5


def test_a_merge_of_several_pull_requests_joins_none_of_them() -> None:
    both = [change(at, "docs", f"Say {at}", [], []) for at in (1, 2)]
    merge_commit = CommitId("c" * 40)
    facts = [replace(one.commits[0].fact, merge_commit=merge_commit) for one in both]
    merged = [
        replace(one, commits=(CountedCommit(fact, True, fact.lines),)) for one, fact in zip(both, facts, strict=True)
    ]
    assert len(items.group(merged)) == 2
    assert len(items.group([replace(one, pull_request=None) for one in merged])) == 1
