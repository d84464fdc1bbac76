"""Does the past of a file contain only what landed on it before?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.metrics.hotspots import NO_HISTORY, History, Past, fix_weight, path_key, relevant_visits, visits
from bot.model.fact import Fact
from tests.metrics.quality_changes import DAY, NOON, a_fact

SIGNALS = {"added": 5}


def visit(days_ago: int, *, title: str = "Tidy", path: str = "gauge.py") -> Fact:
    return a_fact(SIGNALS, title=title, at=NOON - days_ago * DAY, paths=(path,))


def test_stated_fixes_count_fully_guesses_partly_and_uncertain_guesses_not_at_all() -> None:
    assert fix_weight(a_fact(SIGNALS, title="fix(parser): empty input")) == 100
    guess = a_fact(SIGNALS, title="Handle empty input", kind="bug_fix")
    assert fix_weight(guess) == 10
    assert fix_weight(replace(guess, certain=False)) == 0
    assert fix_weight(a_fact(SIGNALS, title="feat: fixtures")) == 0


def test_later_or_simultaneous_landings_are_not_the_past() -> None:
    history = History.of([visit(0, title="fix: a"), visit(-5, title="fix: b")])
    assert history.past("acme/rocket", ("gauge.py",), NOON) == Past()


def test_the_past_counts_a_year_of_fixes_and_a_month_of_visits() -> None:
    history = History.of([visit(400, title="fix: a"), visit(100, title="fix: b"), visit(20), visit(1)])
    past = history.past("acme/rocket", ("gauge.py",), NOON)
    assert (past.fixes, past.visits, past.lately, past.traffic) == (1.0, 3, 2, 2)
    assert past.repository_fixes == 2.0


def test_the_hottest_file_decides_and_traffic_is_summed() -> None:
    history = History.of([visit(9, title="fix: a", path="a.py"), visit(8, path="b.py"), visit(7, path="b.py")])
    past = history.past("acme/rocket", ("a.py", "b.py"), NOON)
    assert (past.fixes, past.visits, past.lately, past.traffic) == (1.0, 2, 2, 3)


def test_files_that_are_not_source_have_no_past() -> None:
    history = History.of(
        [visit(3, title="fix: a", path="CHANGELOG.md"), visit(2, title="fix: b", path="tests/test_a.py")]
    )
    assert history.past("acme/rocket", ("CHANGELOG.md", "tests/test_a.py"), NOON) == Past()


def test_each_repository_has_its_own_past() -> None:
    history = History.of([visit(3, title="fix: a")])
    assert history.past("acme/engine", ("gauge.py",), NOON) == Past()


def test_the_next_fix_is_the_first_after_the_moment() -> None:
    history = History.of([visit(9, title="fix: a"), visit(4), visit(3, title="fix: b"), visit(2, title="fix: c")])
    assert history.next_fix("acme/rocket", ("gauge.py", "other.py"), NOON - 5 * DAY) == NOON - 3 * DAY
    assert history.next_fix("acme/rocket", ("gauge.py",), NOON) is None


@given(st.permutations(range(8)))
def test_the_order_of_facts_makes_no_difference(order: list[int]) -> None:
    facts = [visit(n * 40, title="fix: it" if n % 2 else "Tidy") for n in range(8)]
    one, other = History.of(facts), History.of([facts[place] for place in order])
    for days in (0, 33, 90, 250):
        moment = NOON - days * DAY
        assert one.past("acme/rocket", ("gauge.py",), moment) == other.past("acme/rocket", ("gauge.py",), moment)


def test_pruned_visits_are_older_than_any_score_needs() -> None:
    facts = [visit(n * 20, title="fix: it") for n in range(60)]
    history, pruned = History.of(facts), History.of(facts)
    pruned.forget(NOON - 365 * DAY)
    whole, left = (one.past("acme/rocket", ("gauge.py",), NOON) for one in (history, pruned))
    assert (left.fixes, left.visits, left.traffic) == (whole.fixes, whole.visits, whole.traffic)


def test_no_history_equals_an_empty_one_and_names_are_not_stored() -> None:
    assert NO_HISTORY.past("acme/rocket", ("gauge.py",), NOON) == Past()
    assert path_key("gauge.py") != path_key("wheel.py")


@pytest.mark.parametrize("title", ["fix: a", "Fix(core)!: a", "bugfix: a", "hotfix(ui): a"])
def test_titles_that_state_a_fix(title: str) -> None:
    assert fix_weight(a_fact(SIGNALS, title=title)) == 100


@given(
    st.lists(
        st.tuples(st.integers(-40, 40), st.sampled_from(("Tidy", "fix: it")), st.sampled_from(("gauge.py", "wheel.py")))
    ),
    st.integers(-40, 40),
)
def test_an_irrelevant_visit_does_not_change_older_scores(seen: list[tuple[int, str, str]], newest: int) -> None:
    facts = [visit(ago, title=title, path=path) for ago, title, path in seen]
    whole, least = History.of(facts), History()
    rows = [(1, file, fact.landed_at, weight) for fact in facts for file, weight in visits(fact)]
    for _, file, at, weight in relevant_visits(rows, NOON - newest * DAY):
        least.visit("acme/rocket", file, at=at, weight=weight)
    for at in range(NOON - 41 * DAY, NOON - newest * DAY + 1, DAY):
        for paths in (("gauge.py",), ("gauge.py", "wheel.py")):
            assert least.past("acme/rocket", paths, at) == whole.past("acme/rocket", paths, at)
            assert least.next_fix("acme/rocket", paths, at) == whole.next_fix("acme/rocket", paths, at)
