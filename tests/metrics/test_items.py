"""Changes are compared only where they share something; that leaves out none that belong together."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.metrics import items
from bot.model import Change, ChangeId, CommitId, CountedCommit, Fact, Kind, Lines, Signature

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
        carrier=CommitId(f"{number:040x}"),
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


def every_pair(places: Sequence[Iterable[str]]) -> list[tuple[int, int]]:
    return list(combinations(range(len(places)), 2))


@given(CHANGES)
def test_comparing_what_meets_finds_what_comparing_all_finds(changes: list[Change]) -> None:
    found = items.group(changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items, "_meeting", every_pair)
        assert items.group(changes) == found


def test_changes_that_share_nothing_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[object] = []
    monkeypatch.setattr(items, "_stated", lambda one, other: compared.append(one))
    alone = [change(at, "feature", "Add the burn rate", [], [f"src/{at}.py"]) for at in range(1, 40)]
    assert len(items.group(alone)) == 39
    assert compared == []


def test_two_changes_of_like_titles_and_the_same_files_are_one_item() -> None:
    both = [change(at, "feature", f"Add the burn rate, part {at}", [], ["src/a.py"]) for at in (1, 2)]
    (item,) = items.group(both)
    assert item.changes == ("acme/rocket#1", "acme/rocket#2")
    assert [rule.split()[0] for _, _, rule in item.edges] == ["E5"]
