"""Would a bug in the door or in the health page be noticed? Each check passes, and fails once its bug is planted."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import logging
import resource
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec import Struct

from bot.configuration.logs import BoundedHandler
from bot.store.engine import Store
from bot.store.lock import ProcessLock
from bot.web import health as probes
from bot.web import webhook
from bot.web.body import BodyMemory
from bot.web.connections import ConnectionLimits, OpenConnections
from bot.web.failures import FailureLimiter
from bot.web.health import CACHED_PROBLEM, CACHED_SECONDS, Health
from bot.web.peers import KnownSenders
from bot.web.signature import Secrets
from tests.databases import put_tables
from tests.web.conftest import MakeHouse, sign
from tests.web.test_connections import FakeConnection
from tests.web.test_health import NOW, folder, probed
from tests.web.test_webhook import BODY, by_header

__all__ = ["folder"]
FORGED = "sha256=" + "0" * 64


class Site(Struct, frozen=True):
    """What a check uses."""

    folder: Path
    make_house: MakeHouse


# --- checks ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _full_disk(health: Health) -> Iterator[None]:
    """No file may grow in the block. The clock ticks, because SQLite writes no row that is the same as before."""
    ticks = itertools.count(1)
    health.clock = lambda: NOW + timedelta(seconds=next(ticks))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def _status(client: Any) -> int:
    return int((await client.get("/readyz")).status)


async def a_deleted_file_is_seen_at_once(site: Site) -> None:
    async with probed(site.folder) as (client, health, _):
        health.worker.beat = time.monotonic()
        assert await _status(client) == 200
        (site.folder / "almanac.db").rename(site.folder / "away.db")
        assert await _status(client) == 503


_FIFTY_PAGES = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 50) "
    "INSERT INTO unread SELECT hex(zeroblob(1900)) FROM n"
)


async def damage_that_nothing_reads_is_found(site: Site) -> None:
    async with probed(site.folder) as (client, health, _):
        health.worker.beat = time.monotonic()
        await health.store.write(lambda one: one.exec_driver_sql("CREATE TABLE IF NOT EXISTS unread (text)"))
        await health.store.write(lambda one: one.exec_driver_sql(_FIFTY_PAGES))
        await health.store.scrub(vacuum=False)
        file = site.folder / "almanac.db"
        with file.open("r+b") as opened:
            opened.seek(file.stat().st_size - 3 * 4096)
            opened.write(b"\xff" * 3 * 4096)
        await asyncio.to_thread(health.store.check_integrity)
        assert await _status(client) == 503


async def a_full_disk_is_not_ready(site: Site) -> None:
    async with probed(site.folder) as (client, health, timer):
        health.worker.beat = time.monotonic()
        assert await _status(client) == 200
        timer.now += CACHED_SECONDS
        with _full_disk(health):
            status = await _status(client)
        assert status == 503
        timer.now += CACHED_PROBLEM
        assert await _status(client) == 200


async def a_delivery_that_was_not_stored_is_seen_at_once(site: Site) -> None:
    async with probed(site.folder) as (client, health, _):
        health.worker.beat = time.monotonic()
        assert await _status(client) == 200
        with _full_disk(health):
            health.record_delivery("push", 403, 0.1)
            before = await _status(client)
            health.record_delivery("push", 503, 0.1)
            after = await _status(client)
        assert (before, after) == (200, 503), "what strangers send costs no write"


async def a_sender_that_signs_well_is_not_shut_out(site: Site) -> None:
    house = await site.make_house(address=by_header)
    assert await house.send(BODY) == 202
    for _ in range(25):
        await house.send(BODY, X_Hub_Signature_256=FORGED)
    assert await house.send(BODY) == 202


async def guessing_signatures_ends(site: Site) -> None:
    house = await site.make_house(address=by_header)
    assert [await house.send(BODY, X_Hub_Signature_256=FORGED) for _ in range(22)][-1] == 429


async def an_altered_body_is_refused(site: Site) -> None:
    house = await site.make_house()
    assert await house.send(BODY + b" ", X_Hub_Signature_256=sign(BODY)) == 403


async def announced_bytes_do_not_count(site: Site) -> None:
    house = await site.make_house(most_unknown=10_000)
    held = [await _announce(house.url, 9_000) for _ in range(3)]
    done, _ = await asyncio.wait({asyncio.create_task(reader.readline()) for reader, _ in held}, timeout=0.1)
    for _, writer in held:
        writer.transport.abort()
    assert not done


async def _announce(url: str, size: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Announce a body, and send one byte of it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.split(":")[2].split("/")[0]))
    head = f"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\nX-Hub-Signature-256: {FORGED}\r\n\r\n{{"
    writer.write(head.encode())
    await writer.drain()
    return reader, writer


async def received_bytes_are_bounded(_: Site) -> None:
    memory, dropped = BodyMemory(1000), list[int]()
    for number in range(20):
        memory.grow(number, 100, lambda number=number: dropped.append(number))  # type: ignore[misc]
    assert dropped == list(range(10))


async def connections_stay_below_the_limit_on_files(_: Site) -> None:
    registry = OpenConnections(ConnectionLimits.for_files(512), KnownSenders())
    for number in range(2000):
        registry.add(FakeConnection(f"peer {number}"))
    assert len(registry) < 512


async def half_heads_do_not_last(_: Site) -> None:
    now = 0.0
    registry = OpenConnections(ConnectionLimits.for_files(512), KnownSenders(), timer=lambda: now)
    one = FakeConnection("peer")
    registry.add(one)
    now = 6.0
    registry.drop_late()
    assert not one.open


async def lines_of_one_kind_are_bounded(_: Site) -> None:
    stream = io.StringIO()
    logger = logging.Logger("planted")
    logger.addHandler(BoundedHandler(stream))
    for number in range(500):
        logger.warning("address %s was refused", number)
    assert len(stream.getvalue().splitlines()) < 20


# --- bugs ------------------------------------------------------------------------------------------------------------

Plant = Callable[[pytest.MonkeyPatch], None]
Check = Callable[[Site], Awaitable[None]]


def _setting(where: object, name: str, planted: object) -> Plant:
    return lambda monkeypatch: monkeypatch.setattr(where, name, planted)


async def _read_as_announced(request: web.Request, **given: Any) -> bytes:
    memory: BodyMemory = given["memory"]
    memory.grow(object(), request.content_length or 0, lambda: request.content.set_exception(webhook.BodyError(429)))
    return await _read_body(request, **given)


_read_body = webhook.read_body
_looked: set[int] = set()


def _only_once(health: Health) -> bool:
    """Whether nobody has looked yet."""
    is_first = id(health) not in _looked
    _looked.add(id(health))
    return is_first


BUGS: dict[str, tuple[Plant, Check]] = {
    "no look at the file": (_setting(ProcessLock, "problem", lambda self: None), a_deleted_file_is_seen_at_once),
    "no check of the pages": (
        _setting(Store, "check_integrity", lambda self: None),
        damage_that_nothing_reads_is_found,
    ),
    "a finding that lasts": (
        _setting(Health, "_is_old", _only_once),
        a_full_disk_is_not_ready,
    ),
    "no trial write": (
        _setting(probes, "touch_period", lambda *given: None),
        a_full_disk_is_not_ready,
    ),
    "failed writes at the door forgotten": (
        _setting(Health, "record_delivery", lambda *given: None),
        a_delivery_that_was_not_stored_is_seen_at_once,
    ),
    "nobody is known": (_setting(KnownSenders, "add", lambda *given: None), a_sender_that_signs_well_is_not_shut_out),
    "guesses not counted": (_setting(FailureLimiter, "record_failure", lambda *given: None), guessing_signatures_ends),
    "any signature fits": (_setting(Secrets, "verify", lambda *given: True), an_altered_body_is_refused),
    "announced bytes counted": (_setting(webhook, "read_body", _read_as_announced), announced_bytes_do_not_count),
    "bodies without a bound": (_setting(BodyMemory, "grow", lambda *given: None), received_bytes_are_bounded),
    "more connections than files": (
        _setting(ConnectionLimits, "for_files", lambda files: _for_files(100_000)),
        connections_stay_below_the_limit_on_files,
    ),
    "half heads that stay": (_setting(OpenConnections, "drop_late", lambda self: None), half_heads_do_not_last),
    "a log without a bound": (_setting(BoundedHandler, "MOST_ALIKE", 10**9), lines_of_one_kind_are_bounded),
}
_for_files = ConnectionLimits.for_files


def _restore(folder: Path) -> None:
    for path in folder.glob("a*.db*"):
        path.unlink()
    put_tables(folder, "almanac.db")  # the tables were made before this loop ran


@pytest.mark.parametrize("bug", BUGS)
async def test_a_planted_bug_is_noticed(
    bug: str, folder: Path, make_house: MakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, check = BUGS[bug]
    site = Site(folder, make_house)
    await check(site)
    _restore(folder)
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        await check(site)
