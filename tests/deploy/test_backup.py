"""Does the backup that the operations page describes restore completely if it is taken while the bot runs?"""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.app import build
from bot.store.dump import canonical_dump
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.world import build_world, play_next
from tests.path.running import running
from tests.simulator.calling import AT
from tests.test_repository import ROOT

PAGE = ROOT / "docs" / "operations.md"


def commands() -> list[str]:
    """The two commands of the page's section on back-ups, as an operator would paste them."""
    found = re.search(r"^## Back-up and restore\n.*?```sh\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found
    return found[1].strip().splitlines()


def pasted(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of the page, run as a shell would."""
    return subprocess.run(shlex.split(line), cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="NO sqlite3 PROGRAM: the back-up was not tried")
async def test_a_backup_taken_while_the_bot_runs_restores_the_same_record(github: Simulator, tmp_path: Path) -> None:
    world = build_world(github, AT)
    (tmp_path / "almanac-data").mkdir()
    async with running(github, world, tmp_path / "almanac-data") as found:
        for _ in range(4):
            await play_next(world)
        await found.drained()
        told = [
            await asyncio.to_thread(pasted, line.replace("almanac.db", "almanac.sqlite"), tmp_path)
            for line in commands()
        ]
        assert [(one.returncode, one.stderr) for one in told] == [(0, "")] * len(told)
        assert told[-1].stdout == "ok\n"
        before, counted = await canonical_dump(found.bot.store), github.count("^POST .*/check-runs$")
    restored = tmp_path / "restored"
    restored.mkdir()
    shutil.move(tmp_path / "backup.db", restored / "almanac.sqlite")
    for key in ("links.key", "snapshots.key"):
        shutil.copy(tmp_path / "almanac-data" / key, restored / key)
    async with build(settings_for(github, world, restored)) as again:
        assert await canonical_dump(again.store) == before
        assert again.pages.secret == found.bot.pages.secret
    assert counted > 0, "there was something to lose"
