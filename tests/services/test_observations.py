"""Are reviews and merges recorded from deliveries without requests to GitHub?"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from bot.model.ids import PersonKey, RepositoryId
from bot.model.profile import NonCodeActivity, Trace
from bot.store import observations, records
from simulator.server import Simulator
from simulator.state import SimPullRequest
from simulator.web_host import web
from tests.path.requests import Shop, shop


def repository_id(there: Shop) -> RepositoryId:
    return RepositoryId(there.repository.id)


def review(there: Shop, pull: SimPullRequest, state: str) -> None:
    there.clock.now += timedelta(minutes=5)
    there.github.review(there.repository, pull, (state, ""), by=there.mara, at=there.clock.now)


@pytest.fixture
async def there(github: Simulator, tmp_path: Path) -> Any:
    async with shop(github, tmp_path) as made:
        yield made


async def test_reviews_and_the_merge_cost_no_request(there: Shop) -> None:
    pull = there.open()
    review(there, pull, "COMMENTED")
    review(there, pull, "CHANGES_REQUESTED")
    there.merge(pull, "squash")
    assert await there.cost() == Counter({"GET commits/*": 1, "POST check-runs": 1})
    with there.bot.store.snapshot() as connection:
        everybody = [observations.NOBODY, PersonKey(f"u:{there.mara.id}")]
        seen = observations.of_people(connection, everybody, [repository_id(there)])
    (merge,) = (one for one in seen if one.signal == "merge")
    assert [one.signal for one in seen].count("review") == 2
    assert merge.value["by_author"] is False
    assert merge.person_key == observations.NOBODY


async def test_reviews_are_counted_for_the_reviewer_separately_from_code(there: Shop) -> None:
    pull = there.open()
    review(there, pull, "CHANGES_REQUESTED")
    review(there, pull, "APPROVED")
    there.github.review(there.repository, pull, ("COMMENTED", ""), by=there.ada, at=there.clock.now)
    await there.cost()
    mara, ada = (PersonKey(f"u:{one.id}") for one in (there.mara, there.ada))
    with there.bot.store.snapshot() as connection:
        found = records.facts_about(connection, [mara], [repository_id(there)])
        assert records.facts_about(connection, [mara], []).non_code_by_month(ZoneInfo("UTC")) == {}
        assert records.facts_about(connection, [ada], [repository_id(there)]).non_code_by_month(ZoneInfo("UTC")) == {}
    address = f"{web()}/acme/app/pull/{pull.number}"
    trace = Trace("acme/app", f"#{pull.number}", address, ("approved", "changes_requested", "reviewed", "reviewed"))
    assert list(found.non_code_by_month(ZoneInfo("UTC")).values()) == [NonCodeActivity(reviews=(trace,))]
    first = int(found.given[0].at.timestamp())
    (before,) = found.until(first).non_code_by_month(ZoneInfo("UTC")).values()
    assert before.reviews == (replace(trace, did=("changes_requested", "reviewed")),)
