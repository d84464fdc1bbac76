"""What no delivery told of is found: in GitHub's log, and beyond the log by looking through the repositories."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, select

from bot.github import client
from bot.github import operations as op
from bot.model import CommitId, RepositoryId
from bot.store import backfills, inbox, installations, ledger
from bot.store.dump import canonical_dump
from bot.store.jobs import JOB
from bot.store.observations import OBSERVATION
from bot.store.schema import RECORD
from bot.tasks.catch_up import ask_to_catch_up
from simulator.server import Simulator
from simulator.work import Step, Work
from tests.tasks.landed import Town, town


@contextlib.asynccontextmanager
async def outage(place: Town) -> AsyncIterator[None]:
    """Nothing that GitHub sends arrives; each attempt stands in its log as failed."""
    place.github.deliveries.drop_next = 10**6
    yield
    place.github.deliveries.drop_next = 0


async def caught_up(place: Town, *, thorough: bool = False) -> int:
    """Let the bot catch up; how many requests that took."""
    before = len(place.github.requests)
    await ask_to_catch_up(place.bot.place, thorough=thorough)
    await place.drained()
    return len(place.github.requests) - before


def merge(place: Town, title: str) -> str:
    """Merge a pull request without waiting for the bot; the commit that landed."""
    place.turn += 1
    step = Step(title, {f"part_{place.turn}.py": f"value = {place.turn}\n".encode()})
    work = Work(title, place.people["ada"], [step], f"topic-{place.turn}")
    pull = place.github.open_pull(place.repository, work, at=place.clock.now)
    return place.github.merge(place.repository, pull, "squash", by=place.people["mara"], at=place.clock.now)[0]


async def recorded(place: Town, *commits: str) -> int:
    with place.bot.store.snapshot() as connection:
        known = ledger.known(connection, RepositoryId(place.repository.id), [CommitId(one) for one in commits])
    return len(known)


async def test_six_hours_of_failed_deliveries_are_taken_from_the_log(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        await place.land("Before the outage")
        await caught_up(place)
        async with outage(place):
            landed = []
            for hour in range(6):
                place.clock.now += timedelta(hours=1)
                landed.append(merge(place, f"Landed in hour {hour}"))
        assert await recorded(place, *landed) == 0
        place.clock.now += timedelta(hours=1)
        await caught_up(place)
        assert await recorded(place, *landed) == 6
        assert set(landed) <= place.checks().keys()
        place.clock.now += timedelta(minutes=1)
        await place.drained()
        before = await canonical_dump(place.bot.store)
        with place.bot.store.snapshot() as connection:
            deliveries = inbox.count(connection)
        place.clock.now += timedelta(hours=3)
        assert await caught_up(place) == 1
        with place.bot.store.snapshot() as connection:
            assert inbox.count(connection) == deliveries
        assert await canonical_dump(place.bot.store) == before


async def test_what_came_through_at_a_later_attempt_is_not_taken_again(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        async with outage(place):
            merge(place, "Fails at first")
        for failed in [one for one in github.deliveries.log if one.status != "OK"]:
            github.deliveries.redeliver(failed.id)
        await place.drained()
        before = github.count(r"GET /app/hook/deliveries/\d+")
        await caught_up(place)
        assert github.count(r"GET /app/hook/deliveries/\d+") == before


async def test_a_log_of_more_pages_than_other_lists_have_is_read_to_its_end(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        async with outage(place):
            landed = merge(place, "Stands at the end of the log")
            for number in range(4):
                merge(place, f"Landed later, {number}")
        monkeypatch.setattr(client, "MOST_PAGES", 2)
        monkeypatch.setattr(op, "DELIVERIES", replace(op.DELIVERIES, path=op.DELIVERIES.path.replace("=100", "=2")))
        await caught_up(place)
        assert github.count(r"GET /app/hook/deliveries$") > 2
        assert await recorded(place, landed) == 1


def posts(place: Town) -> int:
    return place.github.count(r"POST .*/(check-runs|comments)")


def redeliver_failed(place: Town) -> None:
    """GitHub delivers again whatever failed, under the same GUIDs."""
    for guid in sorted({one.guid for one in place.github.deliveries.log}):
        of_it = [one for one in place.github.deliveries.log if one.guid == guid]
        if all(one.status != "OK" for one in of_it):
            place.github.deliveries.redeliver(of_it[-1].id)


async def look_through(place: Town) -> None:
    """Compare every repository with the record; no delivery is taken from the log."""
    with place.bot.store.transaction() as connection:
        place.bot.queue.defer(connection, "reconcile", "{}")


async def settled_record(place: Town) -> tuple[str, int]:
    """The record and how often was posted, when nothing waits any more."""
    await place.drained()
    place.clock.now += timedelta(minutes=1)
    await place.drained()
    return await ledger_of(place), posts(place)


async def ledger_of(place: Town) -> str:
    """The record without what only deliveries show of a pull request's life."""
    return await canonical_dump(place.bot.store, [table for table in RECORD if table is not OBSERVATION])


