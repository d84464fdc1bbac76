"""Are missed deliveries found in GitHub's log, and older events by listing the repositories?"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, select, update

from bot.github import client
from bot.github import operations as op
from bot.model.ids import CommitId, RepositoryId
from bot.services.deliveries.catch_up import ask_to_catch_up
from bot.store import backfills, inbox, installations, ledger
from bot.store.dump import canonical_dump
from bot.store.jobs import JOB
from bot.store.observations import OBSERVATION
from bot.store.schema import RECORD
from simulator.server import Simulator
from simulator.work import NewPullRequest, Step
from tests.services.landed import Town, town


@contextlib.asynccontextmanager
async def outage(world: Town) -> AsyncIterator[None]:
    """Nothing that GitHub sends arrives; its log shows each attempt as failed."""
    world.github.deliveries.drop_next = 10**6
    yield
    world.github.deliveries.drop_next = 0


async def catch_up_requests(world: Town, *, thorough: bool = False) -> int:
    """Let the bot catch up; how many requests that took."""
    before = len(world.github.requests)
    await ask_to_catch_up(world.bot.context, thorough=thorough)
    await world.drained()
    return len(world.github.requests) - before


def merge(world: Town, title: str) -> str:
    """Merge a pull request without waiting for the bot; the commit that landed."""
    world.turn += 1
    step = Step(title, {f"part_{world.turn}.py": f"value = {world.turn}\n".encode()})
    work = NewPullRequest(title, world.people["ada"], [step], f"topic-{world.turn}")
    pull = world.github.open_pull(world.repository, work, at=world.clock.now)
    return world.github.merge(world.repository, pull, "squash", by=world.people["mara"], at=world.clock.now)[0]


async def recorded(world: Town, *commits: str) -> int:
    with world.bot.store.snapshot() as connection:
        known = ledger.recorded_commits(
            connection, RepositoryId(world.repository.id), [CommitId(one) for one in commits]
        )
    return len(known)


async def test_six_hours_of_failed_deliveries_are_recovered_from_the_log(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        await world.land("Before the outage")
        await catch_up_requests(world)
        async with outage(world):
            landed = []
            for hour in range(6):
                world.clock.now += timedelta(hours=1)
                landed.append(merge(world, f"Landed in hour {hour}"))
        assert await recorded(world, *landed) == 0
        world.clock.now += timedelta(hours=1)
        await catch_up_requests(world)
        assert await recorded(world, *landed) == 6
        assert set(landed) <= world.checks().keys()
        world.clock.now += timedelta(minutes=1)
        await world.drained()
        before = await canonical_dump(world.bot.store)
        with world.bot.store.snapshot() as connection:
            deliveries = inbox.count(connection)
        world.clock.now += timedelta(hours=3)
        assert await catch_up_requests(world) == 1
        with world.bot.store.snapshot() as connection:
            assert inbox.count(connection) == deliveries
        assert await canonical_dump(world.bot.store) == before


async def test_a_delivery_that_succeeded_later_is_not_recovered_again(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        async with outage(world):
            merge(world, "Fails at first")
        for failed in [one for one in github.deliveries.log if one.status != "OK"]:
            github.deliveries.redeliver(failed.id)
        await world.drained()
        before = github.count(r"GET /app/hook/deliveries/\d+")
        await catch_up_requests(world)
        assert github.count(r"GET /app/hook/deliveries/\d+") == before


async def test_a_delivery_log_longer_than_other_lists_is_read_to_its_end(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        async with outage(world):
            landed = merge(world, "Stands at the end of the log")
            for number in range(4):
                merge(world, f"Landed later, {number}")
        monkeypatch.setattr(client, "MOST_PAGES", 2)
        monkeypatch.setattr(op, "DELIVERIES", replace(op.DELIVERIES, path=op.DELIVERIES.path.replace("=100", "=2")))
        await catch_up_requests(world)
        assert github.count(r"GET /app/hook/deliveries$") > 2
        assert await recorded(world, landed) == 1


def posts(world: Town) -> int:
    return world.github.count(r"POST .*/(check-runs|comments)")


def redeliver_failed(world: Town) -> None:
    """GitHub delivers again whatever failed, under the same GUIDs."""
    for guid in sorted({one.guid for one in world.github.deliveries.log}):
        of_it = [one for one in world.github.deliveries.log if one.guid == guid]
        if all(one.status != "OK" for one in of_it):
            world.github.deliveries.redeliver(of_it[-1].id)


async def look_through(world: Town) -> None:
    """Compare every repository with the record; no delivery is taken from the log."""
    with world.bot.store.transaction() as connection:
        world.bot.queue.defer(connection, "reconcile", "{}")


async def settled_record(world: Town) -> tuple[str, int]:
    """The record and how often was posted, when nothing waits any more."""
    await world.drained()
    world.clock.now += timedelta(minutes=1)
    await world.drained()
    return await ledger_of(world), posts(world)


async def ledger_of(world: Town) -> str:
    """The record without what only deliveries show of a pull request's life."""
    return await canonical_dump(world.bot.store, [table for table in RECORD if table is not OBSERVATION])


