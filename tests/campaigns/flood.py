"""Is every signed delivery accepted in time while strangers hold connections open?

    python -m tests.campaigns.flood [--seconds 600] [--rate 50] [--bodies 1000] [--heads 5000] [--pages 200]
                                    [--files 1024] [--own-address]

`almanac serve` runs on SQLite under a limit on open files. Another process holds bodies and half heads open and
requests pages, from many loopback addresses or from the sender's own, and opens each connection again that is dropped.
Every signed delivery must be answered 202.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from msgspec import Struct

from tests.campaigns.kill_storm import free_port
from tests.databases import put_tables

SECRET = "a webhook secret for a campaign: long enough"
OWN = "127.0.0.1"
STRANGERS = tuple(f"127.0.{number // 250}.{2 + number % 250}" for number in range(400))
AGAIN = (2.0, 8.0)
"""seconds until a dropped connection is opened again"""


class Load(Struct, frozen=True):
    """What is sent."""

    seconds: float = 600.0
    rate: float = 50.0
    bodies: int = 1000
    heads: int = 5000
    pages: int = 200
    files: int = 1024
    own: bool = False
    """whether the strangers share the sender's address"""


class FloodOutcome(Struct, frozen=True):
    """What was answered."""

    statuses: dict[str, int]
    p50: float
    p99: float
    slowest: float
    log_bytes: int
    files: int
    """the most files that the server had open"""
    megabytes: int
    """the most memory that it used"""
    ready: dict[str, int]
    """answers of `/readyz` meanwhile"""

    @property
    def all_accepted(self) -> bool:
        return set(self.statuses) == {"202"} and set(self.ready) == {"200"}


@contextlib.asynccontextmanager
async def served(
    folder: Path, files: int, *, database: str = "", changed: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[int, int]]:
    """`almanac serve` under this limit on open files; yields its port and process id.

    It runs on SQLite in the folder unless `database` names another one; `changed` settings win.
    """
    port = free_port()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    environment = os.environ | {
        "ALMANAC_APP_ID": "1",
        "ALMANAC_PRIVATE_KEY": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        "ALMANAC_WEBHOOK_SECRET": SECRET,
        "ALMANAC_GITHUB_URL": "http://127.0.0.1:9",
        "ALMANAC_DATA": str(folder),
        "ALMANAC_DATABASE_URL": database or f"sqlite:///{folder / 'almanac.sqlite'}",
        "ALMANAC_PORT": str(port),
        "ALMANAC_BACKFILL": "off",
        **(changed or {}),
    }
    command = f'ulimit -n {files}; exec "{sys.executable}" -m bot serve'
    with (folder / "log.txt").open("ab") as log:
        process = await asyncio.create_subprocess_exec("sh", "-c", command, env=environment, stdout=log, stderr=log)
    try:
        await _answering(port, folder, process)
        yield port, process.pid
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()
            await process.wait()


