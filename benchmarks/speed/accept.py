"""How fast is a delivery accepted: a signed `pull_request.closed` of 26 kB, 32 clients, each server in its own process?

All servers run at once, and the same client drives them in turns. Ours checks the signature and commits inbox row and
job with `synchronous=FULL` before its 202; the others store nothing. Peers come from npm into `build/peers`. Everything
is measured again with each server on one core and the client on another.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.speed.starts import private_key
from benchmarks.speed.table import Measurement, print_progress

FOLDER = Path(__file__).parent
PEERS = Path("build/peers")
PACKAGES = ("probot@14", "@octokit/webhooks@14")
CLIENTS = 32
BODY_BYTES = 26_000


@dataclass
class Server:
    """A server in its own process, and its measurements."""

    name: str
    command: Sequence[str]
    port: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    rates: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def microseconds(self) -> float:
        """CPU time of all its threads per delivery."""
        return sum(self.spent) / len(self.waits) * 1e6

    def processor_seconds(self) -> float:
        """CPU time of all threads of the process so far."""
        assert self.process is not None
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    @property
    def p99(self) -> float:
        """The 99th percentile of waiting times, in milliseconds."""
        return sorted(self.waits)[int(len(self.waits) * 0.99)] * 1000

    @property
    def mebibytes(self) -> float:
        """Its peak memory. Raises RuntimeError if the server has ended."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), None)
        if peak is None:
            raise RuntimeError(f"{self.name} ended with {self.process.poll()}")
        return int(peak.split()[1]) / 1024


