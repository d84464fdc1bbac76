"""Who is dropped when there are too many connections, or one takes too long?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from msgspec.structs import replace

from bot.web.connections import Bounds, ConnectionGroup, ConnectionLimits, OpenConnections, Phase
from bot.web.peers import KnownSenders
from bot.web.server import BoundedRunner

LIMITS = ConnectionLimits(
    strangers=Bounds(6, 4), stranger=Bounds(4, 2), known=Bounds(8, 6), known_peer=Bounds(6, 4), body_seconds=8
)


class FakeConnection:
    def __init__(self, peer: str) -> None:
        self.peer, self.phase, self.since, self.known = peer, Phase.HEAD, 0.0, False
        self.group: ConnectionGroup | None = None
        self.open = True

    def drop(self) -> None:
        self.open = False


class World:
    def __init__(self) -> None:
        self.now, self.senders = 0.0, KnownSenders(timer=lambda: self.now)
        self.registry = OpenConnections(LIMITS, self.senders, timer=lambda: self.now)

    def connect(self, peer: str, phase: Phase = Phase.HEAD) -> FakeConnection:
        self.now += 0.01
        one = FakeConnection(peer)
        self.registry.add(one)
        self.registry.change_phase(one, phase)
        return one


@pytest.fixture
def world() -> World:
    return World()


def test_one_peers_half_heads_drop_its_oldest(world: World) -> None:
    made = [world.connect("a") for _ in range(5)]
    assert [one.open for one in made] == [False, False, False, True, True]
    assert world.connect("b").open
    assert made[3].open, "another peer has its own bounds"


def test_bodies_are_dropped_oldest_first_and_work_is_not(world: World) -> None:
    working = world.connect("a", Phase.WORK)
    bodies = [world.connect("a", Phase.BODY) for _ in range(5)]
    assert [one.open for one in bodies] == [False, False, True, True, True]
    assert working.open


def test_all_strangers_together_have_one_bound(world: World) -> None:
    made = [world.connect(f"peer {number}", Phase.BODY) for number in range(20)]
    assert [one.open for one in made] == [False] * 14 + [True] * 6
    assert len(world.registry) == 6


def test_strangers_do_not_touch_a_known_sender(world: World) -> None:
    world.senders.add("github")
    ours = [world.connect("github", Phase.IDLE) for _ in range(5)]
    for number in range(100):
        world.connect(f"peer {number}", Phase.BODY)
    assert all(one.open for one in ours)


def test_a_stranger_that_signs_well_moves_to_the_known(world: World) -> None:
    one = world.connect("github", Phase.WORK)
    world.registry.recognise(one)
    for number in range(100):
        world.connect(f"peer {number}", Phase.WORK)
    assert one.open
    assert len(world.registry) == 7
    world.registry.remove(one)
    world.registry.remove(one)
    assert len(world.registry) == 6


def test_from_the_senders_own_address_the_newest_survives(world: World) -> None:
    world.senders.add("github")
    for _ in range(50):
        world.connect("github", Phase.BODY)
        world.connect("github")
    newest = world.connect("github")
    assert newest.open
    assert len(world.registry) <= LIMITS.known_peer.connections


@pytest.mark.parametrize(
    ("phase", "seconds"), [(Phase.HEAD, 5), (Phase.BODY, 8), (Phase.IDLE, 75), (Phase.ANSWER, 30), (Phase.WORK, None)]
)
def test_each_phase_has_its_time(world: World, phase: Phase, seconds: int | None) -> None:
    one = world.connect("a", phase)
    if seconds is None:
        world.now += 10_000
    else:
        world.now += seconds - 0.1
        world.registry.drop_late()
        assert one.open
        world.now += 0.2
    world.registry.drop_late()
    assert one.open is (seconds is None)


@pytest.mark.parametrize("files", [64, 256, 1024, 8192, 1_000_000])
def test_the_bounds_are_below_the_limit_on_open_files(files: int) -> None:
    limits = ConnectionLimits.for_files(files)
    assert limits.strangers.connections + limits.known.connections <= max(files - 256, 48)
    assert limits.stranger.connections < limits.strangers.connections
    assert limits.known_peer.connections < limits.known.connections


# --- on a real server ------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def served(limits: ConnectionLimits) -> AsyncIterator[tuple[OpenConnections, int]]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", answer)
    registry = OpenConnections(limits, KnownSenders())
    runner = BoundedRunner(app, registry)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield registry, int(runner.addresses[0][1])
    await runner.cleanup()


async def test_half_heads_are_closed_and_requests_answered() -> None:
    async with served(LIMITS) as (registry, port):
        halves = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        for _, writer in halves:
            writer.write(b"GET / HTTP/1.1\r\nHost:")
        assert [await reader.read() for reader, _ in halves[:2]] == [b"", b""]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in await reader.readline()
        assert registry.dropped == {"too many of one peer": 3}


async def test_a_head_that_does_not_end_is_dropped() -> None:
    async with served(replace(LIMITS, head_seconds=0.0)) as (registry, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost:")
        await asyncio.sleep(0.02)
        registry.drop_late()
        assert await reader.read() == b""


async def test_a_head_that_is_too_large_is_dropped() -> None:
    async with served(LIMITS) as (registry, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 4000) for n in range(40)))
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
        assert registry.dropped == {"head too large": 1}


async def test_a_connection_is_idle_between_requests_and_counted_once() -> None:
    async with served(LIMITS) as (registry, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"hello" in await reader.readuntil(b"hello")
            assert len(registry) == 1
        writer.close()
        await writer.wait_closed()
        await asyncio.sleep(0.02)
        assert len(registry) == 0
