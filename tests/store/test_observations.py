"""Are observations appended once, and read under the current names?"""

from __future__ import annotations

from msgspec.structs import replace

from bot.model.ids import PersonKey
from bot.store import observations
from bot.store.engine import Store
from bot.store.observations import Observation, non_code_deeds
from tests.store.conftest import APP, FOREIGN, NAMES, NOW, seed

REVIEW = Observation(APP, 3, "review", "1:commented", NOW, {"state": "commented"}, PersonKey("u:8"))
APPROVAL = replace(REVIEW, source="2:approved", value={"state": "approved"})
MERGE = Observation(APP, 3, "merge", "abc", NOW, {"head": "abc", "by_author": True})


async def test_an_observation_is_appended_once_and_read_in_its_repository(store: Store) -> None:
    await seed(store)
    with store.transaction() as connection:
        assert observations.observe(connection, [REVIEW, MERGE]) == 2
        assert observations.observe(connection, [REVIEW, APPROVAL]) == 1
        assert connection.execute(observations.count_in([APP])).scalar_one() == 3
        assert connection.execute(observations.count_in([FOREIGN])).scalar_one() == 0
        assert observations.of_people(connection, [PersonKey("u:8")], [APP]) == [REVIEW, APPROVAL]
        observations.forget(connection, [PersonKey("u:8")])
        assert observations.observations_of(connection, [PersonKey("u:8"), observations.NOBODY]) == [MERGE]


def test_non_code_activity_uses_current_repository_names() -> None:
    remark = replace(REVIEW, number=5, signal="remark", source="9", value={})
    release = replace(REVIEW, number=0, signal="release", source="7:release", value={"state": "release", "tag": "v1"})
    found = non_code_deeds([REVIEW, remark, release, MERGE], NAMES)
    assert [(one.kind, one.number, one.did, one.tag) for one in found] == [
        ("review", 3, "commented", ""),
        ("remark", 5, "", ""),
        ("release", 0, "release", "v1"),
    ]
    assert {one.repository for one in found} == {"acme/app"}
    assert non_code_deeds([REVIEW], {}) == []
