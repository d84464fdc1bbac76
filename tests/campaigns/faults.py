"""Is `/readyz` true, and is nothing promised that is not stored, while `almanac serve` meets each fault of its file?

    python -m tests.campaigns.faults

The SQLite file is deleted, replaced, locked, full and damaged. Each fault must turn `/readyz` and deliveries to 503,
and all but damage must end by itself once the cause is gone. A second bot on the file must be refused meanwhile.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from tests.campaigns.flood import delivery, request_status, served
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


async def run_faults() -> list[tuple[Answers, bool]]:
    """Each change with what was answered, and whether that was right."""
    found: list[tuple[Answers, bool]] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        await asyncio.to_thread(put_tables, folder)
        file, away = folder / "almanac.sqlite", folder / "away"
        async with served(folder, 1024) as (port, pid):

            async def change(what: str, do: Callable[[], object], ready: str) -> None:
                do()
                answers = await _answers(port, what, ready)
                stored = "202" if ready == "200" else "503"
                found.append((answers, (answers.ready, answers.delivery) == (ready, stored) and answers.slowest < 2))

            usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            other = sqlite3.connect(file, isolation_level=None)
            await change("deleted", lambda: file.rename(away), "503")
            await change("replaced", lambda: file.write_bytes(b"another file"), "503")
            await change("put back", lambda: away.replace(file), "200")
            await change("locked", lambda: other.execute("BEGIN IMMEDIATE"), "503")
            await change("unlocked", lambda: other.execute("ROLLBACK"), "200")
            await change("full", lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, (1000, usual[1])), "503")
            await change("room again", lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, usual), "200")
            found.append(await _second_bot(pid))
            await change("damaged", lambda: _damage(file), "503")
    return found


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
    outcomes = asyncio.run(run_faults())
    for answers, is_right in outcomes:
        print("ok   " if is_right else "WRONG", answers)
    sys.exit(0 if all(is_right for _, is_right in outcomes) else 1)


if __name__ == "__main__":
    main()
