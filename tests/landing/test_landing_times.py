"""Do all times stay between the oldest believable commit and the time of reading?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.landing.landing_times import EARLIEST, believable_times, oldest_believable

NOW = 1_790_000_000
YEAR_9999 = 253_402_128_000


def test_times_that_cannot_be_are_those_of_a_neighbour() -> None:
    times = [1_500_000_000, 0, 1_500_000_100, YEAR_9999, 2_147_483_647, 1_500_000_200, 1_400_000_000]
    assert believable_times(times, now=NOW) == {
        1: 1_500_000_000,
        3: 1_500_000_100,
        4: 1_500_000_100,
        6: 1_500_000_200,
    }


def test_impossible_first_commits_land_with_the_first_believable_one() -> None:
    assert believable_times([0, YEAR_9999, 1_500_000_000], now=NOW) == {0: 1_500_000_000, 1: 1_500_000_000}


def test_a_history_without_a_believable_time_landed_when_it_was_read() -> None:
    assert believable_times([0, YEAR_9999], now=NOW) == {0: NOW, 1: NOW}


def test_a_later_part_of_a_line_is_judged_by_the_earlier_one() -> None:
    assert believable_times([5, 1_600_000_000], now=NOW, oldest=1_500_000_000, before=1_550_000_000) == {
        0: 1_550_000_000
    }


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(EARLIEST - 9, NOW + 9), max_size=30))
def test_every_time_is_in_the_believable_span(times: list[int]) -> None:
    found = believable_times(times, now=NOW)
    oldest = oldest_believable(times, NOW)
    for index, moment in enumerate(times):
        assert oldest <= found.get(index, moment) <= NOW
        assert (index in found) == (not oldest <= moment <= NOW)


@given(st.lists(st.integers(EARLIEST - 9, NOW + 9), min_size=1, max_size=20), st.integers(0, 20))
def test_a_line_read_in_two_parts_has_the_same_times(times: list[int], cut: int) -> None:
    every = believable_times(times, now=NOW)
    first, rest = times[:cut], times[cut:]
    early = believable_times(first, now=NOW)
    if oldest_believable(first, NOW) == NOW:
        return  # nothing is known: the history is read anew
    last = early.get(len(first) - 1, first[-1])
    late = believable_times(rest, now=NOW, oldest=oldest_believable(first, NOW), before=last)
    assert {**early, **{index + cut: moment for index, moment in late.items()}} == every
