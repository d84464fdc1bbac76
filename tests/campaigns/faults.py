"""Is `/readyz` true, and is nothing promised that is not stored, while `almanac serve` meets each fault of its file?

    python -m tests.campaigns.faults

The SQLite file is deleted, replaced, locked, full and damaged; a PostgreSQL server is stopped and frozen. Each fault
must turn `/readyz` and deliveries to 503, and all but damage must end by itself once the cause is gone. A second bot on
the file, and one on a read-only file system, must end with one line.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from tests.campaigns.flood import delivery, request_status, served
from tests.campaigns.worker_storm import Postgres
from tests.databases import put_tables

READY = b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
LONGEST = 75.0
"""seconds until a fault is seen: a small file is checked once a minute"""
_numbers = itertools.count(1)


class Answers(Struct, frozen=True):
    """What was answered after a change: `/readyz`, when it said so, how long it took at most, and a delivery."""

    change: str
    ready: str
    after: float
    slowest: float
    delivery: str


async def _answers(port: int, change: str, expected: str) -> Answers:
    begun, slowest, ready = time.monotonic(), 0.0, ""
    while ready != expected and time.monotonic() - begun < LONGEST:
        await asyncio.sleep(0.1 if ready else 0)
        asked = time.monotonic()
        ready = await request_status(port, READY)
        slowest = max(slowest, time.monotonic() - asked)
    after = time.monotonic() - begun
    stored = await request_status(port, delivery(next(_numbers)))
    return Answers(change, ready, round(after, 1), round(slowest, 2), stored)


class Watched:
    """A bot that runs while its database is changed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.found: list[tuple[Answers, bool]] = []

    async def change(self, what: str, do: Callable[[], object], ready: str) -> None:
        """Change something, and compare what is answered with `ready`, the status that `/readyz` must have."""
        await asyncio.to_thread(do)
        answers = await _answers(self._port, what, ready)
        stored = "202" if ready == "200" else "503"
        self.found.append((answers, (answers.ready, answers.delivery) == (ready, stored) and answers.slowest < 2))


async def run_faults() -> list[tuple[Answers, bool]]:
    """Each change of a SQLite file with what was answered, and whether that was right."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        await asyncio.to_thread(put_tables, folder)
        file, away = folder / "almanac.sqlite", folder / "away"
        async with served(folder, 1024) as (port, pid):
            usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            bot = Watched(port)
            await bot.change("deleted", lambda: file.rename(away), "503")
            await bot.change("replaced", lambda: file.write_bytes(b"another file"), "503")
            await bot.change("put back", lambda: away.replace(file), "200")
            await bot.change("locked", lambda: other.execute("BEGIN IMMEDIATE"), "503")
            await bot.change("unlocked", lambda: other.execute("ROLLBACK"), "200")
            await bot.change("full", lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, (1000, usual[1])), "503")
            await bot.change("room again", lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, usual), "200")
            bot.found.append(await _second_bot(pid))
            await bot.change("damaged", lambda: _damage(file), "503")
    return [*bot.found, await _read_only_start()]


async def run_server_faults() -> list[tuple[Answers, bool]]:
    """Each change of a PostgreSQL server with what was answered, and whether that was right."""
    server = await asyncio.to_thread(Postgres)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            async with served(Path(name), 1024, database=server.url) as (port, _):
                bot = Watched(port)
                await bot.change("PostgreSQL stopped", server.stop, "503")
                await bot.change("started", server.start, "200")
                await bot.change("PostgreSQL frozen", lambda: server.send(signal.SIGSTOP), "503")
                await bot.change("thawed", lambda: server.send(signal.SIGCONT), "200")
    finally:
        server.send(signal.SIGCONT)
        await asyncio.to_thread(server.end)
    return bot.found


async def _read_only_start() -> tuple[Answers, bool]:
    """Start a bot whose data are on a read-only file system, which only root can make."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        mounted = await _run("mount", "-t", "tmpfs", "none", name)
        if mounted:
            return Answers("read-only file system", "not tried: only root can mount one", 0.0, 0.0, "-"), True
        try:
            await asyncio.to_thread(put_tables, Path(name))
            await _run("mount", "-o", "remount,ro", name)
            url = f"sqlite:///{name}/almanac.sqlite"
            begun, said = time.monotonic(), ""
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
                try:
                    async with served(Path(data), 1024, database=url):
                        pass
                except RuntimeError as error:
                    said = str(error).strip().splitlines()[-1]
        finally:
            await _run("umount", name)
    is_right = "Read-only file system" in said or "readonly database" in said
    return Answers("read-only file system", said[-60:], round(time.monotonic() - begun, 1), 0.0, "-"), is_right


async def _run(*words: str) -> int:
    done = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.DEVNULL)
    return await done.wait()


async def _second_bot(pid: int) -> tuple[Answers, bool]:
    """Start another bot with the same settings."""
    environment = await asyncio.to_thread(Path(f"/proc/{pid}/environ").read_text)
    given = dict(line.partition("=")[::2] for line in environment.split("\0"))
    second = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "serve"),
        env=os.environ | given | {"ALMANAC_PORT": "0"},
        stderr=asyncio.subprocess.PIPE,
    )
    begun = time.monotonic()
    _, said = await asyncio.wait_for(second.communicate(), 60)
    lines = said.decode().strip().splitlines()
    refused = second.returncode == 2 and f"is in use by process {pid}" in lines[-1]
    return Answers("second bot", f"exit {second.returncode}", round(time.monotonic() - begun, 1), 0.0, "-"), refused


def _damage(file: Path) -> None:
    """Overwrite most pages in place."""
    with file.open("r+b") as opened:
        opened.seek(3 * 4096)
        opened.write(b"\xff" * (file.stat().st_size - 6 * 4096))


def main() -> None:
    outcomes = [*asyncio.run(run_faults()), *asyncio.run(run_server_faults())]
    for answers, is_right in outcomes:
        print("ok   " if is_right else "WRONG", answers)
    sys.exit(0 if all(is_right for _, is_right in outcomes) else 1)


if __name__ == "__main__":
    main()
