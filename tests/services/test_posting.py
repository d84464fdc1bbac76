"""Does only one worker at a time handle a post, and does it wait only briefly if that worker is killed?"""

from __future__ import annotations

import asyncio
import sys
import threading
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from bot.github.posts import Publisher
from bot.queue.interface import RetryLater
from bot.store import outbox
from bot.store.outbox import OUTBOX, Posting
from simulator.faults import Kind
from simulator.server import Simulator
from tests.services.landed import Town, town

publishing = sys.modules["bot.services.posting.publishing"]
"""the module: its package has the function under this name"""
MINUTE = timedelta(seconds=60)


async def claimed(world: Town) -> Posting | None:
    """What a worker gets that takes the post in hand now."""
    with world.bot.store.transaction() as connection:
        number = connection.execute(select(OUTBOX.c.id).where(OUTBOX.c.kind == "check")).scalar_one()
        now = world.clock.now
        return outbox.claim(connection, number, now=now, lease_until=now + publishing.LEASE)


async def test_a_post_of_a_killed_worker_is_posted_after_a_minute(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with town(github, tmp_path) as world:

        async def killed(*_: object, **__: object) -> int:
            raise RetryLater(0.0, "the row says what it says when a worker is killed")

        def nothing(*_: object, **__: object) -> None:
            """Whoever is killed lets nothing go."""

        with monkeypatch.context() as patch:
            patch.setattr(Publisher, "check_run", killed)
            patch.setattr(outbox, "release", nothing)
            await world.land("Landed, and posted by a worker that dies")
        assert not world.checks()
        await world.drained()
        assert not world.checks(), "it may still be alive"
        world.clock.now += MINUTE
        await world.drained()
        assert len(world.checks()) == 1


async def test_a_post_whose_answer_was_lost_is_looked_for_a_minute_later(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        github.faults.plan("lost", "POST /repositories/*/check-runs")
        await world.land("Landed, and the answer to its post is lost")
        assert len(world.checks()) == 1
        for seconds in (30, 29):
            world.clock.now += timedelta(seconds=seconds)
            await world.drained()
        assert github.count("GET /repositories/.*/check-runs") == 0, "a lagging replica might not list it yet"
        world.clock.now += timedelta(seconds=2)
        await world.drained()
        assert github.count("GET /repositories/.*/check-runs") == 1
        assert github.count("POST /repositories/.*/check-runs") == 1
        assert len(world.repository.checks) == 1


async def test_a_post_that_is_answered_with_500_is_tried_again(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        for _ in range(8):
            github.faults.plan("500", "POST /repositories/*/check-runs")
        await world.land("Landed while GitHub creates no check runs")
        assert not world.checks()
        for _ in range(12):
            world.clock.now += timedelta(hours=1)
            await world.drained()
        assert len(world.checks()) == 1


async def test_a_claim_is_on_disk_before_anything_is_posted(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut, a claim that was not on disk would count as never made, and nobody would look for its post."""
    async with town(github, tmp_path) as world:
        claim, waits = outbox.claim, []

        def claim_and_look(connection: Connection, *given: Any, **how: Any) -> Posting | None:
            waits.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())
            return claim(connection, *given, **how)

        monkeypatch.setattr(outbox, "claim", claim_and_look)
        await world.land("Landed and posted")
        assert len(world.checks()) == 1
    full = 2
    assert waits == [full]


async def test_posts_to_an_archived_repository_are_sent_after_it_is_unarchived(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as world:
        github.faults.plan("403", "POST /repositories/*/check-runs", times=99)
        await world.land("Landed, and archived at once")
        for _ in range(30):
            world.clock.now += timedelta(hours=1)
            await world.drained()
        asked = github.count("/check-runs")
        github.faults.calm()
        world.clock.now += timedelta(hours=2)
        await world.drained()
        assert not world.checks(), "after a day nobody asks every hour"
        assert asked < 40
        github.send_event(world.repository, "repository", {"action": "unarchived"}, sender=world.people["mara"])
        await world.drained()
        assert len(world.checks()) == 1


async def test_the_rate_limit_of_one_installation_does_not_delay_others(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        github.install(world.app, github.organisation("beta"))
        other = github.create_repository("beta/app", at=world.clock.now, files={"a": b"a\n"}, by=world.people["mara"])
        await world.drained()
        github.faults.plan("secondary", f"* /repositories/{world.repository.id}/*", times=99, seconds=60)
        async with asyncio.timeout(30):
            for repo in (world.repository, world.repository, other):
                await world.land("Landed", repo=repo)
        assert (len(world.checks()), len(other.checks)) == (0, 1)
        assert github.count(f"/repositories/{world.repository.id}/") == 1, "the others are put off unasked"


@pytest.mark.parametrize("harm", ["502", "401"])
async def test_an_outage_of_hours_gives_nothing_up(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Kind
) -> None:
    monkeypatch.setattr(import_module("bot.github.client"), "retry_wait", lambda *_: 0.0)
    async with town(github, tmp_path) as world:
        github.faults.plan(harm, times=9_999)
        await world.land("Landed while GitHub was out of order")
        for _ in range(12):
            world.clock.now += timedelta(hours=2)
            await world.drained()
        assert not world.checks()
        assert len(github.requests) < 4 * 20, "it is asked less and less"
        github.faults.calm()
        world.clock.now += timedelta(hours=1)
        await world.drained()
        assert len(world.checks()) == 1


async def test_a_post_longer_than_its_lease_stays_with_its_poster(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with town(github, tmp_path) as world:
        renewed, post, renew = threading.Event(), Publisher.check_run, outbox.renew
        by_others: list[Posting | None] = []

        def renew_and_set(*given: object) -> None:
            renew(*given)  # type: ignore[arg-type]  # passed on as they came
            renewed.set()

        async def slowly(*given: Any, **more: Any) -> int:
            for _ in range(3):
                world.clock.now += MINUTE * 0.9
                renewed.clear()
                await asyncio.to_thread(renewed.wait)
                by_others.append(await claimed(world))
            return await post(*given, **more)

        monkeypatch.setattr(publishing, "RENEW_EVERY", 0.0)
        monkeypatch.setattr(Publisher, "check_run", slowly)
        monkeypatch.setattr(outbox, "renew", renew_and_set)
        await world.land("Landed, and posted slowly")
        assert by_others == [None] * 3
        assert len(world.checks()) == 1
