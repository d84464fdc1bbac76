"""Do `almanac backfill` and `almanac catch-up` work with and without a running process on the same database?"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from bot.cli.main import main
from bot.cli.operating import run
from bot.services import operator_requests
from bot.store.engine import Store
from bot.store.jobs import JOB
from bot.store.ledger import FACT
from simulator.faults import Kind
from simulator.server import Simulator
from simulator.work import NewPullRequest, Step
from simulator.world import World
from tests.campaigns.kill_storm import Victim
from tests.databases import put_tables

START = datetime(2031, 4, 1, 12, tzinfo=UTC)
PULLS = 3


class Almanac(Victim):
    """The program with the settings of one installation."""

    def __init__(self, github: Simulator, world: World, data: Path) -> None:
        super().__init__(github, world, data)
        self.environment["ALMANAC_BACKFILL"] = "on"

    async def typed(self, *words: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of a command."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *words), env=self.environment, stdout=-1, stderr=-1
        )
        out, errors = await process.communicate()
        return process.returncode or 0, out.decode(), errors.decode()

    def typed_here(self, *words: str) -> int:
        """The exit code of the same command in this process, where the other one is what the test is about."""
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in self.environment if name.startswith("ALMANAC_")]:
                patch.setenv(name, self.environment[name])
            with pytest.raises(SystemExit) as ended:
                main(words)
        return int(ended.value.code or 0)


def world_of(github: Simulator) -> World:
    """A repository with pull requests that were merged before the App came, and nobody heard of."""
    owner, mara = github.organisation("acme"), github.account("mara", name="Mara Example")
    repository = github.create_repository("acme/app", at=START, files={"README.md": b"# app\n"}, by=mara)
    app = github.register_app("almanac-test", owner)
    for number in range(PULLS):
        at = START + timedelta(days=number)
        work = NewPullRequest(
            f"Part {number}", mara, [Step(f"Part {number}", {f"{number}.py": b"a = 1\n"})], f"topic-{number}"
        )
        github.merge(repository, github.open_pull(repository, work, at=at), "squash", by=mara, at=at)
    github.install(app, owner)
    return World(github, app, {}, {"app": repository}, [])


async def counted(data: Path) -> tuple[int, int]:
    """Facts, and jobs that are not done."""
    store = await Store.open(f"sqlite:///{data / 'almanac.sqlite'}", read_only=True)
    with store.snapshot() as connection:
        facts = connection.execute(select(func.count()).select_from(FACT)).scalar_one()
        waiting = select(func.count()).select_from(JOB).where(JOB.c.state.in_(("ready", "running", "dead")))
        found = int(facts), int(connection.execute(waiting).scalar_one())
    await store.close()
    return found


@contextlib.asynccontextmanager
async def serving(almanac: Almanac) -> AsyncIterator[None]:
    await almanac.start()
    try:
        yield
    finally:
        await almanac.end(signal.SIGTERM)


async def given_up_long_ago(data: Path) -> None:
    """Dead letters of another installation's history, and of a look for what was missed."""
    await asyncio.to_thread(put_tables, data)
    async with await Store.open(f"sqlite:///{data / 'almanac.sqlite'}") as store:
        with store.transaction() as connection:
            row = {"ref_id": "{}", "state": "dead", "last_error": "old", "created_at": START, "run_at": START}
            for task, installation in (("backfill_pages", 77), ("record_landing", 77)):
                connection.execute(insert(JOB).values(row | {"task": task, "installation_id": installation}))


async def test_a_backfill_reads_the_history_without_a_running_bot(github: Simulator, tmp_path: Path) -> None:
    almanac = Almanac(github, world_of(github), tmp_path)
    await given_up_long_ago(tmp_path)
    code, out, errors = await almanac.typed("backfill", "acme/app")
    assert (code, errors.count("Traceback")) == (0, 0), errors
    assert f"1 repositories with {PULLS} closed pull requests" in out
    assert f"{PULLS} pull requests and {PULLS + 1} commits" in out
    assert await counted(tmp_path) == (PULLS + 1, 2)


@pytest.mark.parametrize("harm", ["401", "reset", "primary"])
async def test_an_unreachable_github_is_reported_in_one_line(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, harm: Kind
) -> None:
    monkeypatch.setattr(import_module("bot.github.client"), "retry_wait", lambda *_: 0.0)
    almanac = Almanac(github, world_of(github), tmp_path)
    await asyncio.to_thread(put_tables, tmp_path)
    github.faults.plan(harm, "* /app/*", times=99)
    assert await asyncio.to_thread(almanac.typed_here, "backfill", "acme/app") == 2
    (line,) = [one for one in capsys.readouterr().err.splitlines() if not one.startswith("{")]
    assert line.startswith("almanac: GitHub cannot be asked: ")


@pytest.mark.parametrize("command", [("backfill", "acme/app"), ("catch-up",)])
async def test_without_a_database_nothing_is_made(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    almanac = Almanac(github, world_of(github), tmp_path / "absent")
    assert await asyncio.to_thread(almanac.typed_here, *command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"almanac: no database at {tmp_path / 'absent' / 'almanac.sqlite'}: run this command where")
    assert not (tmp_path / "absent").exists()


async def test_a_catch_up_does_not_wait_for_a_github_that_does_not_answer(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "REACHED_WITHIN", 0.3)
    almanac = Almanac(github, world_of(github), tmp_path)
    await asyncio.to_thread(put_tables, tmp_path)
    github.faults.plan("slow", "* /app", times=99)
    assert await asyncio.to_thread(almanac.typed_here, "catch-up") == 2
    (line,) = [one for one in capsys.readouterr().err.splitlines() if not one.startswith("{")]
    assert line.startswith("almanac: GitHub cannot be asked: ")


async def test_a_running_process_is_asked_where_its_database_is(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    almanac = Almanac(github, world_of(github), tmp_path)
    await asyncio.to_thread(put_tables, tmp_path)
    async with serving(almanac):
        unheard = operator_requests.leave_request(tmp_path, "backfill", "nobody/else")
        assert await asyncio.to_thread(almanac.typed_here, "backfill", "acme") == 0
        read = capsys.readouterr()
        assert await asyncio.to_thread(almanac.typed_here, "catch-up") == 0
        looked = capsys.readouterr()
        assert (read.err, looked.err) == ("", "")
        assert "sent to the running process: 1 of 1 repositories" in read.out or "were already being read" in read.out
        assert "sent to the running process: the catch-up has started and runs" in looked.out
        assert operator_requests.read_result(unheard) == operator_requests.RequestResult(
            accepted=False, message="the App is not installed on nobody; install it there first"
        )
        for _ in range(100):
            if await counted(tmp_path) == (PULLS + 1, 0):
                break
            await asyncio.sleep(0.3)
        assert await counted(tmp_path) == (PULLS + 1, 0)
    assert list((tmp_path / "requests").iterdir()) == []


async def test_a_process_that_does_not_answer_is_named(tmp_path: Path) -> None:
    file = operator_requests.leave_request(tmp_path, "backfill", "acme/app")
    assert operator_requests.read_result(file) is None
    assert len(list((tmp_path / "requests").iterdir())) == 1
    operator_requests.withdraw_request(file)
    assert list((tmp_path / "requests").iterdir()) == []
