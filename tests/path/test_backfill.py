"""History read by a backfill is the record that live deliveries would have made, byte for byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
import stat
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from bot.app import Bot, Timing, build, listening
from bot.model import RepositoryId
from bot.queue.worker import Pace as WorkPace
from bot.store import backfills
from bot.store.backfills import Backfill
from bot.store.dump import dump_lines
from bot.tasks.backfill import open_backfills
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.state import Installation
from simulator.world import World, build_world, play_next
from tests.path.running import Running

NOW = datetime(2031, 5, 20, 12, tzinfo=UTC)
LANDINGS = 10


@contextlib.asynccontextmanager
async def bot_on(github: Simulator, world: World, data: Path, *, backfill: bool) -> AsyncIterator[Running]:
    timing = Timing(work=WorkPace(concurrency=2, poll_every=0.02))
    settings = settings_for(github, world, data, backfill=backfill)
    async with build(settings, timing) as bot, listening(bot, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        world.app.webhook_url = f"{url}/webhook"
        yield Running(bot, world, url)


async def record_of(bot: Bot, installation: Installation | None) -> list[str]:
    """The canonical lines; an installation's number is another each time it is made."""
    assert installation is not None
    rows = [json.loads(line) async for line in dump_lines(bot.store)]
    own = {"installation", "repository"}
    return [json.dumps([None if row[0] in own and cell == installation.id else cell for cell in row]) for row in rows]


def installed(world: World) -> Installation:
    assert world.installation is not None
    return world.installation


async def play_until(there: Running, landings: int) -> None:
    while there.world.played < landings and await play_next(there.world):
        pass
    await there.drained()


async def read_first_commits(there: Running) -> None:
    """What stood on the default branches before the App came."""
    async with there.bot.store.begin() as conn:
        for repository in there.world.repositories.values():
            given = {"installation": installed(there.world).id, "repository": repository.id}
            ref = json.dumps(given | {"before": "", "after": repository.git.tip}, sort_keys=True)
            await there.bot.queue.defer(conn, "record_landing", ref, serial_key=f"repository:{repository.id}")
    await there.drained()


async def backfills_of(there: Running) -> list[Backfill]:
    async with there.bot.store.read() as conn:
        return await backfills.of(conn, [RepositoryId(one.id) for one in there.world.repositories.values()])


async def live_record(github: Simulator, world: World, data: Path) -> list[str]:
    """What deliveries make of the story; the App is uninstalled afterwards, so that another bot can begin."""
    async with bot_on(github, world, data, backfill=False) as live:
        await play_until(live, LANDINGS)
        await read_first_commits(live)
        found = await record_of(live.bot, world.installation)
    github.uninstall(installed(world))
    return found


async def test_a_backfill_makes_the_record_that_deliveries_make(github: Simulator, tmp_path: Path) -> None:
    world = build_world(github, NOW)
    expected = await live_record(github, world, tmp_path / "live")
    asked = len(github.requests)
    async with bot_on(github, world, tmp_path / "history", backfill=True) as there:
        world.installation = github.install(world.app, world.app.owner)
        await there.drained()
        rows = await backfills_of(there)
        assert await record_of(there.bot, world.installation) == expected
        clones = tmp_path / "history" / "clones"
        assert stat.S_IMODE(clones.stat().st_mode) == 0o700
        assert list(clones.iterdir()) == []
        assert not [one for one in github.requests[asked:] if one.startswith("POST") and "/check-runs" in one]
        await again(there)
        assert await record_of(there.bot, world.installation) == expected
    assert {row.state for row in rows} == {"done"}
    assert sum(row.pulls_done for row in rows) == sum(len(one.pulls) for one in world.repositories.values())


async def again(there: Running) -> None:
    """Ask for every history anew."""
    async with there.bot.store.begin() as conn:
        ids = [RepositoryId(one.id) for one in there.world.repositories.values()]
        await open_backfills(conn, there.bot.place, installed(there.world).id, ids, again=True)
    await there.drained()


async def test_half_by_backfill_and_half_by_deliveries_meanwhile_is_the_same(github: Simulator, tmp_path: Path) -> None:
    world = build_world(github, NOW)
    async with Simulator() as other:
        expected = await live_record(other, build_world(other, NOW), tmp_path / "live")
    async with bot_on(github, world, tmp_path / "before", backfill=False) as unheard:
        world.app.webhook_url = None
        await play_until(unheard, LANDINGS // 2)
    github.uninstall(installed(world))
    async with bot_on(github, world, tmp_path / "half", backfill=True) as there:
        worker = asyncio.create_task(there.bot.queue.run())
        world.installation = github.install(world.app, world.app.owner)
        while world.played < LANDINGS and await play_next(world):
            pass
        await github.settled()
        there.bot.queue.stop()
        await worker
        await there.drained()
        found = await record_of(there.bot, world.installation)
    assert found == expected
