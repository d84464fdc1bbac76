"""Do the files for platforms hold: linted, and their processes run with each platform's environment and signals?

    python -m tests.campaigns.platforms TOOLS

TOOLS is the folder with kubernetes-validate, hadolint and honcho. Each platform gets an empty PostgreSQL, two web and
two worker processes, and twenty landings of the simulated organisation. All deliveries must be answered 202 and all
jobs done, `/readyz` must be 200, and SIGTERM must end everything within the platform's grace.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from msgspec import Struct

from simulator.server import Simulator
from simulator.world import World, build_world, play_next
from tests.campaigns.kill_storm import NOW, free_port
from tests.campaigns.worker_storm import Postgres

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent
LANDINGS = 20


class Platform(Struct, frozen=True):
    """How a platform starts the bot: shell lines, their environment, and the seconds after SIGTERM."""

    name: str
    release: str
    web: str
    worker: str
    grace: float
    environment: Mapping[str, str]
    database: str = "ALMANAC_DATABASE_URL"
    scheme: str = "postgresql"


def platforms() -> list[Platform]:
    """Every platform that has a file, with the lines of that file."""
    procfile = dict(re.findall(r"^(\w+): (.*)$", (ROOT / "Procfile").read_text(), re.MULTILINE))
    fly = tomllib.loads((DEPLOY / "fly.toml").read_text())
    blueprint = yaml.safe_load((DEPLOY / "render.yaml").read_text())
    web, worker = blueprint["services"]
    shared = {one["key"]: one["value"] for group in blueprint["envVarGroups"] for one in group["envVars"]}
    manifests = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    pods = {one["metadata"]["name"]: one for one in manifests if "template" in one["spec"]}
    migrate, serve, work = (_pod_command(pods[f"almanac-{name}"]) for name in ("migrate", "web", "worker"))
    processes, image = fly["processes"], {"ALMANAC_HOST": "0.0.0.0"}  # noqa: S104 (what the image sets)
    return [
        Platform(
            "Heroku", procfile["release"], procfile["web"], procfile["worker"], 30, {}, "DATABASE_URL", "postgres"
        ),
        Platform("Render", web["preDeployCommand"], web["startCommand"], worker["startCommand"], 60, shared),
        Platform(
            "Fly",
            f"almanac {fly['deploy']['release_command']}",
            f"almanac {processes['web']}",
            f"almanac {processes['worker']}",
            float(fly["kill_timeout"].rstrip("s")),
            image,
            scheme="postgres",
        ),
        Platform("Kubernetes", migrate, serve, work, 60, image),
    ]


def _pod_command(workload: Mapping[str, Any]) -> str:
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    return f"almanac {' '.join(container['args'])}"


# --- linting ---------------------------------------------------------------------------------------------------------


UNASKED = ("DL3008", "DL3013", "DL3025")
"""hadolint asks for pinned versions, which the distribution and the lock file decide, and for a health check without a
shell, which reads the port"""


async def lint(tools: Path) -> None:
    """Check the manifests against Kubernetes' own schemas, and the container file with hadolint."""
    await _checked(tools / "hadolint", *(f"--ignore={rule}" for rule in UNASKED), DEPLOY / "Containerfile")
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())):
            path = Path(folder) / f"{number}.yaml"
            path.write_text(yaml.safe_dump(one))
            await _checked(tools / "kubernetes-validate", "--strict", path)
    print("Containerfile and manifests: linted")


