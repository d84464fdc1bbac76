"""Does a pull request that is opened, reviewed and squash-merged on the emulator reach the bot's record?"""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import aiohttp
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.acceptance import emulator
from tests.acceptance.emulator import AUTHOR, REPOSITORY, REVIEWER, Person
from tests.acceptance.gaps import PREFIX, Proxy
from tests.acceptance.months import two_months

SECRET = "acceptance only and long enough for the door"
CODE = '''"""Pilotage by tide."""


def pilot_needed(draught: float, depth: float) -> bool:
    """Whether a ship of this draught needs a pilot in water of this depth, both in metres."""
    return depth - draught < 1.5
'''
TEST = """from pilotage import pilot_needed


def test_shallow_water_needs_a_pilot() -> None:
    assert pilot_needed(4.0, 5.0)
"""


class FailedError(Exception):
    """An expected result did not appear."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def new_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    return key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, plain).decode()


async def until(what: str, look: Callable[[], Awaitable[Any]], *, seconds: float = 60) -> Any:
    """Call `look` until it finds something, and return that. Raises FailedError."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := await look():
            print(f"ok   {what}", flush=True)
            return found
        await asyncio.sleep(0.2)
    raise FailedError(f"{what}: not seen within {seconds:.0f} s")


def settings(folder: Path, key: str, proxy: Proxy, *, port: int) -> dict[str, str]:
    """The bot's environment: the documented settings and nothing else."""
    return {
        **os.environ,
        "ALMANAC_APP_ID": str(emulator.APP_ID),
        "ALMANAC_PRIVATE_KEY": key,
        "ALMANAC_WEBHOOK_SECRET": SECRET,
        "ALMANAC_GITHUB_URL": proxy.url,
        "ALMANAC_DATABASE_URL": f"sqlite:///{folder / 'almanac.db'}",
        "ALMANAC_DATA": str(folder / "data"),
        "ALMANAC_PORT": str(port),
    }


async def start_bot(folder: Path, environment: dict[str, str], *, port: int) -> asyncio.subprocess.Process:
    """Start `almanac serve` and wait until its port answers. Raises FailedError with the end of its log."""
    program = Path(sys.executable).with_name("almanac")
    log = (folder / "bot.log").open("wb")
    bot = await asyncio.create_subprocess_exec(
        str(program), "serve", cwd=folder, env=environment, stdout=log, stderr=log
    )

    async def listens() -> bool:
        if bot.returncode is not None:
            raise FailedError(f"almanac serve ended with {bot.returncode}:\n{(folder / 'bot.log').read_text()[-3000:]}")
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return True
        return False

    await until("the bot serves", listens, seconds=30)
    return bot


async def end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 20)
        except TimeoutError:
            process.kill()


async def land_a_pull_request(author: Person, reviewer: Person) -> str:
    """Has one person open a pull request, another approve it, and squash-merges it; returns the commit id on main."""
    main = await author.ask("GET", f"/repos/{REPOSITORY}/git/ref/heads/main")
    await author.ask("POST", f"/repos/{REPOSITORY}/git/refs", ref="refs/heads/pilotage", sha=main["object"]["sha"])
    await author.write("src/pilotage.py", CODE, branch="pilotage", message="Say when a pilot is needed")
    await author.write("tests/test_pilotage.py", TEST, branch="pilotage", message="Test it")
    title = "feat: say when a pilot is needed"
    pull = await author.ask(
        "POST", f"/repos/{REPOSITORY}/pulls", title=title, body="By draught.", head="pilotage", base="main"
    )
    here = f"/repos/{REPOSITORY}/pulls/{pull['number']}"
    await reviewer.ask("POST", f"{here}/reviews", event="APPROVE", body="Fair winds.")
    merged = await author.ask(
        "PUT", f"{here}/merge", merge_method="squash", commit_title=f"{title} (#{pull['number']})"
    )
    return str(merged["sha"])


