"""Is every delivery accepted, and does every link and snapshot stand, while each key is changed under load?

    python -m tests.campaigns.rotation [SECONDS]

`almanac serve` runs on SQLite behind a socket that stays open, as systemd keeps it, and is restarted twice while signed
deliveries arrive and a simulated organisation lands work: the webhook secret, the App's key, and the keys of links and
snapshots are changed by the commands of docs/operations.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec import Struct
from sqlalchemy import select

from bot.app import build
from bot.configuration.signing import is_signed
from bot.model.ids import InstallationId, Month, PersonKey
from bot.store import links, snapshots
from bot.store.ledger import FACT
from bot.store.links import Link
from bot.store.visibility import subject_of_person
from bot.web.month_snapshots import take_month_snapshots
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.world import World, build_world, play_next
from tests.campaigns.flood import delivery, request_status
from tests.databases import put_tables

ROOT = Path(__file__).parents[2]
NEW_SECRET = "the new webhook secret of the simulated GitHub"
_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.set_inheritable(3, True); "
    "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); "
    "os.execv(sys.executable, [sys.executable, '-m', 'bot', 'serve'])"
)


class RotationOutcome(Struct, frozen=True):
    """What was answered while the keys were changed, and afterwards."""

    statuses: dict[str, int]
    """of signed deliveries"""
    slowest: float
    old_secret: str
    """the status of a delivery signed with the secret that was taken out"""
    link: tuple[int, int, int]
    """of an old link: before, with both keys, with the new key alone"""
    keys: tuple[int, int]
    """how many keys of snapshots are published before and after"""
    verified: bool
    """whether an old snapshot's signature fits one of those published after"""
    posts: tuple[int, int]
    """check runs while both keys of the App are valid, and after the old one was deleted at GitHub and a restart"""

    @property
    def complete(self) -> bool:
        return (
            set(self.statuses) == {"202"}
            and (self.old_secret, self.link, self.keys) == ("403", (200, 200, 404), (1, 2))
            and self.verified
            and 0 < self.posts[0] < self.posts[1]
        )


class Bot:
    """`almanac serve` on a socket that outlives it."""

    def __init__(self, data: Path, environment: Mapping[str, str]) -> None:
        self.data, self.environment = data, dict(environment)
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = int(self._socket.getsockname()[1])
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        number = self._socket.fileno()
        with (self.data / "log.txt").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _LAUNCH, str(number)),
                env=os.environ | self.environment,
                pass_fds=(number,),
                stdout=log,
                stderr=log,
            )
        assert await request_status(self.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") == "200", self.log()

    async def restart(self, **changed: str) -> None:
        self.environment |= changed
        await self.stop()
        await self.start()

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(self._process.wait(), 60)

    async def get(self, path: str) -> tuple[int, str]:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{self.port}{path}", allow_redirects=False) as answer,
        ):
            return answer.status, await answer.text()

    def log(self) -> str:
        return (self.data / "log.txt").read_text()[-3000:]

    def close(self) -> None:
        self._socket.close()


def documented(heading: str) -> list[str]:
    """The blocks of commands in a section of the operations page."""
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


async def _run_documented(block: str, folder: Path) -> None:
    shell = await asyncio.create_subprocess_exec("sh", "-ec", block, cwd=folder)
    assert await shell.wait() == 0, block