async def _checked(*words: str | Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    printed, _ = await process.communicate()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit {process.returncode}\n{printed.decode()}")


# --- running ---------------------------------------------------------------------------------------------------------


async def run(platform: Platform, tools: Path) -> None:
    """Start the platform's processes, let work land, and stop them."""
    started, postgres = time.monotonic(), Postgres()
    try:
        async with Simulator() as github:
            world = build_world(github, NOW)
            with tempfile.TemporaryDirectory(prefix="almanac-platform-") as folder:
                environment = _environment(platform, github, world, (folder, postgres.url))
                async with _processes(platform, environment, tools, Path(folder)) as (ports, log):
                    await _ready(ports, log)
                    await _land(github, world, ports)
                    await _drained(ports[0])
    finally:
        postgres.end()
    print(f"{platform.name}: two web, two workers, {LANDINGS} landings, {time.monotonic() - started:.0f} s")


def _environment(platform: Platform, github: Simulator, world: World, places: tuple[str, str]) -> dict[str, str]:
    folder, url = places
    own = {name: value for name, value in os.environ.items() if not name.startswith("ALMANAC_")}
    return own | {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        platform.database: url.replace("postgresql+psycopg", platform.scheme),
        "ALMANAC_PUBLIC_URL": "https://almanac.example.com",
        "ALMANAC_APP_ID": str(world.app.id),
        "ALMANAC_PRIVATE_KEY": world.app.private_key,
        "ALMANAC_WEBHOOK_SECRET": world.app.webhook_secret,
        "ALMANAC_LINKS_KEY": "ab" * 32,
        "ALMANAC_GITHUB_URL": github.url,
        "ALMANAC_WRITE_GAP": "0",
        "ALMANAC_BACKFILL": "off",
        "ALMANAC_WORKER_PORT": "0",  # both workers are on this machine
        **platform.environment,
        "ALMANAC_DATA": folder,
    }


@asynccontextmanager
async def _processes(
    platform: Platform, environment: Mapping[str, str], tools: Path, folder: Path
) -> AsyncIterator[tuple[list[int], Path]]:
    """The release command, then two of each process under a runner of Procfiles, which gives each its PORT."""
    lines = {"release": platform.release, "web": platform.web, "worker": platform.worker}
    procfile, log, port = folder / "Procfile", folder / "log", free_port()
    procfile.write_text("".join(f"{name}: {line}\n" for name, line in lines.items()))
    honcho = (str(tools / "honcho"), "-d", str(folder), "-e", os.devnull)
    released = await asyncio.create_subprocess_exec(*honcho, "run", "sh", "-c", platform.release, env=environment)
    if await released.wait():
        sys.exit(f"{platform.name}: {platform.release}: exit {released.returncode}")
    with log.open("wb") as output:
        runner = await asyncio.create_subprocess_exec(
            *(*honcho, "start", "-p", str(port), "-c", "web=2,worker=2", "web", "worker"),
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        yield [port, port + 1], log
        runner.send_signal(signal.SIGTERM)
        started = time.monotonic()
        await asyncio.wait_for(runner.wait(), platform.grace)
        text = log.read_text()
        codes = re.findall(r"(\w+\.\d) +\| .*(?:stopped|terminating)", text)
        if "SIGKILL" in text or len(re.findall(r"stopped \(rc=(?:0|-15)\)", text)) != 4:
            sys.exit(f"{platform.name}: not every process stopped by itself ({codes})\n{text[-1500:]}")
        print(f"{platform.name}: SIGTERM took {time.monotonic() - started:.1f} s of {platform.grace:.0f}")
    finally:
        if runner.returncode is None:
            runner.send_signal(signal.SIGTERM)
            await runner.wait()


async def _ready(ports: Sequence[int], log: Path) -> None:
    for port in ports:
        for _ in range(600):
            if await _status(port, "/readyz") == 200:
                break
            await asyncio.sleep(0.1)
        else:
            sys.exit(f"port {port} is not ready\n{_end_of(log)}")


def _end_of(log: Path) -> str:
    return log.read_text()[-3000:]


async def _status(port: int, path: str) -> int:
    with contextlib.suppress(aiohttp.ClientError):
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
            return answer.status
    return 0


async def _land(github: Simulator, world: World, ports: Sequence[int]) -> None:
    for number in range(LANDINGS):
        world.app.webhook_url = f"http://127.0.0.1:{ports[number % len(ports)]}/webhook"
        await play_next(world)
    await github.wait_until_idle()
    refused = [entry.status_code for entry in github.deliveries.log if entry.status_code != 202]
    if refused:
        sys.exit(f"deliveries were answered {refused}")


async def _drained(port: int) -> None:
    """Wait until no job waits or runs; then nothing may be parked or dead."""
    for _ in range(1200):
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as answer:
            jobs = dict(re.findall(r'^almanac_queue_jobs\{state="(\w+)"\} (\S+)$', await answer.text(), re.MULTILINE))
        if jobs and not any(float(jobs.get(state, 0)) for state in ("due", "later", "running")):
            break
        await asyncio.sleep(0.1)
    if any(map(float, jobs.values())):
        sys.exit(f"jobs: {jobs}")


async def main(tools: Path) -> None:
    await lint(tools)
    for platform in platforms():
        await run(platform, tools)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).resolve()))
