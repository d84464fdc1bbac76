"""Does a backfill give the record that live deliveries would have given, byte for byte?"""

from __future__ import annotations

import asyncio
import contextlib
import json
import stat
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.app import Bot, Timing, build, serve_http
from bot.model.ids import RepositoryId
from bot.queue.worker import WorkerPace as WorkPace
from bot.services.backfill.steps import open_backfills
from bot.store import backfills, configurations, pulls
from bot.store.backfills import Backfill
from bot.store.dump import dump_lines
from simulator.demo import settings_for
from simulator.non_code_activity import publish_release
from simulator.server import Simulator
from simulator.state import SimInstallation, SimRepository
from simulator.work import NewPullRequest, Step
from simulator.world import World
from tests.databases import put_tables
from tests.path.running import Running
from tests.services.landed import Clock

START = datetime(2031, 5, 1, 12, tzinfo=UTC)
STORY = ("squash", "merge", "rebase", "push", "unmerged", "merge")
"""how each piece of work, of two commits, lands; one campaign does the same with thousands"""


def small_world(github: Simulator) -> World:
    """One repository, two people and the App, which is not installed yet."""
    owner = github.organisation("acme")
    people = {login: github.account(login, name=f"{login.title()} Example") for login in ("ada", "mara")}
    repository = github.create_repository("acme/app", at=START, files={"README.md": b"# app\n"}, by=people["mara"])
    repository.permissions = {"mara": "maintain", "ada": "write"}
    return World(github, github.register_app("almanac-test", owner), people, {"app": repository}, [])


def the_repository(world: World) -> SimRepository:
    return world.repositories["app"]


async def play(world: World, turns: Iterable[int]) -> None:
    """These pieces of the story, each with its deliveries."""
    github, repository, by = world.github, the_repository(world), world.people["mara"]
    for turn in turns:
        at, how = START + timedelta(days=turn + 1), STORY[turn]
        steps = [
            Step(f"Step {n} of part {turn}", {f"part_{turn}.py": f"a = {turn}\nb = {n}\n".encode()}) for n in (1, 2)
        ]
        if how == "push":
            github.push(repository, "main", steps, by=by, at=at)
        else:
            work = NewPullRequest(f"Part {turn}", world.people["ada"], steps, f"topic-{turn}")
            pull = github.open_pull(repository, work, at=at)
            if how == "unmerged":
                github.close(repository, pull, by=by, at=at)
            else:
                github.merge(repository, pull, how, by=by, at=at)  # type: ignore[arg-type]  # one of its methods
        await github.wait_until_idle()