def new_key() -> tuple[str, str]:
    """(private, public) PEM of another key of the App."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def _environment(github: Simulator, world: World, data: Path) -> dict[str, str]:
    return {
        "ALMANAC_APP_ID": str(world.app.id),
        "ALMANAC_PRIVATE_KEY": world.app.private_key,
        "ALMANAC_WEBHOOK_SECRET": world.app.webhook_secret,
        "ALMANAC_GITHUB_URL": github.url,
        "ALMANAC_DATA": str(data),
        "ALMANAC_DATABASE_URL": f"sqlite:///{data / 'almanac.sqlite'}",
        "ALMANAC_WRITE_GAP": "0",
        "ALMANAC_BACKFILL": "off",
    }


async def _link_and_snapshot(github: Simulator, world: World, data: Path) -> tuple[str, str]:
    """Land some work; the token of a link to its author, and the text of a signed snapshot of that page."""
    async with build(settings_for(github, world, data)) as bot:
        app = bot.web_app()
        runner = aiohttp.web.AppRunner(app)
        await runner.setup()
        site = aiohttp.web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        world.app.webhook_url = f"http://127.0.0.1:{runner.addresses[0][1]}/webhook"
        for _ in range(3):
            await play_next(world)
        await github.wait_until_idle()
        await bot.queue.drain()
        assert world.installation is not None
        with bot.store.snapshot() as connection:
            key, landed = connection.execute(select(FACT.c.author_key, FACT.c.landed_at).limit(1)).one()
        link = Link(subject_of_person(PersonKey(key)), InstallationId(world.installation.id))
        token = await bot.store.write(links.mint, link, secret=bot.pages.secret, now=bot.timing.clock())
        month = Month(datetime.fromtimestamp(landed, UTC).strftime("%Y-%m"))
        assert await take_month_snapshots(bot.pages, PersonKey(key), month)
        with bot.store.snapshot() as connection:
            entries = snapshots.snapshot_entries(connection, [PersonKey(key)])
        await runner.cleanup()
    return token, str(entries[0].id)


@contextlib.asynccontextmanager
async def _load(port: int, secret: Callable[[], str], rate: float) -> AsyncIterator[tuple[Counter[str], list[float]]]:
    """Send signed deliveries at this rate while the block runs, and wait for every answer."""
    statuses, seconds = Counter[str](), list[float]()
    stopping = asyncio.Event()

    async def send(number: int) -> None:
        begun = time.monotonic()
        statuses[await request_status(port, delivery(number, secret()))] += 1
        seconds.append(time.monotonic() - begun)

    async def send_all() -> None:
        async with asyncio.TaskGroup() as tasks:
            number = 0
            while not stopping.is_set():
                number += 1
                tasks.create_task(send(number))
                await asyncio.sleep(1 / rate)

    sending = asyncio.create_task(send_all())
    try:
        yield statuses, seconds
    finally:
        stopping.set()
        await sending


async def rotate(seconds: float = 0.2, rate: float = 10.0) -> RotationOutcome:
    """Change every key under load, `seconds` before and after each step."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        data = Path(name) / "almanac-data"
        await asyncio.to_thread(put_tables, data)
        async with Simulator() as github:
            world = build_world(github, datetime.now(UTC))
            token, snapshot = await _link_and_snapshot(github, world, data)
            bot = Bot(data, _environment(github, world, data))
            world.app.webhook_url = f"http://127.0.0.1:{bot.port}/webhook"
            try:
                await bot.start()
                async with _load(bot.port, lambda: world.app.webhook_secret, rate) as (statuses, times):
                    found = await _turn(bot, world, (token, snapshot), seconds)
                await bot.stop()
            finally:
                await bot.stop()
                bot.close()
            log = github.deliveries.log
            statuses.update(str(one.status_code) for one in log)
    return RotationOutcome(dict(statuses), round(max(times), 2), *found)


async def _turn(bot: Bot, world: World, given: tuple[str, str], seconds: float) -> tuple[object, ...]:
    """Change all keys in two restarts: with old and new beside each other, then with the new ones alone."""
    github, folder, link = world.github, bot.data.parent, f"/p/{given[0]}"
    add, take_out, turn = documented("Changing the keys of links and snapshots")
    old_secret, (private, public) = world.app.webhook_secret, new_key()

    async def work() -> int:
        """Land some work in the time; how many check runs there are in the end."""
        await play_next(world)
        await asyncio.sleep(seconds)
        return await _posted(github)

    before = await bot.get(link), len(await _keys(bot))
    await work()
    world.app.other_keys.append(public)
    await _run_documented(add, folder)
    await _run_documented(turn, folder)
    both = f"{NEW_SECRET},{old_secret}"
    await bot.restart(ALMANAC_WEBHOOK_SECRET=both, ALMANAC_PRIVATE_KEY=private)
    meanwhile = await bot.get(link)
    envelope = json.loads((await bot.get(f"{link}/snapshots/{given[1]}"))[1])
    first = await work()
    world.app.webhook_secret = NEW_SECRET
    world.app.public_key, world.app.other_keys = public, []
    await work()
    await _run_documented(take_out, folder)
    await bot.restart(ALMANAC_WEBHOOK_SECRET=NEW_SECRET)
    second = await work()
    keys = await _keys(bot)
    verified = any(is_signed(envelope["profile"], envelope["signature"], key) for key in keys)
    after = await bot.get(link)
    refused = await request_status(bot.port, delivery(0, old_secret))
    return refused, (before[0][0], meanwhile[0], after[0]), (before[1], len(keys)), verified, (first, second)


async def _keys(bot: Bot) -> list[str]:
    published = json.loads((await bot.get("/.well-known/almanac-key.json"))[1])
    return [one["public_key"] for one in published["keys"]]


async def _posted(github: Simulator) -> int:
    """Check runs that were posted, once no more come."""
    seen, before = 0, -1
    while seen != before:
        await asyncio.sleep(0.5)
        before, seen = seen, github.count("^POST .*/check-runs$")
    return seen


def main() -> None:
    outcome = asyncio.run(rotate(float(sys.argv[1]) if len(sys.argv) > 1 else 15.0, 50.0))
    print(outcome)
    sys.exit(0 if outcome.complete else 1)


if __name__ == "__main__":
    main()