def payload(number: int) -> bytes:
    """A merged pull request of 26 kB with GitHub's proportions: mostly addresses, about five hundred values."""
    person = {"login": "ada", "id": 7, "type": "User", "site_admin": False} | _addresses("users/ada", 14)
    home = {"id": 10, "name": "app", "full_name": "acme/app", "private": False, "fork": False, "owner": person}
    home |= _addresses("repos/acme/app", 60) | {f"{name}_count": 3 for name in ("forks", "stars", "watchers", "issues")}
    side = {"label": "acme:main", "ref": "main", "sha": "6dcb09b5" * 5, "user": person, "repo": home}
    pull = {"number": number, "state": "closed", "merged": True, "title": "Add part", "user": person, "body": ""}
    pull |= {"head": side, "base": side, "merged_by": person, "labels": []} | _addresses("repos/acme/app/pulls/1", 20)
    found = {"action": "closed", "number": number, "pull_request": pull, "repository": home, "sender": person}
    found["installation"] = {"id": 1}
    pull["body"] = "word " * ((BODY_BYTES - len(json.dumps(found))) // 5)
    return json.dumps(found).encode()


def _addresses(path: str, number: int) -> dict[str, str]:
    return {f"{count}_url": f"https://api.github.com/{path}/{count:02}" for count in range(number)}


def requests(secret: str, number: int) -> list[bytes]:
    """Complete requests except for the delivery's GUID, which is inserted when sending."""
    made = []
    for count in range(number):
        body = payload(count + 1)
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        head = (
            "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "User-Agent: GitHub-Hookshot/0000000\r\nX-GitHub-Event: pull_request\r\n"
            "X-GitHub-Hook-ID: 1\r\nX-GitHub-Hook-Installation-Target-Type: integration\r\n"
            f"X-Hub-Signature-256: sha256={signature}\r\nContent-Length: {len(body)}\r\nX-GitHub-Delivery: "
        )
        made.append(head.encode() + b"%s\r\n\r\n" + body)
    return made


class Drive:
    """One round: `CLIENTS` connections that each send again as soon as they get an answer."""

    def __init__(self, server: Server, made: Sequence[bytes], seconds: float) -> None:
        self._server, self._made = server, made
        self._until = time.perf_counter() + seconds
        self.waits: list[float] = []

    async def run(self) -> None:
        begun, before = time.perf_counter(), self._server.processor_seconds()
        await asyncio.gather(*(self._client(number) for number in range(CLIENTS)))
        self._server.rates.append(len(self.waits) / (time.perf_counter() - begun))
        self._server.spent.append(self._server.processor_seconds() - before)
        self._server.waits += self.waits

    async def _client(self, number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        turn = number * 101
        while time.perf_counter() < self._until:
            turn += 1
            head, _, body = self._made[turn % len(self._made)].partition(b"%s")
            begun = time.perf_counter()
            writer.write(head + secrets.token_hex(16).encode() + body)
            status = await _answer(reader)
            self.waits.append(time.perf_counter() - begun)
            if status not in (b"200", b"202"):
                raise RuntimeError(f"{self._server.name} answered {status!r}")
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> bytes:
    """Read one answer completely; return its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length")), None)
    if length:
        await reader.readexactly(length)
    elif length is None and any(line.startswith(b"transfer-encoding") for line in lines):
        await reader.readuntil(b"0\r\n\r\n")
    return head.split(b" ", 2)[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def run_servers(servers: Sequence[Server], secret: str, data: Path) -> Iterator[None]:
    """Run all of them until the end of the block."""
    try:
        for server in servers:
            server.port = free_port()
            command = [*server.command, str(server.port), secret, server.name.split()[-1], str(data)]
            environment, quiet = os.environ | {"NODE_ENV": "production"} | server.environment, subprocess.DEVNULL
            server.process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
        for server in servers:
            _wait_for(server)
        yield
    finally:
        for server in servers:
            if server.process is not None:
                server.process.terminate()
                server.process.wait(20)


def _wait_for(server: Server) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 1):
            return
        if server.process is not None and server.process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"{server.name} did not start")


def peers() -> list[Server]:
    """The servers that npm can install; reports prominently if it cannot."""
    if shutil.which("npm") is None:
        print_progress("NO NPM: @octokit/webhooks and Probot are not measured")
        return []
    if not (PEERS / "node_modules").exists():
        PEERS.mkdir(parents=True, exist_ok=True)
        (PEERS / "package.json").write_text('{"private": true, "type": "module"}\n')
        print_progress("installing the peers (once)")
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=PEERS, check=False)
        if done.returncode:
            print_progress("NPM FAILED: @octokit/webhooks and Probot are not measured")
            shutil.rmtree(PEERS, ignore_errors=True)
            return []
    for name in ("octokit.mjs", "probot.mjs"):
        shutil.copy(FOLDER / "servers" / name, PEERS / name)
    return [
        Server("@octokit/webhooks", ["node", str(PEERS / "octokit.mjs")]),
        Server("Probot", ["node", str(PEERS / "probot.mjs")]),
    ]


def slow_disk(data: Path) -> dict[str, str]:
    """An environment in which each fsync takes 5 ms longer; empty, with a prominent message, without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        print_progress("NO C COMPILER: a slow disk is not measured")
        return {}
    library = data / "slow_fsync.so"
    source = FOLDER / "servers" / "slow_fsync.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "FSYNC_DELAY_US": "5000"}


@contextlib.contextmanager
def pin_to_one_core(servers: Sequence[Server]) -> Iterator[None]:
    """Pin each server's threads to the last core, and this process, the client, to the first."""
    own = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(own)})
        for server in servers:
            assert server.process is not None
            for task in Path(f"/proc/{server.process.pid}/task").iterdir():
                os.sched_setaffinity(int(task.name), {max(own)})
        yield
    finally:
        os.sched_setaffinity(0, own)


def _drive_in_turns(servers: Sequence[Server], made: Sequence[bytes], *, rounds: int, seconds: float) -> None:
    for turn in range(rounds + 1):
        for server in servers:
            asyncio.run(Drive(server, made, seconds if turn else 0.5).run())
            if not turn:  # to warm up
                server.rates.clear()
                server.waits.clear()
                server.spent.clear()


