"""Is the median of hours from opening to landing exact, and unmeasured if GitHub gave no times?"""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from bot.metrics.hours_to_land import HOURS_TO_LAND, evidence, value
from bot.metrics.work import Work
from bot.model.change import Change
from bot.model.profile import Part
from tests.metrics.works import work_of
from tests.render.factories import change, seconds

LANDED = "2026-01-10"
HOUR = 3600


def waited(number: int, opened: int | None, landed: str = LANDED) -> Change:
    """A change that landed so many seconds after its pull request was opened."""
    found = change("harbour/beacon", number, f"Add lamp {number}", landed)
    at = None if opened is None else seconds(landed) - opened
    commits = tuple(replace(one, fact=replace(one.fact, opened_at=at)) for one in found.commits)
    return replace(found, commits=commits)


def test_the_middle_of_an_odd_number_counts() -> None:
    work = work_of(waited(1, 5 * HOUR), waited(2, HOUR // 2), waited(3, 90 * HOUR))
    assert value(work) == 5
    assert HOURS_TO_LAND.figure(value(work)) == "5.0"


def test_the_median_of_an_even_number_is_the_exact_mean_of_the_middle_two() -> None:
    work = work_of(waited(1, HOUR), waited(2, HOUR + 1))
    assert value(work) == Fraction(7201, 7200)
    assert list(evidence(work)) == [
        Part((waited(1, 0).id,), Fraction(1)),
        Part((waited(2, 0).id,), Fraction(3601, 3600)),
    ]


def test_values_that_github_did_not_give_are_unmeasured_and_not_zero() -> None:
    unknown = work_of(waited(1, None), change("harbour/beacon", None, "Push the lamp", LANDED))
    assert value(unknown) is None
    assert HOURS_TO_LAND.figure(value(unknown)) == "not measured"
    assert list(evidence(unknown)) == []
    assert value(work_of(waited(1, None), waited(2, 3 * HOUR))) == 3
    assert value(Work(())) is None


def test_several_commits_of_a_pull_request_are_one_wait_until_the_first() -> None:
    first, last = waited(1, HOUR), waited(1, 25 * HOUR, "2026-01-11")
    assert value(work_of(replace(last, commits=(*last.commits, *first.commits)))) == 1


def test_a_landing_before_the_opening_says_nothing() -> None:
    assert value(work_of(waited(1, -5))) is None
    assert value(work_of(waited(1, 0))) == 0