async def _answering(port: int, folder: Path, process: asyncio.subprocess.Process) -> None:
    for _ in range(600):
        if process.returncode is not None:
            break
        if await request_status(port, b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == "200":
            return
        await asyncio.sleep(0.05)
    raise RuntimeError((folder / "log.txt").read_text()[-2000:])


async def request_status(port: int, request: bytes, *, address: str = OWN) -> str:
    """The status of the answer to one request on a connection of its own, or the error's name."""
    try:
        async with asyncio.timeout(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            try:
                writer.write(request)
                line = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        return type(error).__name__
    return line.split(b" ")[1].decode() if line.count(b" ") >= 2 else "cut"


# --- the sender ------------------------------------------------------------------------------------------------------


def delivery(number: int, secret: str = SECRET) -> bytes:
    """One signed push."""
    payload = {
        "ref": "refs/heads/main",
        "before": "a" * 40,
        "after": f"{number:040x}",
        "repository": {"id": 7, "default_branch": "main"},
        "installation": {"id": 5},
        "sender": {"id": 11, "login": "person-11", "type": "User"},
        "commits": [{"id": f"{number:040x}", "message": "A line of text. " * 20}] * 20,
    }
    body = json.dumps(payload).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    head = (
        "POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\n"
        f"X-GitHub-Delivery: {uuid.uuid4()}\r\nX-Hub-Signature-256: sha256={signature}\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _send(port: int, load: Load) -> tuple[Counter[str], list[float]]:
    """Send at a fixed rate, whatever the answers; return their statuses and seconds from when each was due."""
    statuses: Counter[str] = Counter()
    seconds: list[float] = []

    async def send_one(number: int, due: float) -> None:
        statuses[await request_status(port, delivery(number))] += 1
        seconds.append(time.monotonic() - due)

    begun = time.monotonic()
    async with asyncio.TaskGroup() as tasks:
        for number in range(int(load.seconds * load.rate)):
            due = begun + number / load.rate
            await asyncio.sleep(max(due - time.monotonic(), 0))
            tasks.create_task(send_one(number, due))
    return statuses, seconds


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 // 2**20


async def _watch(port: int, pid: int, seen: Counter[str], ready: Counter[str]) -> None:
    while True:
        seen["files"] = max(seen["files"], len(os.listdir(f"/proc/{pid}/fd")))
        seen["megabytes"] = max(seen["megabytes"], _resident(pid))
        ready[await request_status(port, b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")] += 1
        await asyncio.sleep(1)


async def flood(load: Load) -> FloodOutcome:
    """Run one load against a server of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        await asyncio.to_thread(put_tables, folder)
        async with served(folder, load.files) as (port, pid):
            assert await request_status(port, delivery(10**9)) == "202"
            hostile = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.campaigns.flood", "--hostile", str(port), *_options(load)
            )
            seen, ready = Counter[str](), Counter[str]()
            watching = asyncio.create_task(_watch(port, pid, seen, ready))
            statuses, seconds = await _send(port, load)
            watching.cancel()
            hostile.kill()
            await hostile.wait()
        log = (folder / "log.txt").stat().st_size
    seconds.sort()
    middle, late = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.99)]
    return FloodOutcome(
        dict(statuses), round(middle, 4), round(late, 3), round(seconds[-1], 3), log, **seen, ready=dict(ready)
    )


# --- strangers -------------------------------------------------------------------------------------------------------

_PATHS = ("/", "/@nobody", "/p/x" + "y" * 200, "/sitemap.xml", "/definitions", "/organisations/acme", "/%ff%00")
_COOKIES = (b"", b"Cookie: __Host-session=\xff\xfe\r\n", b"Cookie: a=" + b"x" * 4000 + b"\r\n")


async def _hold(port: int, address: str, first: bytes, more: bytes, chance: random.Random) -> None:
    """Hold a connection open with a few bytes a second, and open it again after it was dropped."""
    pause = (0.0, 1.0)
    while True:
        await asyncio.sleep(chance.uniform(*pause))
        pause = AGAIN
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(30):
                _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
                try:
                    writer.write(first)
                    while not writer.is_closing():
                        await asyncio.sleep(1)
                        writer.write(more)
                        await writer.drain()
                finally:
                    writer.transport.abort()


async def _request_pages(port: int, address: str, chance: random.Random) -> None:
    while True:
        await asyncio.sleep(chance.uniform(0.2, 1.0))
        head = f"GET {chance.choice(_PATHS)} HTTP/1.1\r\nHost: x\r\n".encode() + chance.choice(_COOKIES) + b"\r\n"
        status = await request_status(port, head, address=address)
        if status.startswith("5"):
            print("a page was answered", status, head[:60], flush=True)


async def attack(port: int, load: Load) -> None:
    """Hold and request, until killed."""
    chance = random.Random(1)
    addresses = (OWN,) if load.own else STRANGERS
    body = (
        b"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\n"
        b"X-GitHub-Delivery: a\r\nX-Hub-Signature-256: sha256=" + b"0" * 64 + b"\r\nContent-Length: 20000000\r\n\r\n{"
    )
    async with asyncio.TaskGroup() as tasks:
        for number in range(load.bodies):
            tasks.create_task(_hold(port, addresses[number % len(addresses)], body, b" " * 5000, chance))
        for number in range(load.heads):
            half = b"POST /webhook HTTP/1.1\r\nHost: x\r\n"
            tasks.create_task(_hold(port, addresses[number % len(addresses)], half, b"X-More: 1\r\n", chance))
        for number in range(load.pages):
            tasks.create_task(_request_pages(port, addresses[number % len(addresses)], chance))


def _options(load: Load) -> list[str]:
    numbers = [f"--{name}={getattr(load, name)}" for name in ("seconds", "rate", "bodies", "heads", "pages", "files")]
    return [*numbers, *(["--own-address"] if load.own else [])]


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("seconds", 600.0), ("rate", 50.0), ("bodies", 1000), ("heads", 5000), ("pages", 200)):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--files", type=int, default=1024)
    parser.add_argument("--own-address", action="store_true", dest="own")
    parser.add_argument("--hostile", type=int, default=0, metavar="PORT")
    given = vars(parser.parse_args())
    port = given.pop("hostile")
    if port:
        asyncio.run(attack(port, Load(**given)))
    outcome = asyncio.run(flood(Load(**given)))
    print(outcome)
    sys.exit(0 if outcome.all_accepted else 1)


if __name__ == "__main__":
    main()