@contextlib.asynccontextmanager
async def bot_on(github: Simulator, world: World, data: Path, *, backfill: bool) -> AsyncIterator[Running]:
    await asyncio.to_thread(put_tables, data)
    timing = Timing(clock=Clock(), work=WorkPace(concurrency=2, poll_every=0.02))
    settings = settings_for(github, world, data, backfill=backfill)
    async with build(settings, timing) as bot, serve_http(bot, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        world.app.webhook_url = f"{url}/webhook"
        yield Running(bot, world, url)


async def settled(there: Running) -> None:
    """Nothing waits any more, also not for a moment."""
    await there.drained()
    clock = there.bot.timing.clock
    assert isinstance(clock, Clock)
    clock.now += timedelta(minutes=1)
    await there.drained()


def _without_delivery(row: list[Any]) -> list[Any]:
    """The row without who pushed, which only deliveries say, and whether every pull request was known."""
    payload = next((cell for cell in row if isinstance(cell, dict) and cell.get("evidence")), None)
    if payload is not None:
        payload["evidence"][2] = payload["evidence"][8] = None
    return row


async def record_of(bot: Bot, installation: SimInstallation | None) -> list[str]:
    """The canonical lines; an installation's number is another each time it is made.

    Events that only deliveries show are stored outside the record, and no history contains them.
    """
    assert installation is not None
    rows = [json.loads(line) for line in await bot.store.read(lambda connection: list(dump_lines(connection)))]
    rows = [_without_delivery(row) for row in rows if row[0] != "observation"]
    own = {"installation", "repository"}
    return [json.dumps([None if row[0] in own and cell == installation.id else cell for cell in row]) for row in rows]


def installed(world: World) -> SimInstallation:
    assert world.installation is not None
    return world.installation


def install(world: World) -> None:
    world.installation = world.github.install(world.app, world.app.owner)


async def read_first_commits(there: Running) -> None:
    """Record what was on the default branch before the App was installed."""
    repository = the_repository(there.world)
    given = {"installation": installed(there.world).id, "repository": repository.id}
    ref = json.dumps(given | {"before": "", "after": repository.git.tip}, sort_keys=True)
    with there.bot.store.transaction() as connection:
        there.bot.queue.defer(connection, "record_landing", ref, serial_key=f"repository:{repository.id}")
    await settled(there)


async def backfill_of(there: Running) -> Backfill:
    with there.bot.store.snapshot() as connection:
        found = backfills.read(connection, RepositoryId(the_repository(there.world).id))
    assert found is not None
    return found


async def live_record(github: Simulator, world: World, data: Path) -> list[str]:
    """What deliveries make of the story; the App is uninstalled afterwards, so that another bot can begin."""
    async with bot_on(github, world, data, backfill=False) as live:
        install(world)
        await live.drained()
        await read_first_commits(live)
        await play(world, range(len(STORY)))
        await settled(live)
        found = await record_of(live.bot, world.installation)
    github.uninstall(installed(world))
    return found


async def test_a_backfill_makes_the_record_that_deliveries_make(github: Simulator, tmp_path: Path) -> None:
    world = small_world(github)
    expected = await live_record(github, world, tmp_path / "live")
    asked = len(github.requests)
    async with bot_on(github, world, tmp_path / "history", backfill=True) as there:
        install(world)
        await settled(there)
        row = await backfill_of(there)
        assert await record_of(there.bot, world.installation) == expected
        clones = tmp_path / "history" / "clones"
        assert stat.S_IMODE(clones.stat().st_mode) == 0o700
        assert list(clones.iterdir()) == []
        assert not [one for one in github.requests[asked:] if one.startswith("POST") and "/check-runs" in one]
        await again(there)
        assert await record_of(there.bot, world.installation) == expected
    assert (row.state, row.pulls_done) == ("done", len(the_repository(world).pulls))


async def again(there: Running) -> None:
    """Request the history again."""
    with there.bot.store.transaction() as connection:
        ids = [RepositoryId(the_repository(there.world).id)]
        open_backfills(connection, there.bot.context, installed(there.world).id, ids, again=True)
    await settled(there)


async def test_a_backfill_stores_commit_counts_and_leaves_the_rules_unread(github: Simulator, tmp_path: Path) -> None:
    world = small_world(github)
    await play(world, [1, 4])
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        install(world)
        await settled(there)
        number = RepositoryId(the_repository(world).id)
        with there.bot.store.snapshot() as connection:
            kept = pulls.rows_by_number(connection, number, [1, 2])
            assert configurations.read_attributes(connection, number) is None
    assert [row.size for row in kept.values()] == [2, 2]


async def test_half_by_backfill_and_half_by_deliveries_meanwhile_is_the_same(github: Simulator, tmp_path: Path) -> None:
    world = small_world(github)
    async with Simulator() as other:
        expected = await live_record(other, small_world(other), tmp_path / "live")
    await play(world, range(3))
    async with bot_on(github, world, tmp_path / "half", backfill=True) as there:
        worker = asyncio.create_task(there.bot.queue.run())
        install(world)
        await play(world, range(3, len(STORY)))
        await github.wait_until_idle()
        there.bot.queue.stop()
        await worker
        await settled(there)
        found = await record_of(there.bot, world.installation)
    assert found == expected


# --- non-code activity -----------------------------------------------------------------------------------------------


async def busy(world: World) -> None:
    """Work that was reviewed and merged, some by its author, and releases."""
    github, repository, ada, mara = world.github, the_repository(world), world.people["ada"], world.people["mara"]
    for turn, (by, state) in enumerate(((mara, "APPROVED"), (ada, "COMMENTED"), (mara, "CHANGES_REQUESTED"))):
        at = START + timedelta(days=turn + 1)
        steps = [Step(f"Part {turn}", {f"part_{turn}.py": b"a = 1\n"})]
        pull = github.open_pull(repository, NewPullRequest(f"Part {turn}", ada, steps, f"topic-{turn}"), at=at)
        github.review(repository, pull, (state, ""), by=mara, at=at)
        github.review(repository, pull, ("COMMENTED", ""), by=github.bot("reviewer[bot]"), at=at)
        github.merge(repository, pull, "squash", by=by, at=at)
        await github.wait_until_idle()
    drafter = github.bot("drafter[bot]")
    publish_release(github, repository, "v1", by=mara, at=START + timedelta(days=5))
    publish_release(github, repository, "v2", by=ada, at=START + timedelta(days=6), prerelease=True)
    publish_release(github, repository, "v3", by=drafter, at=START + timedelta(days=7))
    await github.wait_until_idle()


async def deeds(bot: Bot) -> list[str]:
    """What is kept of what people did; that nobody approved is no deed."""
    rows = [json.loads(line) for line in await bot.store.read(lambda connection: list(dump_lines(connection)))]
    kinds = ("review", "merger", "release")
    return [json.dumps(row) for row in rows if row[0] == "observation" and row[3] in kinds and row[5]]


async def test_history_shows_the_reviews_merges_and_releases_that_deliveries_show(
    github: Simulator, tmp_path: Path
) -> None:
    world = small_world(github)
    async with bot_on(github, world, tmp_path / "live", backfill=False) as live:
        install(world)
        await live.drained()
        await busy(world)
        await settled(live)
        expected = await deeds(live.bot)
    github.uninstall(installed(world))
    asked = len(github.requests)
    async with bot_on(github, world, tmp_path / "history", backfill=True) as there:
        install(world)
        await settled(there)
        assert await deeds(there.bot) == expected
        await again(there)
        assert await deeds(there.bot) == expected
    queries = [one for one in github.requests[asked:] if "graphql" in one]
    assert len(queries) == 2, "one page each time, with everything on it"
    assert len(expected) == 3 + 3 + 2
