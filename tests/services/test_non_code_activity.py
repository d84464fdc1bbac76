"""Is non-code activity recorded once from its deliveries, and read by person?"""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.model.ids import PersonKey, RepositoryId
from bot.model.profile import NonCodeActivity
from bot.services.digests.publishing import close_months
from bot.store import backfills, observations, records
from bot.store.backfills import Backfill
from bot.store.choices import export
from simulator.non_code_activity import delete_release, label_issue, promote_release, publish_release, triage_issue
from simulator.server import Simulator
from simulator.state import Issue, SimAccount
from simulator.web_host import web
from simulator.work import NewPullRequest, Step
from tests.path.requests import Shop, shop
from tests.services.landed import NOW, Town, town

UTC = ZoneInfo("UTC")


@pytest.fixture
async def there(github: Simulator, tmp_path: Path) -> Any:
    async with shop(github, tmp_path) as made:
        yield made


async def seen(there: Shop, who: SimAccount) -> NonCodeActivity:
    """What one person was seen to do in the only month there is."""
    with there.bot.store.snapshot() as connection:
        found = records.facts_about(connection, [PersonKey(f"u:{who.id}")], [RepositoryId(there.repository.id)])
    months = found.non_code_by_month(UTC)
    assert len(months) < 2
    return next(iter(months.values()), NonCodeActivity())


def asked(there: Shop, title: str = "It sinks") -> Issue:
    there.clock.now += timedelta(minutes=5)
    return there.github.open_issue(there.repository, title, by=there.ada, at=there.clock.now)


def sort(there: Shop, issue: Issue, action: str, by: SimAccount, **more: Any) -> None:
    there.clock.now += timedelta(minutes=5)
    triage_issue(there.github, there.repository, issue, action, by=by, at=there.clock.now, **more)


async def test_issues_of_others_that_were_sorted_are_counted_once_each_and_cost_no_request(there: Shop) -> None:
    first, second = asked(there), asked(there)
    label_issue(there.github, there.repository, first, "bug", by=there.mara, at=there.clock.now)
    label_issue(there.github, there.repository, first, "urgent", by=there.mara, at=there.clock.now)
    sort(there, first, "closed", there.mara)
    sort(there, second, "assigned", there.mara, assignee={"id": there.ada.id, "login": "ada"})
    sort(there, second, "transferred", there.mara)
    assert await there.cost() == Counter()
    triage = (await seen(there, there.mara)).triage
    assert [(one.name, one.did) for one in triage] == [
        (f"#{first.number}", ("closed", "labelled")),
        (f"#{second.number}", ("assigned", "transferred")),
    ]
    assert triage[0].url == f"{web()}/acme/app/issues/{first.number}"
    assert not await seen(there, there.ada)


async def test_own_issues_assigned_issues_and_machine_activity_are_not_triage(there: Shop) -> None:
    issue, bot = asked(there), there.github.bot("sorter[bot]")
    sort(there, issue, "closed", there.ada)
    sort(there, issue, "reopened", there.mara)
    sort(there, issue, "labeled", bot)
    sort(there, issue, "assigned", there.mara, assignee={"id": there.mara.id, "login": "mara"})
    await there.cost()
    assert not await seen(there, there.mara)
    assert not await seen(there, there.ada)


async def test_only_an_issue_closed_after_a_merge_counts_as_triage(there: Shop) -> None:
    closed, later = asked(there), asked(there)
    there.merge(there.open(), "squash")
    triage_issue(
        there.github, there.repository, closed, "closed", by=there.mara, at=there.clock.now + timedelta(seconds=2)
    )
    sort(there, later, "closed", there.mara)
    await there.cost()
    assert [one.name for one in (await seen(there, there.mara)).triage] == [f"#{later.number}"]


async def test_the_order_of_deliveries_and_their_number_make_no_difference(there: Shop) -> None:
    github, issue = there.github, asked(there)
    await there.cost()
    github.deliveries.hold()
    github.deliveries.duplicate_next = 4
    there.merge(there.open(), "squash")
    sort(there, issue, "closed", there.mara)
    prerelease = publish_release(github, there.repository, "v1", by=there.mara, at=there.clock.now, prerelease=True)
    promote_release(github, there.repository, prerelease, by=there.ada)
    gone = publish_release(github, there.repository, "v2", by=there.mara, at=there.clock.now)
    delete_release(github, there.repository, gone, by=there.ada)
    github.deliveries.waiting.reverse()
    github.deliveries.release()
    await there.drained()
    found = await seen(there, there.mara)
    assert [one.name for one in found.triage] == [f"#{issue.number}"]
    assert [(one.name, one.did) for one in found.releases] == [("v1", ("release",))]
    assert not (await seen(there, there.ada)).releases


