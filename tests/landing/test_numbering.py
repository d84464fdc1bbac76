"""Are the numbers of another repository told apart from this one's, and old pull requests still known?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.landing.conventions.numbering import NumberUse, foreign_uses

DAY, YEAR = 86_400, 365 * 86_400
START = 1_420_000_000


def use(number: int, days: int, *, written: int | None = None, label: int | None = None) -> NumberUse:
    named = START + days * DAY
    return NumberUse(number, named, named - DAY if written is None else START + written * DAY, label or number)


OWN = [use(number, number * 4) for number in range(1, 600)]
"""one pull request every four days, over six years and a half"""


def foreign(*others: NumberUse) -> set[NumberUse]:
    found = [*OWN, *others]
    return {found[index] for index in foreign_uses(found)}


def test_a_history_with_one_numbering_has_no_foreign_numbers() -> None:
    assert foreign() == set()


def test_a_fork_s_numbers_are_foreign_when_they_were_taken_years_before() -> None:
    fork = [use(number, 2000 + number, label=10_000 + number) for number in (1, 2, 3, 5, 9, 21, 57)]
    assert foreign(*fork) == set(fork)


def test_a_fork_s_number_that_nothing_here_has_is_foreign_among_others() -> None:
    known = [one for one in OWN if one.number != 5]
    fork = [use(number, 2000 + number, label=10_000 + number) for number in range(1, 9)]
    found = [*known, *fork]
    assert {found[index] for index in foreign_uses(found)} == set(fork)


def test_an_old_pull_request_that_lands_late_keeps_its_number() -> None:
    others = [one for one in OWN if one.number not in (7, 40)]
    late = [use(7, 2300, written=27), use(40, 2310)]  # one whose first commit is old, one written anew
    assert foreign_uses([*others, *late]) == set()


def test_a_pull_request_that_lands_again_under_its_number_is_no_other() -> None:
    assert foreign(use(7, 2300, label=7)) == set()


def test_numbers_of_a_larger_repository_are_foreign() -> None:
    larger = [use(20_000 + number, 300 + number) for number in range(50)]
    assert foreign(*larger) == set(larger)


def test_a_repository_that_began_to_count_anew_has_the_later_numbers() -> None:
    later = [use(number, 3000 + number * 5, label=10_000 + number) for number in range(1, 80)]
    assert foreign(*later) == {one for one in OWN if one.named_at < later[0].named_at}


def test_the_first_numbers_of_a_history_are_believed() -> None:
    assert foreign_uses([]) == set()
    assert foreign_uses([use(3, 1), use(1, 2), use(2, 3)]) == set()


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 360), st.integers(0, 3)), max_size=60))
def test_numbers_within_a_year_are_never_foreign(rows: list[tuple[int, int, int]]) -> None:
    assert foreign_uses([use(number, days, label=label) for number, days, label in rows]) == set()


@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40)), max_size=40)
)
def test_any_dates_are_judged(rows: list[tuple[int, int, int]]) -> None:
    found = foreign_uses([NumberUse(number, named, written, number) for number, named, written in rows])
    assert found <= set(range(len(rows)))
