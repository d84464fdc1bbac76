"""Does a process accept deliveries if others do the work, and before GitHub confirms the App?"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot import app
from bot.app import Timing
from bot.configuration.settings import Settings
from bot.configuration.values import GitHubAddress
from bot.github.payloads import answers
from bot.services import context
from bot.store import jobs
from bot.store.engine import Store
from tests.databases import fresh_database

SECRET = "a webhook secret of forty-one characters!"
MERGED = {
    "action": "closed",
    "installation": {"id": 5},
    "repository": {"id": 7},
    "pull_request": {"number": 3, "state": "closed", "merged": True},
}


def _settings(folder: Path, url: str) -> Settings:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    return Settings(
        app_id="99",
        private_key=pem.decode(),
        webhook_secrets=(SECRET,),
        database_url=url,
        data=folder,
        github=GitHubAddress("http://127.0.0.1:9", "http://127.0.0.1:9", "http://127.0.0.1:9/graphql"),
        host="127.0.0.1",
        port=port,
    )


async def _answered(settings: Settings, body: bytes) -> int:
    """The status of one delivery, sent as soon as somebody listens."""
    signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "one", "X-Hub-Signature-256": signature}
    url = f"http://{settings.host}:{settings.port}/webhook"
    async with aiohttp.ClientSession(headers=headers | {"Content-Type": "application/json"}) as session:
        async with asyncio.timeout(60):
            while True:
                try:
                    async with session.post(url, data=body) as answer:
                        return answer.status
                except aiohttp.ClientConnectionError:
                    await asyncio.sleep(0.02)


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    with fresh_database("sqlite", tmp_path) as url:
        yield _settings(tmp_path, url)


async def test_a_process_that_only_accepts_leaves_its_jobs_to_others(settings: Settings) -> None:
    stopping = asyncio.Event()
    serving = asyncio.create_task(app.serve(settings, stopping, working=False))
    try:
        assert await _answered(settings, json.dumps(MERGED).encode()) == 202
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{settings.host}:{settings.port}/readyz") as answer,
        ):
            assert (answer.status, await answer.text()) == (200, "ready\n")
    finally:
        stopping.set()
        await asyncio.wait_for(serving, 60)
    async with await Store.open(settings.database_url) as store:
        with store.snapshot() as connection:
            waiting = jobs.in_states(connection, ("ready",))
            assert jobs.counts(connection) == {"ready": len(waiting)}
    assert {(one.task, one.attempt) for one in waiting} == {("record_pull_request", 0), ("observe_pull_request", 0)}


@pytest.mark.parametrize("working", [True, False])
async def test_deliveries_are_accepted_before_github_confirms_the_app(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, *, working: bool
) -> None:
    asked = asyncio.Event()

    async def never(_: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(context, "read_app", never)
    stopping = asyncio.Event()
    serving = asyncio.create_task(app.serve(settings, stopping, working=working))
    assert await _answered(settings, json.dumps(MERGED).encode()) == 202
    assert asked.is_set()
    stopping.set()
    await asyncio.wait_for(serving, 60)
    async with await Store.open(settings.database_url) as store:
        with store.snapshot() as connection:
            assert jobs.counts(connection) == {"ready": 2}, "no job is begun in nobody's name"


async def test_the_apps_identity_is_requested_until_github_answers(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, known = 0, asyncio.Event()

    async def late(_: object) -> answers.App:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise OSError("out of reach")
        known.set()
        return answers.App(7, "almanac")

    monkeypatch.setattr(context, "read_app", late)
    async with app.build(settings, Timing(close_every=0.0), asking=False) as bot:
        closing = asyncio.create_task(bot.close_months())
        await asyncio.wait_for(known.wait(), 60)
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        assert (bot.context.ourselves.id, bot.context.ourselves.login) == (7, "almanac[bot]")
    assert asked == 3