def measure(rounds: int = 3, seconds: float = 1.0) -> tuple[list[Server], list[Server]]:
    """Measure every server in turns, and again on one core, except those with a slow disk."""
    secret = secrets.token_hex(20)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        (data / "key.pem").write_text(private_key())
        python = [sys.executable, "-m"]
        servers = [
            Server("aiohttp bare", [*python, "benchmarks.speed.servers.bare"]),
            Server("gidgethub no-op gidgethub", [*python, "benchmarks.speed.servers.bare"]),
            *peers(),
            Server("ours group", [*python, "benchmarks.speed.servers.ours"]),
            Server("ours working", [*python, "benchmarks.speed.servers.ours"]),
            Server("one commit a delivery single", [*python, "benchmarks.speed.servers.ours"]),
        ]
        slow = slow_disk(data)
        if slow:
            for name, mode in (("ours, slow disk", "slow"), ("one commit a delivery, slow disk", "single")):
                command = [*python, "benchmarks.speed.servers.ours"]
                data_of = Server(f"{name} {mode}", command, environment=slow)
                servers.append(data_of)
        made = requests(secret, 500)
        with run_servers(servers, secret, data):
            _drive_in_turns(servers, made, rounds=rounds, seconds=seconds)
            narrow = [replace(one, rates=[], waits=[], spent=[]) for one in servers if "slow" not in one.name]
            with pin_to_one_core(narrow):
                _drive_in_turns(narrow, made, rounds=rounds, seconds=seconds)
            for server in (*servers, *narrow):
                print_progress(
                    f"  {server.name:<40} {server.rate:8.0f}/s  p99 {server.p99:7.1f} ms  {server.mebibytes:6.1f} MiB"
                )
            memory = {server.name: server.mebibytes for server in servers}
        for server in servers:
            server.environment["memory"] = f"{memory[server.name]:.1f}"
    return servers, narrow


def rows() -> list[Measurement]:
    wide, narrow = measure()
    servers = {server.name: server for server in wide}
    ours, bare = servers["ours group"], servers["aiohttp bare"]
    measured = [
        Measurement(
            "accept a delivery, worker idle", "bare aiohttp, stores nothing", bare.rate, ours.rate, "deliveries/s"
        ),
        Measurement("its processor time", "bare aiohttp", bare.microseconds, ours.microseconds, "µs a delivery"),
    ]
    working = servers["ours working"]
    measured.append(
        Measurement(
            "the same with a worker busy in the process", "bare aiohttp", bare.rate, working.rate, "deliveries/s"
        )
    )
    for name in ("gidgethub no-op gidgethub", "@octokit/webhooks", "Probot", "one commit a delivery single"):
        if name in servers:
            one = servers[name]
            measured.append(
                Measurement("accept a delivery", name.removesuffix(" gidgethub"), one.rate, ours.rate, "deliveries/s")
            )
    if "Probot" in servers:
        measured.append(Measurement("accept a delivery, p99", "Probot", servers["Probot"].p99, ours.p99, "ms"))
    measured += _on_one_core({server.name: server for server in narrow})
    held, took = (float(server.environment["memory"]) for server in (bare, ours))
    measured.append(Measurement("memory of the webhook process", "bare aiohttp", held, took, "MiB"))
    if "ours, slow disk slow" in servers:
        slow, single = servers["ours, slow disk slow"], servers["one commit a delivery, slow disk single"]
        measured.append(
            Measurement(
                "accept, 5 ms added to each fsync", "one commit a delivery", single.rate, slow.rate, "deliveries/s"
            )
        )
    return measured


def _on_one_core(servers: dict[str, Server]) -> list[Measurement]:
    ours = servers["ours group"]
    names = [name for name in ("aiohttp bare", "@octokit/webhooks", "Probot") if name in servers]
    measured = [
        Measurement("accept a delivery, one core", one, servers[one].rate, ours.rate, "deliveries/s") for one in names
    ]
    if "Probot" in servers:
        measured.append(
            Measurement("accept a delivery, one core, p99", "Probot", servers["Probot"].p99, ours.p99, "ms")
        )
    return measured
