"""Are observations appended once, and does a missing one mean nothing?"""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from bot.metrics.scores import KnownOutcome
from bot.model.ids import PersonKey
from bot.store import observations
from bot.store.engine import Store
from bot.store.observations import Observation, live_values, non_code_deeds
from tests.store.conftest import APP, FOREIGN, NAMES, NOW, seed

HOUR = timedelta(hours=1)
REVIEW = Observation(APP, 3, "review", "1:commented", NOW, {"state": "commented"}, PersonKey("u:8"))
APPROVAL = replace(REVIEW, source="2:approved", value={"state": "approved"})
CHECKS = Observation(APP, 0, "checks", "abc:7:failed", NOW, {"head": "abc", "app": 7, "state": "failed"})
PASSED = replace(CHECKS, source="abc:7:passed", at=NOW + HOUR, value=CHECKS.value | {"state": "passed"})
MERGE = Observation(APP, 3, "merge", "abc", NOW, {"head": "abc", "by_author": True})
NOBODY_APPROVED = Observation(APP, 3, "review", "read", NOW, {"state": "none"})
WORK = "acme/app#3"


async def test_an_observation_is_appended_once_and_read_in_its_repository(store: Store) -> None:
    await seed(store)
    with store.transaction() as connection:
        assert observations.observe(connection, [REVIEW, MERGE]) == 2
        assert observations.observe(connection, [REVIEW, APPROVAL]) == 1
        assert connection.execute(observations.count_in([APP])).scalar_one() == 3
        assert observations.of_repositories(connection, [FOREIGN], ("review", "checks")) == []
        assert observations.of_work(connection, APP, [3]) == [MERGE, REVIEW, APPROVAL]
        assert observations.of_people(connection, [PersonKey("u:8")], [APP]) == [REVIEW, APPROVAL]
        observations.forget(connection, [PersonKey("u:8")])
        assert observations.of_work(connection, APP, [3]) == [MERGE]


def test_no_approval_is_said_only_where_somebody_looked_for_one() -> None:
    assert live_values([], NAMES) == {}
    assert live_values([REVIEW, MERGE], NAMES) == {}
    assert live_values([REVIEW, MERGE, NOBODY_APPROVED], NAMES) == {WORK: KnownOutcome(approved=False)}
    assert live_values([REVIEW, NOBODY_APPROVED, APPROVAL], NAMES) == {WORK: KnownOutcome(approved=True)}
    assert live_values([NOBODY_APPROVED], {}) == {}


def test_a_dismissed_approval_does_not_count() -> None:
    dismissed = replace(APPROVAL, source="2:dismissed", value={"state": "dismissed"})
    assert live_values([APPROVAL, dismissed], NAMES) == {}
    assert live_values([dismissed, APPROVAL, NOBODY_APPROVED], NAMES) == {WORK: KnownOutcome(approved=False)}


def test_checks_are_reported_only_for_the_merged_head() -> None:
    assert live_values([CHECKS], NAMES) == {}
    assert live_values([CHECKS, replace(MERGE, source="def", value={"head": "def"})], NAMES) == {}
    assert live_values([CHECKS, MERGE], NAMES) == {WORK: KnownOutcome(checks="failed")}


def test_a_later_passing_run_replaces_the_failed_one_of_its_app() -> None:
    other = replace(CHECKS, source="abc:8:failed", value=CHECKS.value | {"app": 8})
    for seen in ([CHECKS, PASSED, MERGE], [PASSED, MERGE, CHECKS]):
        assert live_values(seen, NAMES) == {WORK: KnownOutcome(checks="passed")}
    assert live_values([CHECKS, PASSED, other, MERGE], NAMES) == {WORK: KnownOutcome(checks="failed")}


def test_non_code_activity_uses_current_repository_names() -> None:
    remark = replace(REVIEW, number=5, signal="remark", source="9", value={})
    release = replace(REVIEW, number=0, signal="release", source="7:release", value={"state": "release", "tag": "v1"})
    found = non_code_deeds([REVIEW, remark, release, MERGE, CHECKS, NOBODY_APPROVED], NAMES)
    assert [(one.kind, one.number, one.did, one.tag) for one in found] == [
        ("review", 3, "commented", ""),
        ("remark", 5, "", ""),
        ("release", 0, "release", "v1"),
    ]
    assert {one.repository for one in found} == {"acme/app"}
    assert non_code_deeds([REVIEW], {}) == []