def recorded(folder: Path) -> tuple[int, int]:
    """(commits, authored and test lines) over everybody, from the bot's totals; zeros before there are any."""
    database = sqlite3.connect(f"file:{folder / 'almanac.db'}?mode=ro", uri=True)
    try:
        sums = "SELECT COALESCE(SUM(commits), 0), COALESCE(SUM(lines_authored + lines_tests), 0) FROM totals"
        commits, lines = database.execute(sums).fetchone()
        return int(commits), int(lines)
    finally:
        database.close()


async def look_at_the_record(folder: Path, proxy: Proxy, author: Person, *, landed: str) -> None:
    """Check that the delivery was answered, the metrics moved, the check run exists, and all tokens are narrow."""

    async def delivered() -> bool:
        return ("pull_request", "closed", 202) in proxy.handled

    async def counted() -> bool:
        return recorded(folder)[0] >= 1

    async def checked() -> Any:
        runs = await author.ask("GET", f"/repos/{REPOSITORY}/commits/{landed}/check-runs")
        return [run for run in runs["check_runs"] if run["conclusion"] == "neutral"]

    await until("the signed delivery was accepted with 202", delivered)
    await until("the metrics moved", counted)
    (run, *others) = await until("a neutral check run stands on the landed commit", checked)
    if others:
        raise FailedError(f"{len(others) + 1} check runs instead of one")
    expected = len(CODE.splitlines()) + len(TEST.splitlines())
    if recorded(folder) != (1, expected):
        raise FailedError(f"recorded (commits, lines) are {recorded(folder)}, expected {(1, expected)}")
    print(f"ok   1 commit and {expected} lines recorded; check run: {run['output']['title']!r}")
    tokens = (await author.ask("GET", "/_emulate/installation-tokens"))["installation_tokens"]
    # Listing the repositories is the one thing that a token for a single repository cannot do.
    discovery = {"metadata": "read"}
    narrow = [one for one in tokens if one["repository_selection"] == "selected" or one["permissions"] == discovery]
    wide = len(tokens) - len(narrow)
    if not tokens or wide:
        raise FailedError(f"{wide} of {len(tokens)} tokens are wider than their job: {tokens}")
    print(f"ok   {len(tokens)} tokens minted, none wider than its job")


async def run() -> None:
    key, port, emulator_port = new_key(), free_port(), free_port()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="acceptance-")))
        proxy = Proxy(
            f"http://127.0.0.1:{emulator_port}",
            f"http://127.0.0.1:{port}/webhook",
            (REPOSITORY,),
            {"rowan@example.org": AUTHOR},
        )
        await proxy.start()
        stack.push_async_callback(proxy.stop)
        seeded = emulator.seed(key, SECRET, webhook_url=f"{proxy.url}/deliveries")
        running = await emulator.start(seeded, folder, port=emulator_port, shown_as=proxy.url + PREFIX)
        stack.push_async_callback(end, running)
        bot = await start_bot(folder, settings(folder, key, proxy, port=port), port=port)
        stack.push_async_callback(end, bot)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        author, reviewer = (Person(session, proxy.emulator, login) for login in (AUTHOR, REVIEWER))
        landed = await land_a_pull_request(author, reviewer)
        print(f"ok   a pull request was opened, approved and squash-merged as {landed[:12]}")
        try:
            await look_at_the_record(folder, proxy, author, landed=landed)
            await end(bot)
            await two_months(author, key, SECRET, proxy)
            print("ok   two months are one issue with two comments; a late revert edited the first in place")
        except FailedError:
            print("deliveries:", proxy.handled, "refused by the emulator:", proxy.refused, sep="\n  ", file=sys.stderr)
            print((folder / "bot.log").read_text()[-4000:], file=sys.stderr)
            raise


def main() -> int:
    try:
        asyncio.run(run())
    except (
        FailedError,
        emulator.UnusableEmulatorError,
        AssertionError,
        sqlite3.Error,
        subprocess.SubprocessError,
    ) as problem:
        print(f"acceptance failed: {problem}", file=sys.stderr)
        return 1
    print("acceptance passed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