@pytest.mark.parametrize("order", ["log first", "look first", "delivery first", "at once"])
async def test_a_late_delivery_and_its_catch_up_give_one_record_and_one_post(
    github: Simulator, tmp_path: Path, order: str
) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        await world.land("Before the outage")
        await catch_up_requests(world, thorough=True)
        posted = posts(world)
        async with outage(world):
            landed = [merge(world, f"Missed {number}") for number in range(2)]
        world.clock.now += timedelta(minutes=10)
        if order == "log first":
            await catch_up_requests(world)
        elif order == "look first":
            await look_through(world)
        elif order == "delivery first":
            redeliver_failed(world)
        if order != "at once":
            assert (await settled_record(world))[1] == posted + 2
            assert await recorded(world, *landed) == 2
        before = await ledger_of(world)
        redeliver_failed(world)
        await look_through(world)
        await catch_up_requests(world)
        after = await settled_record(world)
        assert await recorded(world, *landed) == 2
        assert after[1] == posted + 2
        # A delivery that arrives later adds who pushed, which no look at the branch shows.
        assert order in ("at once", "look first") or after[0] == before
        with world.bot.store.snapshot() as connection:
            tasks = jobs_by_task(connection)
        assert tasks["record_pull_request"] <= 1 + 2 * 2


def jobs_by_task(connection: Connection) -> Counter[str]:
    """How many jobs of each task there have been."""
    return Counter(connection.execute(select(JOB.c.task)).scalars())


