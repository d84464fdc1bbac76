"""Which periodic checks does the running bot make, each independent of the others?"""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from bot import app
from bot.services.context import Context
from bot.store import snapshots
from bot.store.visibility import public_people
from simulator.server import Simulator
from tests.services.landed import Town, town


async def _dated(there: Town) -> list[snapshots.SnapshotEntry]:
    with there.bot.store.snapshot() as connection:
        people = public_people(connection)
        return [one for person in people for one in snapshots.snapshot_entries(connection, [person.key])]


async def _looked(there: Town) -> None:
    """One look of the bot for what is over, and all the work that it asks for."""
    looking = asyncio.create_task(there.bot.close_months())
    try:
        async with asyncio.timeout(20):
            while not await _dated(there):
                await there.drained()
    finally:
        looking.cancel()


async def test_months_that_cannot_be_closed_delay_no_snapshot(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(world: Context) -> int:
        raise RuntimeError("a digest that cannot be told")

    monkeypatch.setattr(app, "close_months", broken)
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: add a lamp")
        await there.say(pull.issue, "/almanac public on", by="ada")
        there.clock.now = datetime(2031, 6, 3, tzinfo=UTC)
        await _looked(there)
        failed = [record.message for record in caplog.records if record.levelno >= logging.ERROR]
        assert failed == ["periodic work failed, trying again"]
        (taken,) = await _dated(there)
        assert taken.month == "2031-05"
        door = str(there.app.webhook_url).removesuffix("/webhook")
        async with aiohttp.ClientSession() as session, session.get(f"{door}/@ada/snapshots/{taken.id}.json") as answer:
            told = json.loads(await answer.text())
        assert json.loads(told["profile"])["overall"]["commits"] == 1
