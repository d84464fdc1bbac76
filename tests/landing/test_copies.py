"""Does a patch count once, with its original, however many branches and pull requests brought it?"""

from __future__ import annotations

import random

import pytest
from landing_facts import ADA, BEN, NAME, a_fact, a_merge, recognised, written
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.model.change import Change
from bot.model.fact import Fact, Lines

TEN = Lines(authored=10)


def by_id(*facts: Fact) -> dict[str, Change]:
    shuffled = list(facts)
    random.Random(1).shuffle(shuffled)
    found = fold(shuffled)
    assert found == fold(facts)
    assert sum(change.lines.total for change in found) == sum(fact.lines.total for fact in facts)
    return {change.id: change for change in found}


def only(*facts: Fact) -> Change:
    (change,) = by_id(*facts).values()
    return change


def through(number: int, fact: Fact) -> Fact:
    """The fact as a merge of that pull request brought it."""
    merge = a_merge(f"Merge pull request #{number} from ada/topic", at=fact.landed_at)
    keys = {*(key for key in fact.keys if not key.startswith("pr:")), f"pr:{NAME}#{number}"}
    return replace(fact, pull_request=number, merge_commit=merge.id, keys=tuple(sorted(keys)))


@pytest.mark.parametrize(
    "subject",
    [
        "[PR #12/0123abc backport][3.12] Add a parser (#15)",
        "[3.12] Add a parser (#12) (#15)",
        "[backport][3.12] Add a parser (#12) (#15)",
        "[3.12] Add a parser (#15)",
        "[3.x] Add a parser (#15)",
        "Add a parser (backport #12) (#15)",
        "Backport #12 to 3.12 (#15)",
    ],
)
def test_a_backport_is_a_commit_of_the_same_change_whose_lines_count_once(subject: str) -> None:
    fact = replace(a_fact("Add a parser (#12)", at=100), paths=("src/a.py",))
    port = replace(a_fact(subject, at=200), lines=Lines(authored=12), paths=("src/a.py",))
    change = only(fact, port)
    assert (change.id, change.title, len(change.counted)) == (f"{NAME}#12", "Add a parser", 2)
    assert change.lines == Lines(authored=10, mirrored=12)


def test_a_backport_may_name_an_abbreviated_commit() -> None:
    fact = a_fact("Add a parser (#12)", at=100)
    assert only(fact, a_fact(f"Backport {fact.commit[:7]} 3.6 (#15)", at=200)).lines == Lines(authored=10, mirrored=10)


def test_a_title_on_a_branch_names_only_work_on_the_same_files() -> None:
    fact = replace(a_fact("Add a parser (#12)", at=100), paths=("src/a.py",))
    other = replace(a_fact("[3.12] Add a parser (#15)", at=200), paths=("src/b.py",))
    assert set(by_id(fact, other)) == {f"{NAME}#12", f"{NAME}#15"}


def test_a_backport_of_work_that_never_landed_here_is_the_work() -> None:
    port = a_fact("[PR #12/0123abc backport][3.12] Add a parser (#15)", at=200)
    again = a_fact("[PR #12/0123abc backport][3.13] Add a parser (#16)", at=300)
    change = only(port, again)
    assert (change.id, change.lines) == (f"{NAME}#15", Lines(authored=10, mirrored=10))


def test_a_backport_of_a_backport_is_the_same_change() -> None:
    fact = a_fact("Add a parser (#12)", at=100)
    port = a_fact("[PR #12/0123abc backport][3.13] Add a parser (#15)", at=200)
    second = a_fact("[PR #15/0123abd backport][3.12] Add a parser (#16)", at=300)
    assert only(fact, port, second).id == f"{NAME}#12"


def test_commits_already_on_main_are_no_part_of_a_pull_request_that_brings_them_again() -> None:
    pushed = [a_fact(f"Step {number} on main", at=100 + number) for number in range(3)]
    numbered = a_fact("Add a parser (#12)", at=150)
    copies = [
        through(15, written(f"{fact.title}\n\n(cherry picked from commit {fact.commit})", 500, fact.landed_at))
        for fact in (*pushed, numbered)
    ]
    own = [through(15, a_fact(f"Work {number} of the branch", at=500, name=f"own {number}")) for number in range(2)]
    found = by_id(*pushed, numbered, *copies, *own)
    assert {name: len(change.commits) for name, change in found.items()} == {
        **{f"{NAME}@{fact.commit}": 2 for fact in pushed},
        f"{NAME}#12": 2,
        f"{NAME}#15": 2,
    }
    assert {name: change.lines for name, change in found.items()} == {
        **{f"{NAME}@{fact.commit}": Lines(authored=10, mirrored=10) for fact in pushed},
        f"{NAME}#12": Lines(authored=10, mirrored=10),
        f"{NAME}#15": Lines(authored=20),
    }


def test_a_pull_request_that_only_picks_one_work_again_folds_into_it() -> None:
    work = [through(12, a_fact(f"Step {number}", at=100, name=f"step {number}")) for number in range(3)]
    picks = [
        through(15, written(f"{fact.title}\n\n(cherry picked from commit {fact.commit})", 500, 100, name=fact.title))
        for fact in work
    ]
    change = only(*work, *picks)
    assert (change.id, len(change.counted), change.lines) == (f"{NAME}#12", 6, Lines(authored=30, mirrored=30))


def test_a_revert_of_the_original_leaves_the_lines_of_its_backport() -> None:
    fact = a_fact("Add a parser (#12)", at=100)
    port = a_fact("[PR #12/0123abc backport][3.13] Add a parser (#15)", at=200)
    back = a_fact(f'Revert "Add a parser"\n\nThis reverts commit {fact.commit}.', at=300)
    (change,) = (one for one in by_id(fact, port, back).values() if one.kind != "revert")
    assert (change.state, change.lines) == ("landed", Lines(authored=10, reverted=10))


def test_the_same_subject_and_time_by_somebody_else_is_other_work() -> None:
    one, other = (written("Add a parser", 100, 50, name=who.name, author=who) for who in (ADA, BEN))
    assert len(by_id(one, other)) == 2


@pytest.mark.parametrize("subject", ["[1.2] x (#3)", "[fix] Something long (#3)", "[2025] Happy new year (#3)"])
def test_other_brackets_name_no_branch(subject: str) -> None:
    assert not any(key.startswith("port:") for key in recognised(subject).keys)
