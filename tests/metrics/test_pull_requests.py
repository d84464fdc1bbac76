"""Does each proved pull request count once, however many commits or changes it brought?"""

from __future__ import annotations

from msgspec.structs import replace

from bot.metrics.pull_requests import evidence, value
from bot.metrics.work import Work
from bot.model.change import Change
from bot.model.profile import Part
from tests.metrics.works import work_of
from tests.render.factories import change

FIRST = change("harbour/beacon", 41, "Add a retry queue", "2026-01-04")
SECOND = change("harbour/beacon", 43, "Jitter between attempts", "2026-01-06")


def test_each_pull_request_is_counted_once() -> None:
    twice = replace(FIRST, commits=FIRST.commits * 2)
    work = work_of(twice, SECOND)
    assert value(work) == 2
    assert list(evidence(work)) == [Part((FIRST.id,), 1), Part((SECOND.id,), 1)]


def test_numbers_are_distinguished_by_their_repository() -> None:
    assert value(work_of(FIRST, change("harbour/charts", 41, "Draw contours", "2026-01-05"))) == 2


def test_a_change_of_two_pull_requests_is_evidence_for_both() -> None:
    again = replace(FIRST, commits=(*FIRST.commits, *SECOND.commits))
    assert value(work_of(again)) == 2
    assert list(evidence(work_of(again))) == [Part((FIRST.id,), 2)]


def test_a_pull_request_that_landed_in_two_months_is_one() -> None:
    both = Work([*work_of(FIRST, month="2026-01").months, *work_of(FIRST, month="2026-02").months])
    assert value(both) == 1


def test_reverted_work_counts_as_landed() -> None:
    assert value(work_of(replace(FIRST, state="reverted"))) == 1


def test_a_direct_push_has_no_pull_request() -> None:
    pushed: Change = change("harbour/beacon", None, "Update the linter", "2026-01-07")
    assert value(work_of(pushed)) == 0
    assert list(evidence(work_of(pushed))) == []