@pytest.mark.parametrize("order", ["log first", "look first", "delivery first", "at once"])
async def test_a_late_delivery_and_catching_up_make_one_record_and_one_post(
    github: Simulator, tmp_path: Path, order: str
) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        await place.land("Before the outage")
        await caught_up(place, thorough=True)
        posted = posts(place)
        async with outage(place):
            landed = [merge(place, f"Missed {number}") for number in range(2)]
        place.clock.now += timedelta(minutes=10)
        if order == "log first":
            await caught_up(place)
        elif order == "look first":
            await look_through(place)
        elif order == "delivery first":
            redeliver_failed(place)
        if order != "at once":
            assert (await settled_record(place))[1] == posted + 2
            assert await recorded(place, *landed) == 2
        before = await ledger_of(place)
        redeliver_failed(place)
        await look_through(place)
        await caught_up(place)
        after = await settled_record(place)
        assert await recorded(place, *landed) == 2
        assert after[1] == posted + 2
        assert order == "at once" or after[0] == before
        with place.bot.store.snapshot() as connection:
            tasks = jobs_by_task(connection)
        assert tasks["record_pull_request"] <= 1 + 2 * 2


def jobs_by_task(connection: Connection) -> Counter[str]:
    """How many jobs of each task there have been."""
    return Counter(connection.execute(select(JOB.c.task)).scalars())


async def test_five_days_are_beyond_the_log_and_found_by_listing(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        await place.land("Before the outage")
        await caught_up(place, thorough=True)
        async with outage(place):
            landed = []
            for _ in range(5):
                place.clock.now += timedelta(days=1)
                landed.append(merge(place, f"Landed on {place.clock.now:%A}"))
            pushed = Step("Pushed without a pull request", {"pushed.py": b"value = 0\n"})
            by = place.people["mara"]
            landed += github.push(place.repository, "main", [pushed], by=by, at=place.clock.now)
        place.clock.now += timedelta(hours=1)
        await caught_up(place)
        assert await recorded(place, *landed) == 6
        place.clock.now += timedelta(minutes=1)
        await place.drained()
        before = await canonical_dump(place.bot.store)
        place.clock.now += timedelta(hours=3)
        seen = len(github.requests)
        await caught_up(place)
        assert github.requests[seen:] == ["GET /app/hook/deliveries"]
        place.clock.now += timedelta(days=1)
        await caught_up(place)
        assert await canonical_dump(place.bot.store) == before


async def test_a_look_at_quiet_repositories_is_a_handful_of_requests(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        for number in range(30):
            at = place.clock.now - timedelta(days=2)
            github.create_repository(f"acme/quiet-{number}", at=at, files={"a.py": b"a = 1\n"}, by=place.people["mara"])
        await caught_up(place, thorough=True)
        place.clock.now += timedelta(hours=2)
        assert await caught_up(place, thorough=True) <= 8


@pytest.mark.parametrize("change", ["renamed", "hidden", "suspended", "removed"])
async def test_what_happened_to_a_repository_or_installation_unheard_is_seen(
    github: Simulator, tmp_path: Path, change: str
) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        await place.land("Something to show")
        async with outage(place):
            if change == "renamed":
                github.rename(place.repository, "harbour", by=place.people["mara"])
            elif change == "hidden":
                github.change_visibility(place.repository, private=True, by=place.people["mara"])
            elif change == "suspended":
                github.suspend(place.installation)
            else:
                github.uninstall(place.installation)
        await caught_up(place, thorough=True)
        with place.bot.store.snapshot() as connection:
            stored = installations.repository(connection, RepositoryId(place.repository.id))
            works = installations.is_active(connection, place.installation.id)
            facts = ledger.facts_in(connection, RepositoryId(place.repository.id))
    assert stored is not None
    assert works is (change in ("renamed", "hidden"))
    assert stored.repository.full_name == ("acme/harbour" if change == "renamed" else "acme/app")
    assert {fact.repository for fact in facts} == {stored.repository.full_name}
    assert stored.visibility == {"hidden": "private", "removed": "hidden"}.get(change, "public")


async def test_the_next_look_begins_where_the_last_one_started(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as place:
        github.deliveries.clock = place.clock
        await caught_up(place)
        with place.bot.store.snapshot() as connection:
            reached = backfills.watermark(connection, "deliveries")
    assert reached is not None
    assert reached.at == place.clock.now
