"""Are reviews, checks and merges recorded from deliveries with almost no requests to GitHub?"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from bot.metrics.scores import KnownOutcome
from bot.model.ids import ChangeId, PersonKey, RepositoryId
from bot.model.profile import NonCodeActivity, Trace
from bot.store import observations, records
from simulator.server import Simulator
from simulator.state import SimPullRequest
from tests.path.requests import Shop, shop

REVIEWS = "GET pulls/*/reviews?per_page=100"


def repository_id(there: Shop) -> RepositoryId:
    return RepositoryId(there.repository.id)


async def known(there: Shop) -> dict[ChangeId, KnownOutcome]:
    with there.bot.store.snapshot() as connection:
        seen = observations.of_repositories(connection, [repository_id(there)], records.LIVE_SIGNALS)
    return observations.live_values(seen, {repository_id(there): "acme/app"})


def review(there: Shop, pull: SimPullRequest, state: str) -> None:
    there.clock.now += timedelta(minutes=5)
    there.github.review(there.repository, pull, (state, ""), by=there.mara, at=there.clock.now)


def checks(there: Shop, head: str, conclusion: str, **more: Any) -> None:
    there.clock.now += timedelta(minutes=5)
    at = there.clock.now.isoformat()
    suite = {"id": 41, "head_sha": head, "head_branch": "topic", "app": {"id": 5}, "updated_at": at} | more
    payload = {"action": "completed", "check_suite": suite | {"conclusion": conclusion, "status": "completed"}}
    there.github.send_event(there.repository, "check_suite", payload, sender=there.mara)


@pytest.fixture
async def there(github: Simulator, tmp_path: Path) -> Any:
    async with shop(github, tmp_path) as made:
        yield made


async def test_reviews_checks_and_the_merge_cost_no_request_where_somebody_approved(there: Shop) -> None:
    pull = there.open()
    checks(there, pull.head, "failure")
    review(there, pull, "CHANGES_REQUESTED")
    review(there, pull, "APPROVED")
    there.merge(pull, "squash")
    assert await there.cost() == Counter({"GET commits/*": 1, "POST check-runs": 1})
    assert await known(there) == {ChangeId(f"acme/app#{pull.number}"): KnownOutcome(checks="failed", approved=True)}


async def test_a_missing_approval_is_checked_once_before_it_is_reported(there: Shop) -> None:
    pull = there.open()
    review(there, pull, "COMMENTED")
    there.merge(pull, "squash")
    cost = await there.cost()
    assert [name for name in cost.elements() if "reviews" in name] == [next(n for n in cost if "reviews" in n)]
    assert (await known(there))[ChangeId(f"acme/app#{pull.number}")].approved is False
    review(there, pull, "COMMENTED")
    assert await there.cost() == Counter()
    review(there, pull, "APPROVED")
    assert await there.cost() == Counter()
    assert (await known(there))[ChangeId(f"acme/app#{pull.number}")].approved is True


async def test_a_merge_without_a_seen_review_says_nothing_about_approvals(there: Shop) -> None:
    there.merge(there.open(), "squash")
    await there.cost()
    assert await known(there) == {}
    with there.bot.store.snapshot() as connection:
        (merge,) = observations.of_repositories(connection, [repository_id(there)], ["merge"])
    assert merge.value["by_author"] is False
    assert merge.person_key == observations.NOBODY


async def test_checks_rerun_after_the_merge_are_observed(there: Shop) -> None:
    pull = there.open()
    there.merge(pull, "squash")
    checks(there, pull.head, "failure")
    await there.cost()
    name = ChangeId(f"acme/app#{pull.number}")
    assert (await known(there))[name].checks == "failed"
    checks(there, pull.head, "success")
    assert await there.cost() == Counter()
    assert (await known(there))[name].checks == "passed"


async def test_checks_unrelated_to_the_code_are_ignored(there: Shop) -> None:
    pull = there.open()
    for conclusion in ("cancelled", "neutral", "stale", "skipped", "action_required"):
        checks(there, pull.head, conclusion)
    checks(there, pull.head, "failure", app={"id": there.bot.context.ourselves.id})
    checks(there, pull.head, "failure", head_branch="main", pull_requests=[])
    await there.cost()
    with there.bot.store.snapshot() as connection:
        assert observations.of_repositories(connection, [repository_id(there)], ["checks"]) == []


async def test_the_order_of_deliveries_makes_no_difference_to_observations(there: Shop) -> None:
    github = there.github
    pull = there.open()
    await there.cost()
    github.deliveries.hold()
    checks(there, pull.head, "failure")
    review(there, pull, "COMMENTED")
    there.merge(pull, "squash")
    github.deliveries.waiting.reverse()
    github.deliveries.release()
    await there.cost()
    assert await known(there) == {ChangeId(f"acme/app#{pull.number}"): KnownOutcome(checks="failed", approved=False)}


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
    address = f"https://github.com/acme/app/pull/{pull.number}"
    trace = Trace("acme/app", f"#{pull.number}", address, ("approved", "changes_requested", "reviewed", "reviewed"))
    assert list(found.non_code_by_month(ZoneInfo("UTC")).values()) == [NonCodeActivity(reviews=(trace,))]
    first = int(found.given[0].at.timestamp())
    (before,) = found.until(first).non_code_by_month(ZoneInfo("UTC")).values()
    assert before.reviews == (replace(trace, did=("changes_requested", "reviewed")),)