async def test_five_days_are_beyond_the_log_and_found_by_listing(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        await world.land("Before the outage")
        await catch_up_requests(world, thorough=True)
        async with outage(world):
            landed = []
            for _ in range(5):
                world.clock.now += timedelta(days=1)
                landed.append(merge(world, f"Landed on {world.clock.now:%A}"))
            pushed = Step("Pushed without a pull request", {"pushed.py": b"value = 0\n"})
            by = world.people["mara"]
            landed += github.push(world.repository, "main", [pushed], by=by, at=world.clock.now)
        world.clock.now += timedelta(hours=1)
        await catch_up_requests(world)
        assert await recorded(world, *landed) == 6
        world.clock.now += timedelta(minutes=1)
        await world.drained()
        before = await canonical_dump(world.bot.store)
        world.clock.now += timedelta(hours=3)
        seen = len(github.requests)
        await catch_up_requests(world)
        assert github.requests[seen:] == ["GET /app/hook/deliveries"]
        world.clock.now += timedelta(days=1)
        await catch_up_requests(world)
        assert await canonical_dump(world.bot.store) == before


async def test_a_push_that_no_log_knows_is_found_below_a_head_that_is_recorded(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        await world.land("Before the outage")
        await catch_up_requests(world, thorough=True)
        async with outage(world):
            step = Step("Pushed without a pull request", {"pushed.py": b"value = 0\n"})
            lost = github.push(world.repository, "main", [step], by=world.people["mara"], at=world.clock.now)
        github.deliveries.log.clear()
        await world.write("later.py", "value = 1\n")
        assert await recorded(world, *lost) == 0
        await catch_up_requests(world, thorough=True)
        assert await recorded(world, *lost) == 1


async def test_checking_quiet_repositories_takes_few_requests(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        for number in range(30):
            at = world.clock.now - timedelta(days=2)
            github.create_repository(f"acme/quiet-{number}", at=at, files={"a.py": b"a = 1\n"}, by=world.people["mara"])
        await catch_up_requests(world, thorough=True)
        world.clock.now += timedelta(hours=2)
        assert await catch_up_requests(world, thorough=True) <= 8


@pytest.mark.parametrize("change", ["renamed", "hidden", "suspended", "removed"])
async def test_missed_repository_and_installation_events_are_detected(
    github: Simulator, tmp_path: Path, change: str
) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        await world.land("Something to show")
        async with outage(world):
            if change == "renamed":
                github.rename(world.repository, "harbour", by=world.people["mara"])
            elif change == "hidden":
                github.change_visibility(world.repository, private=True, by=world.people["mara"])
            elif change == "suspended":
                github.suspend(world.installation)
            else:
                github.uninstall(world.installation)
        await catch_up_requests(world, thorough=True)
        with world.bot.store.snapshot() as connection:
            stored = installations.repository(connection, RepositoryId(world.repository.id))
            works = installations.is_active(connection, world.installation.id)
            facts = ledger.facts_in(connection, RepositoryId(world.repository.id))
    assert stored is not None
    assert works is (change in ("renamed", "hidden"))
    assert stored.repository.full_name == ("acme/harbour" if change == "renamed" else "acme/app")
    assert {fact.repository for fact in facts} == {stored.repository.full_name}
    assert stored.visibility == {"hidden": "private", "removed": "hidden"}.get(change, "public")


async def test_what_fails_during_a_look_is_found_by_the_next_one(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look may take an hour, because the log of a large App is long."""
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        began = world.clock.now

        async def slow(*_: object) -> int:
            world.clock.now += timedelta(hours=1)
            return 0

        monkeypatch.setattr(sys.modules["bot.jobs.catch_up"], "accept_failed", slow)
        await catch_up_requests(world)
        with world.bot.store.snapshot() as connection:
            reached = backfills.watermark(connection, "deliveries")
    assert world.clock.now > began
    assert reached is not None
    assert reached.at == began


async def test_what_landed_during_a_suspension_is_recorded_when_it_ends(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        github.deliveries.clock = world.clock
        await world.land("Before the suspension")
        await catch_up_requests(world, thorough=True)
        github.suspend(world.installation)
        await world.drained()
        async with outage(world):
            landed = merge(world, "During the suspension")
            world.clock.now += timedelta(hours=1)
            await world.drained()
        github.deliveries.log.clear()
        github.unsuspend(world.installation)
        await world.drained()
        assert await recorded(world, landed) == 1
        before = github.count("GET ")
        github.unsuspend(world.installation)  # sent again, as a delivery may be
        await world.drained()
        assert github.count("GET ") - before <= 4, "it was not suspended, so nothing is looked through"


@pytest.mark.parametrize("task", ["catch_up", "reconcile"])
async def test_a_run_replaces_one_that_died_with_its_workers(github: Simulator, tmp_path: Path, task: str) -> None:
    """It runs at each start, so a bot that is killed again and again may lose ten of its workers."""
    async with town(github, tmp_path) as world:
        dead = {"state": "dead", "attempt": 11, "failures": 10, "finished_at": world.clock.now}
        with world.bot.store.transaction() as connection:
            world.bot.queue.defer(connection, task, "{}")
            world.bot.queue.defer(connection, "record_landing", "{}")
            connection.execute(update(JOB).where(JOB.c.ref_id == "{}", JOB.c.state == "ready").values(dead))
        await catch_up_requests(world, thorough=True)
        await ask_to_catch_up(world.bot.context)
        await world.drained()
        with world.bot.store.snapshot() as connection:
            left = connection.execute(select(JOB.c.task).where(JOB.c.state == "dead")).scalars().all()
    assert left == ["record_landing"]
