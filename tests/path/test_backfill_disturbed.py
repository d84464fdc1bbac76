"""Does a history read during other events give the same record as an undisturbed read?"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.history.fetching import Clones, FetchError
from bot.model.commit import Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.queue import rows
from bot.services.backfill.clones import remove_unused_clones, require_clones
from bot.services.backfill.steps import defer_step, open_backfills
from bot.store.jobs import JOB
from simulator.server import Simulator
from simulator.work import Step
from simulator.world import World
from tests.path.running import Running
from tests.path.test_backfill import (
    START,
    STORY,
    backfill_of,
    bot_on,
    install,
    installed,
    play,
    record_of,
    settled,
    small_world,
    the_repository,
)

IN_THE_MIDST = 7
"""jobs: all pages of two pull requests each are kept then, and three of the commits"""


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("bot.jobs.backfill_pages", "bot.services.backfill.pages"):
        monkeypatch.setattr(sys.modules[module], "PAGE", 2)
    monkeypatch.setattr(sys.modules["bot.jobs.backfill_commits"], "BATCH", 3)


async def work_one(there: Running) -> None:
    """The job that is due first."""
    worker = there.bot.health.worker
    with there.bot.store.transaction() as connection:
        claim = rows.claim(connection, rows.Wanted(worker.tasks), worker.lease())
    assert claim is not None
    await worker.work(claim)


async def half_read(there: Running) -> None:
    install(there.world)
    await there.world.github.wait_until_idle()
    for _ in range(IN_THE_MIDST):
        await work_one(there)
    row = await backfill_of(there)
    assert (row.state, row.commits_done) == ("commits", 3)


@asynccontextmanager
async def in_the_midst(github: Simulator, data: Path) -> AsyncIterator[tuple[World, Running]]:
    """A whole story at GitHub, and a bot that has read half of it."""
    world = small_world(github)
    await play(world, range(len(STORY)))
    async with bot_on(github, world, data, backfill=True) as there:
        await half_read(there)
        yield world, there


async def calm_record(world: World, data: Path) -> list[str]:
    """What a new bot reads from the beginning."""
    world.github.uninstall(installed(world))
    async with bot_on(world.github, world, data, backfill=True) as calm:
        install(world)
        await settled(calm)
        return send_events(await record_of(calm.bot, world.installation))


def send_events(lines: list[str]) -> list[str]:
    """Without who was ever heard of, and which installations there were."""
    return [line for line in lines if not line.startswith(('["person', '["installation"'))]


# --- what happens ----------------------------------------------------------------------------------------------------


def force_push(world: World) -> None:
    """Work is taken off the branch that is being read, and other work comes in its place."""
    repository, mara = the_repository(world), world.people["mara"]
    stays = repository.git.tip or ""
    for _ in range(3):
        stays = repository.git.commits[stays].parents[0]
    world.github.force_push(repository, "main", stays, by=mara)
    step = Step("Otherwise", {"otherwise.py": b"a = 1\n"})
    world.github.push(repository, "main", [step], by=mara, at=START + timedelta(days=15))


def another_default(world: World) -> None:
    """A branch that lacks the newest work, and has its own."""
    repository, git = the_repository(world), the_repository(world).git
    git.set_ref("refs/heads/next", git.commits[git.tip or ""].parents[0])
    step = Step("On the next branch", {"next.py": b"a = 1\n"})
    world.github.commit(repository, "next", [step], by=world.people["ada"], at=START + timedelta(days=15))
    git.default_branch = "next"
    (git.path / "HEAD").write_text("ref: refs/heads/next\n")
    changes = {"action": "edited", "changes": {"default_branch": {"from": "main"}}}
    world.github.send_event(repository, "repository", changes, sender=world.people["mara"])


def install_again(world: World) -> None:
    world.github.uninstall(installed(world))
    install(world)


def take_away(world: World) -> Callable[[], None]:
    world.github.select(installed(world), [])
    return lambda: world.github.select(installed(world), [the_repository(world)])


def suspend(world: World) -> Callable[[], None]:
    world.github.suspend(installed(world))
    return lambda: world.github.unsuspend(installed(world))


@pytest.mark.parametrize("taken", [take_away, suspend])
async def test_a_removed_repository_is_not_read_until_it_returns(
    github: Simulator, tmp_path: Path, taken: Callable[[World], Callable[[], None]]
) -> None:
    async with in_the_midst(github, tmp_path) as (world, there):
        give_back = taken(world)
        await github.wait_until_idle()
        await work_one(there)
        with there.bot.store.transaction() as connection:
            # Its step was in hand when the others were set aside, and asks for the next one.
            one = await backfill_of(there)
            defer_step(connection, there.bot.context, one, "backfill_commits")
        await settled(there)
        assert (await backfill_of(there)).commits_done == one.commits_done
        give_back()
        await settled(there)
        assert (await backfill_of(there)).state == "done"


@pytest.mark.parametrize("happens", [force_push, another_default, install_again])
async def test_events_during_a_backfill_make_no_difference(
    github: Simulator, tmp_path: Path, happens: Callable[[World], None]
) -> None:
    async with in_the_midst(github, tmp_path / "disturbed") as (world, there):
        happens(world)
        await settled(there)
        assert (await backfill_of(there)).state == "done"
        found = send_events(await record_of(there.bot, world.installation))
        assert list((tmp_path / "disturbed" / "clones").iterdir()) == []
    assert found == await calm_record(world, tmp_path / "calm")


async def test_a_branch_that_is_rewritten_while_it_is_fetched_is_fetched_again(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = small_world(github)
    await play(world, range(3))
    async with bot_on(github, world, tmp_path / "disturbed", backfill=True) as there:
        fetching = sys.modules["bot.jobs.backfill_repository"]
        fetch, heads = fetching.fetch_clone, []

        async def fetch_and_rewrite(*given: object) -> object:
            heads.append(await fetch(*given))
            if len(heads) == 1:
                force_push(world)
                await there.drained()
            return heads[-1]

        monkeypatch.setattr(fetching, "fetch_clone", fetch_and_rewrite)
        install(world)
        await settled(there)
        assert heads[1:] == [the_repository(world).git.tip]
        found = send_events(await record_of(there.bot, world.installation))
    assert found == await calm_record(world, tmp_path / "calm")


async def test_a_batch_measured_for_a_removed_installation_is_read_again(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = small_world(github)
    await play(world, range(len(STORY)))
    async with bot_on(github, world, tmp_path / "disturbed", backfill=True) as there:
        reading = sys.modules["bot.services.backfill.commits"]
        read, read_before = reading.current_rules, []

        async def read_and_install_again(*given: object, **more: object) -> object:
            found = await read(*given, **more)
            if not read_before:
                read_before.append(True)
                install_again(world)
                await there.drained()
            return found

        await half_read(there)
        monkeypatch.setattr(reading, "current_rules", read_and_install_again)
        await settled(there)
        assert (await backfill_of(there)).state == "done"
        found = send_events(await record_of(there.bot, world.installation))
    assert found == await calm_record(world, tmp_path / "calm")


async def test_an_abandoned_backfill_continues_when_requested_again(github: Simulator, tmp_path: Path) -> None:
    async with in_the_midst(github, tmp_path) as (world, there):
        with there.bot.store.transaction() as connection:
            connection.execute(update(JOB).where(JOB.c.state == "ready").values(state="dead"))
        number, reached = RepositoryId(the_repository(world).id), InstallationId(installed(world).id)
        for opened in ([number], []):
            with there.bot.store.transaction() as connection:
                asked = open_backfills(connection, there.bot.context, reached, [number], again=True)
            assert asked == opened, "the second time it is under way"
        await settled(there)
        assert (await backfill_of(there)).state == "done"


async def test_a_process_that_reads_no_histories_leaves_them_to_one_that_does(
    github: Simulator, tmp_path: Path
) -> None:
    world = small_world(github)
    await play(world, range(3))
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        install(world)
        await github.wait_until_idle()
        for _ in range(3):
            await work_one(there)
        assert (await backfill_of(there)).state == "pull requests"
    for reads, state in ((False, "pull requests"), (True, "done")):
        async with bot_on(github, world, tmp_path, backfill=reads) as there:
            await settled(there)
            assert (await backfill_of(there)).state == state


# --- what lies on the disk -------------------------------------------------------------------------------------------


async def test_a_clone_is_deleted_with_its_repository_but_not_while_it_is_read(
    github: Simulator, tmp_path: Path
) -> None:
    async with in_the_midst(github, tmp_path) as (world, there):
        await remove_unused_clones(there.bot.context)
        assert len(list((tmp_path / "clones").iterdir())) == 1
        github.uninstall(installed(world))
        await settled(there)
        await remove_unused_clones(there.bot.context)
        assert list((tmp_path / "clones").iterdir()) == []


async def test_leftovers_of_a_killed_git_do_not_stop_a_later_one(github: Simulator, tmp_path: Path) -> None:
    world = small_world(github)
    await play(world, range(3))
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        folder = tmp_path / "clones" / f"{the_repository(world).id}.git"
        (folder / "objects" / "pack").mkdir(parents=True)
        (folder / "refs" / "heads").mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        for left in ("HEAD.lock", "config.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_a1b2"):
            (folder / left).write_bytes(b"half")
        install(world)
        await settled(there)
        assert (await backfill_of(there)).state == "done"


async def test_a_renamed_branch_does_not_look_like_an_empty_repository(github: Simulator, tmp_path: Path) -> None:
    world = small_world(github)
    await play(world, range(3))
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        place, repository = there.bot.context, the_repository(world)
        install(world)
        await settled(there)
        token = await place.reader(installed(world).id, repository.id).token()
        old = Repository(repository.full_name, RepositoryId(repository.id), default_branch="before")
        with pytest.raises(FetchError, match="before"):
            await require_clones(place).of(old).refresh(token)
        for ref in list(repository.git.refs):
            repository.git.set_ref(ref, None)
        assert await require_clones(place).of(old).refresh(token) is None


async def test_a_fetch_ends_when_its_caller_is_cancelled(tmp_path: Path) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()  # until the other end is gone
        left.set()
        writer.close()

    async with await asyncio.start_server(never_answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        clones = Clones(tmp_path / "clones", f"http://127.0.0.1:{port}")
        fetch = asyncio.create_task(clones.of(Repository("acme/app", RepositoryId(1))).refresh("a token"))
        await asked.wait()
        fetch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetch
        await left.wait()