async def test_a_release_is_credited_to_its_author_or_publisher_if_a_machine_drafted_it(there: Shop) -> None:
    github, drafter = there.github, there.github.bot("drafter[bot]")
    for tag, author in (("v1", drafter), ("v2", there.ada), ("v3-rc", None)):
        there.clock.now += timedelta(minutes=1)
        publish_release(
            github, there.repository, tag, by=there.mara, at=there.clock.now, author=author, prerelease="rc" in tag
        )
    publish_release(github, there.repository, "v4", by=drafter, at=there.clock.now)
    await there.cost()
    mara, ada = await seen(there, there.mara), await seen(there, there.ada)
    assert [(one.name, one.did) for one in mara.releases] == [("v1", ("release",)), ("v3-rc", ("prerelease",))]
    assert [(one.name, one.url) for one in ada.releases] == [("v2", f"{web()}/acme/app/releases/tag/v2")]


async def test_only_the_person_who_merges_their_own_work_is_credited_with_it(there: Shop) -> None:
    own, other = there.open(), there.open()
    there.github.merge(there.repository, own, "squash", by=there.ada, at=there.clock.now)
    there.merge(other, "squash")
    await there.cost()
    assert [one.name for one in (await seen(there, there.ada)).self_merges] == [f"#{own.number}"]
    assert not (await seen(there, there.mara)).self_merges


async def history_is_read(there: Shop) -> None:
    with there.bot.store.transaction() as connection:
        where = RepositoryId(there.repository.id)
        backfills.begin(connection, Backfill(where, there.installation.id, there.clock.now, state="done"), again=True)


async def test_the_first_work_of_newcomers_is_credited_to_reviewers_and_mergers(there: Shop) -> None:
    bea = there.github.account("bea", name="Bea Example")
    there.ada, ada = bea, there.ada
    first = there.open()
    there.github.review(there.repository, first, ("APPROVED", ""), by=there.mara, at=there.clock.now)
    there.merge(first, "squash")
    second = there.open()
    there.merge(second, "squash")
    there.ada = ada
    there.merge(there.open(), "squash")  # who worked here before is new to nobody
    await there.cost()
    assert (await seen(there, there.mara)).newcomers == ()  # nobody knows what landed before the installation
    await history_is_read(there)
    assert [(one.name, one.did) for one in (await seen(there, there.mara)).newcomers] == [
        (f"#{first.number}", ("merged", "reviewed"))
    ]
    assert (await seen(there, bea)).newcomers == ()


# --- posts, exports and erasure --------------------------------------------------------------------------------------

POST_AT_ONCE = "first_digest: post\n"
APRIL = NOW.replace(month=4, day=10)


async def _april(there: Town) -> Issue:
    """Ada and Bea land a change each; Bea reviews one of Ada's, sorts her issue and publishes a release."""
    await there.land("feat: add a lamp", by="ada", at=APRIL)
    await there.land("feat: add a bell", by="bea", at=APRIL)
    work = NewPullRequest(
        "feat: add a horn", there.people["ada"], [Step("Add a horn", {"horn.py": b"x = 1\n"})], "horn"
    )
    pull = there.github.open_pull(there.repository, work, at=APRIL)
    there.github.review(there.repository, pull, ("APPROVED", ""), by=there.people["bea"], at=APRIL)
    issue = there.github.open_issue(there.repository, "@octocat it is dark", by=there.people["ada"], at=APRIL)
    label_issue(there.github, there.repository, issue, "bug", by=there.people["bea"], at=APRIL)
    publish_release(there.github, there.repository, "v1", by=there.people["bea"], at=APRIL)
    await there.drained()
    await close_months(there.bot.context)
    await there.drained()
    return issue


def _rows(there: Town) -> list[str]:
    """The rows of the contributors: name, commits, features, fixes, reviews."""
    lines = [line for text in there.digests() for line in text.split("\n")]
    return [line for line in lines if line.startswith("| ") and "---" not in line]


async def test_a_digest_reports_reviews_and_releases_without_text_that_strangers_wrote(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await _april(there)
        assert "| Bea Example | 1 | 1 | 0 | 1 |" in _rows(there)
        (digest,) = there.digests()
        assert f"Released: [v1]({web().replace('//github', '//redirect.github')}/acme/app/releases/tag/v1)." in digest
        assert "octocat" not in digest


async def test_opting_out_and_erasure_cover_non_code_activity(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await _april(there)
        bea = PersonKey(f"u:{there.people['bea'].id}")
        with there.bot.store.snapshot() as connection:
            told = json.loads(export(connection, bea))["seen"]
        assert [(one["what"], one["state"]) for one in told] == [
            ("release", "release"),
            ("review", "approved"),
            ("triage", "labelled"),
        ]
        assert "dark" not in json.dumps(told)
        ours = next(one for one in there.repository.issues.values() if one.app is there.app)
        await there.say(ours, "/almanac opt-out", by="bea")
        assert not any("Bea" in row for row in _rows(there))
        await there.say(ours, "/almanac forget-me", by="bea")
        for delivery in list(github.deliveries.log):
            github.deliveries.redeliver(delivery.id)
        await there.drained()
        with there.bot.store.snapshot() as connection:
            assert observations.observations_of(connection, [bea]) == []
