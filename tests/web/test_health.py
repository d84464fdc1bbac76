"""Who may see how busy the bot is, and when does it call itself ready?"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.test_utils import TestClient, TestServer

from bot.configuration.logs import BoundedHandler, configure_logs, log_context
from bot.queue.worker import Worker
from bot.store.engine import Store, StoreUnavailableError
from bot.store.jobs import NewJob, add_jobs, park_unknown
from bot.web import health as probes
from bot.web.health import CACHED_SECONDS, Health
from bot.web.telemetry import Telemetry
from tests.campaigns.kill_storm import free_port
from tests.databases import fresh_database

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
TOKEN = "0123456789abcdef"


class Timer:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@contextlib.asynccontextmanager
async def probed(folder: Path, token: str = "") -> AsyncIterator[tuple[TestClient, Health, Timer]]:
    timer = Timer()
    async with await Store.open(f"sqlite:///{folder}/almanac.db") as store:
        health = Health(store, Worker(store), Telemetry({"push"}, {"record"}), lambda: NOW, token=token, timer=timer)
        app = web.Application()
        health.add_routes(app)
        async with TestClient(TestServer(app)) as client:
            yield client, health, timer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with fresh_database("sqlite", tmp_path):
        return tmp_path


async def _ready(client: TestClient) -> tuple[int, str]:
    response = await client.get("/readyz")
    return response.status, await response.text()


async def test_ready_is_a_database_that_can_be_written_and_a_worker_that_lives(folder: Path) -> None:
    async with probed(folder) as (client, health, timer):
        assert await _ready(client) == (503, "not ready: worker does not respond\n")
        health.worker.beat = time.monotonic()
        assert (await _ready(client))[0] == 503, "an answer stands for a while, as asking costs a write"
        timer.now += CACHED_SECONDS
        assert await _ready(client) == (200, "ready\n")
        health.worker.beat -= 4 * health.worker.pace.renew_every
        timer.now += CACHED_SECONDS
        assert (await _ready(client))[0] == 503


async def test_a_database_that_cannot_be_written_is_not_ready(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with probed(folder) as (client, health, _):
        health.worker.beat = time.monotonic()

        def full(*_: object) -> None:
            raise StoreUnavailableError("disk full")

        monkeypatch.setattr(probes, "touch_period", full)
        assert await _ready(client) == (503, "not ready: database is not writable\n")


async def test_metrics_are_local_unless_there_is_a_token(folder: Path) -> None:
    async with probed(folder) as (client, *_):
        assert (await client.get("/metrics")).status == 200
        (folder / "almanac.db").rename(folder / "away.db")
        text = await (await client.get("/metrics")).text()
        assert "almanac_ready 0.0" in text, "a lost database takes only its own numbers away"
        for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
            assert (await client.get("/metrics", headers={name: "203.0.113.9"})).status == 404


async def test_metrics_need_the_token(folder: Path) -> None:
    async with probed(folder, TOKEN) as (client, *_):
        for given, status in (("", 404), ("Bearer ", 404), ("Bearer é", 404), (TOKEN, 404), (f"Bearer {TOKEN}", 200)):
            assert (await client.get("/metrics", headers={"Authorization": given})).status == status


async def test_labels_are_bounded_and_name_nobody(folder: Path) -> None:
    async with probed(folder) as (client, health, _):
        with health.store.transaction() as connection:
            add_jobs(connection, [NewJob("record", "acme/secret", installation_id=7)], NOW)
        for number in range(50):
            health.telemetry.record_delivery(f"canary_{number}", 403, 0.01)
            health.telemetry.record_job(f"canary_{number}", "done", 0.01)
        health.telemetry.record_delivery("push", 202, 0.01)
        text = await (await client.get("/metrics")).text()
        assert "canary" not in text
        assert "acme" not in text
        assert 'almanac_deliveries_total{event="push",status="202"} 1.0' in text
        assert 'almanac_deliveries_total{event="other",status="403"} 50.0' in text
        assert 'almanac_queue_jobs{state="due"} 1.0' in text


SECRETS = ("ghs_canary0123456789", "github_pat_canary0123456789", "eyJcanary0123456789.canary", "v1.canary0123456789")


def test_a_log_line_has_its_context_and_contains_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    sink, root = io.StringIO(), logging.getLogger()
    kept, level = root.handlers[:], root.level
    monkeypatch.setattr("sys.stderr", sink)
    try:
        configure_logs("INFO")
        with log_context(delivery="guid-1"), log_context(job=7):
            for secret in SECRETS:
                logging.getLogger("bot.any").warning("refused: %s", secret)
            try:
                raise RuntimeError(SECRETS[0])
            except RuntimeError:
                logging.getLogger("bot.any").exception("failed with %s", {"token": SECRETS[1]})
        logging.getLogger("bot.any").info("later")
        logging.getLogger("aiohttp.server").error("a request", exc_info=BadHttpMessage("that is no HTTP"))
    finally:
        root.handlers[:], root.level = kept, level
    lines = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert "canary" not in sink.getvalue()
    assert [(line.get("delivery"), line.get("job")) for line in lines] == [("guid-1", 7)] * 5 + [(None, None)]


def test_lines_of_one_kind_are_counted_after_the_first_ten() -> None:
    timer, stream = Timer(), io.StringIO()
    handler = BoundedHandler(stream, timer=timer)
    logger = logging.Logger("test")
    logger.addHandler(handler)
    for number in range(500):
        logger.warning("address %s was refused", number)
    logger.error("address %s was refused", "x")
    assert len(stream.getvalue().splitlines()) == 11
    timer.now += 60
    logger.warning("another line")
    assert stream.getvalue().splitlines()[11:] == ["lines left out", "another line"]
    for number in range(2000):
        logger.warning(f"{number} is a kind of its own")
    assert len(stream.getvalue().splitlines()) < 530


async def test_a_deleted_database_is_not_ready_at_once(folder: Path) -> None:
    async with probed(folder) as (client, health, _):
        health.worker.beat = time.monotonic()
        assert await _ready(client) == (200, "ready\n")
        (folder / "almanac.db").rename(folder / "away.db")
        status, text = await _ready(client)
        assert (status, "was deleted while the bot runs: stop the bot" in text) == (503, True)
        (folder / "away.db").rename(folder / "almanac.db")
        assert (await _ready(client))[0] == 200


async def test_a_database_that_does_not_answer_is_not_ready(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "LONGEST_CHECK", 0.05)
    async with probed(folder) as (client, health, _):
        health.worker.beat = time.monotonic()
        monkeypatch.setattr(probes, "touch_period", lambda *_: time.sleep(0.2))
        assert await _ready(client) == (503, "not ready: database does not answer within 0.05 seconds\n")


async def test_parked_and_dead_jobs_are_named_and_unknown_ones_parked(folder: Path) -> None:
    async with probed(folder) as (client, health, timer):
        health.worker.beat = time.monotonic()
        jobs_added = [NewJob("of another version", run_at=NOW - timedelta(hours=1)), NewJob("known")]
        await health.store.write(add_jobs, jobs_added, NOW - timedelta(hours=1))
        status, text = await _ready(client)
        assert (status, text) == (503, "not ready: jobs do not move: the oldest has waited 60 minutes\n")
        parked = await health.store.write(park_unknown, {"known"}, NOW, after=timedelta(minutes=10))
        assert [task for _, task in parked] == ["of another version"]
        health.worker.running[1, 1] = asyncio.create_task(asyncio.sleep(0))
        timer.now += CACHED_SECONDS
        assert await _ready(client) == (200, "ready\njobs that need a look: 1 parked; run: almanac jobs list\n")
        assert await health.store.write(park_unknown, {"known", "of another version"}, NOW, after=timedelta(0)) == []
        timer.now += CACHED_SECONDS
        assert await _ready(client) == (200, "ready\n")


async def test_a_worker_answers_the_probes(folder: Path) -> None:
    async with probed(folder) as (_, health, _timer):
        health.worker.beat = time.monotonic()
        port = free_port()
        async with probes.serve_probes(health, "127.0.0.1", port), aiohttp.ClientSession() as session:
            for path in ("/healthz", "/readyz", "/metrics"):
                async with session.get(f"http://127.0.0.1:{port}{path}") as response:
                    assert response.status == 200, path
            async with probes.serve_probes(health, "127.0.0.1", port) as second:
                assert second == 0, "a taken port does not stop the worker"
