"""Is one 403 or 404 believed? Replicas lag, so the same answer must come for a day, or a second witness agree."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from bot.jobs.reconcile import reconcile
from bot.services.deliveries.catch_up import defer_reconciliation
from bot.store import installations
from bot.store.jobs import JOB
from simulator.faults import Kind
from simulator.server import Simulator
from tests.services.landed import Town, town

HOURS = timedelta(hours=1)


def jobs_in(there: Town, *states: str) -> list[tuple[str, str | None]]:
    with there.bot.store.snapshot() as connection:
        rows = connection.execute(select(JOB.c.task, JOB.c.last_error).where(JOB.c.state.in_(states)))
        return [(row.task, row.last_error) for row in rows]


async def pass_time(there: Town, total: timedelta, step: timedelta) -> None:
    """Let the bot work again and again while the clock moves on."""
    end = there.clock.now + total
    while there.clock.now < end:
        there.clock.now += step
        await there.drained()


async def forget_tokens(there: Town) -> None:
    """From here on the bot needs new tokens."""
    there.clock.now += 2 * HOURS
    there.github.state.tokens.clear()


async def look_at_everything(there: Town) -> None:
    """Reconcile, as the bot does once a day."""

    def defer(connection: Connection) -> None:
        defer_reconciliation(connection, there.bot.context, reconcile.__name__, "{}")

    await there.bot.store.write(defer)
    await there.drained()


@pytest.mark.parametrize("harm", ["403", "404"])
@pytest.mark.parametrize(
    "pattern", ["POST /app/installations/*/access_tokens", "GET /repositories/*", "POST /repositories/*/check-runs"]
)
async def test_a_refusal_of_some_minutes_loses_no_landing_and_no_post(
    github: Simulator, tmp_path: Path, harm: Kind, pattern: str
) -> None:
    async with town(github, tmp_path) as there:
        await forget_tokens(there)
        github.faults.plan(harm, pattern, times=4)
        if harm == "404":  # nor is it found by its name
            github.faults.plan(harm, f"GET /repos/{there.repository.full_name}", times=4)
        await there.land("Add a wheel")
        assert not there.checks()
        await pass_time(there, timedelta(minutes=20), timedelta(minutes=1))
        assert len(there.checks()) == 1
        assert not jobs_in(there, "parked", "dead", "ready", "running")


async def test_a_landing_refused_for_a_day_is_parked_and_looked_at_daily_until_it_is_allowed(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        github.faults.plan("403", "POST /repositories/*/check-runs", times=1000)
        await there.land("Add a wheel")
        await pass_time(there, 26 * HOURS, timedelta(minutes=30))
        ((task, reason),) = jobs_in(there, "parked")
        assert task == "publish_post"
        assert "refuses" in (reason or "")
        asked = github.count("POST /repositories/.*/check-runs")
        assert asked < 45, "the time between two tries doubles up to an hour"
        await look_at_everything(there)
        assert github.count("POST /repositories/.*/check-runs") == asked, "it was parked within the last day"
        there.clock.now += timedelta(days=2)
        await look_at_everything(there)
        assert github.count("POST /repositories/.*/check-runs") == asked + 1, "one more try, and parked at once"
        assert [task for task, _ in jobs_in(there, "parked")] == ["publish_post"]
        github.faults.calm()
        there.clock.now += timedelta(days=2)
        await look_at_everything(there)
        assert len(there.checks()) == 1


async def test_a_job_refused_for_a_month_becomes_a_dead_letter(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.faults.plan("403", "POST /repositories/*/check-runs", times=1000)
        await there.land("Add a wheel")
        await pass_time(there, 26 * HOURS, HOURS)
        there.clock.now += timedelta(days=31)
        await look_at_everything(there)
        assert [task for task, _ in jobs_in(there, "dead")] == ["publish_post"]


async def test_a_suspension_that_no_delivery_reported_parks_at_once(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.faults.plan("403", "POST /repositories/*/check-runs")
        await there.land("Add a wheel")
        there.installation.suspended_at = there.clock.now
        there.clock.now += timedelta(seconds=10)
        await there.drained()
        assert jobs_in(there, "parked") == [("publish_post", f"installation {there.installation.id} is suspended")]


async def test_a_permission_that_was_not_granted_parks_at_once_and_is_named(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        there.app.permissions = {name: level for name, level in there.app.permissions.items() if name != "checks"}
        await there.land("Add a wheel")
        ((_, reason),) = jobs_in(there, "parked")
        assert reason == f"installation {there.installation.id} has not granted checks: read"


async def test_one_answer_that_finds_no_repository_hides_it_and_a_day_of_them_removes_it(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        number = there.repository.id

        def stored() -> tuple[bool, bool]:
            with there.bot.store.snapshot() as connection:
                row = installations.repository(connection, number)
            assert row is not None
            return row.repository.private, row.removed_at is not None

        github.faults.plan("404", f"GET /repositories/{number}", times=4)
        github.faults.plan("404", f"GET /repos/{there.repository.full_name}", times=4)
        github.send_event(there.repository, "repository", {"action": "edited"}, sender=there.people["mara"])
        await there.drained()
        assert stored() == (True, False)
        await pass_time(there, timedelta(minutes=15), timedelta(seconds=30))
        assert stored() == (False, False), "it was found again"
        github.faults.plan("404", f"GET /repositories/{number}", times=1000)
        github.faults.plan("404", f"GET /repos/{there.repository.full_name}", times=1000)
        github.send_event(there.repository, "repository", {"action": "edited"}, sender=there.people["mara"])
        await pass_time(there, 26 * HOURS, timedelta(minutes=30))
        assert stored() == (True, True)


async def test_one_answer_that_finds_no_installation_removes_nothing(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.faults.plan("404", f"GET /app/installations/{there.installation.id}", times=3)
        github.unsuspend(there.installation)
        await pass_time(there, timedelta(minutes=15), timedelta(seconds=30))
        await there.land("Add a wheel")
        assert len(there.checks()) == 1
