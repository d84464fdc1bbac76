"""How much code does one operation run through? Files and functions entered, by room, for a landing and a page.

    python -m scripts.trace [landing|page] [--list]

*landing*: `almanac serve` on SQLite with the simulated GitHub; the second squash merge of a repository, from its two
deliveries (push and pull_request closed) to the posted check run, including whatever else the bot does in those
seconds. *page*: `almanac profile CLONE --format html` of one person of the demo's organisation. Each runs in a process
of its own, without caches on disk, and only through the command line and the environment, so that modules may move.

Counts each distinct `def` or `async def` of `bot/` and `handlers/` that is entered at least once, including methods,
properties and nested functions, in any thread. It does not count lambdas, comprehensions, class bodies and module
bodies, nor methods that a library generates (the `__init__` of a dataclass), which are in no file. All modules are
imported before the trace starts. A call counts once: a coroutine that continues after an `await` is not entered again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import inspect
import io
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sized
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.server import Simulator
    from simulator.state import SimApp, SimRepository

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers")
LONGEST = 60.0
"""seconds that any wait may take"""
SETTLED = 1.0
"""seconds without a request or a new function after which the work counts as finished"""
CLONE, AUTHOR = "tidewater", "Pell Abara"
"""of the demo's organisation: a repository, and a person who works there"""
WORK = ("landing", "page")


class Trace:
    """The functions entered while `recording`, in the order of their first call."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.recording = False
        self._ours: dict[CodeType, bool] = {}
        self._roots = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)

    def start(self) -> None:
        """Trace this thread and those started from now on."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not self.recording:
            return
        code = frame.f_code
        ours = self._ours.get(code)
        if ours is None:
            ours = self._ours[code] = code.co_filename.startswith(self._roots) and _is_function(code)
        if ours and _begins(frame):
            self.calls[code] += 1

    def functions(self) -> list[tuple[str, str]]:
        """(file, qualified name) of each function, in the order of their first call."""
        return [(Path(code.co_filename).relative_to(ROOT).as_posix(), code.co_qualname) for code in list(self.calls)]


def _is_function(code: CodeType) -> bool:
    """Whether it is a `def`: class and module bodies have no fast locals, and the others have no name."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.startswith("<")


def _begins(frame: FrameType) -> bool:
    """Whether a frame is entered, rather than continued after a `yield` or an `await`."""
    if not frame.f_code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return True
    # RESUME's argument gives the reason: 0 is the start
    return frame.f_lasti < 0 or frame.f_code.co_code[frame.f_lasti + 1] & 3 == 0


# --- the traced work -------------------------------------------------------------------------------------------------


def trace_landing(trace: Trace, folder: Path) -> None:
    """Run the bot in this thread, and GitHub with its people in another one, which stops the bot at the end."""
    from simulator.demo import free_port

    port, ready = free_port(), threading.Event()
    github = threading.Thread(target=lambda: asyncio.run(_simulate(trace, folder, port, ready)), daemon=True)
    github.start()
    if not ready.wait(LONGEST):
        raise TimeoutError("the simulated GitHub did not start")
    run_command("serve")
    github.join(LONGEST)


async def _simulate(trace: Trace, folder: Path, port: int, ready: threading.Event) -> None:
    from simulator.server import Simulator

    try:
        async with Simulator() as github:
            owner = github.organisation("acme")
            app = github.register_app("almanac-trace", owner, webhook_url=f"http://127.0.0.1:{port}/webhook")
            os.environ |= _settings(github, app, folder, port=port)
            ready.set()
            await _until(lambda: _listens(port))
            repository = github.create_repository("acme/app", at=datetime.now(UTC), files={"README.md": b"# app\n"})
            repository.permissions = {"ada": "write", "mara": "maintain"}
            github.install(app, owner)
            await _squash_merges(trace, github, repository)
    finally:
        ready.set()
        os.kill(os.getpid(), signal.SIGTERM)


async def _squash_merges(trace: Trace, github: Simulator, repository: SimRepository) -> None:
    """Two squash merges, of which the second is recorded: by then the bot has its token and has read the repository."""
    from simulator.work import NewPullRequest, Step

    now, ada, mara = datetime.now(UTC), github.account("ada"), github.account("mara")
    for name in ("part_1", "part_2"):
        title = f"Add {name.replace('_', ' ')}"
        step = Step(title, {f"{name}.py": b"def part():\n    return 1\n"}, at=now)
        pull = github.open_pull(repository, NewPullRequest(title, ada, [step], name), at=now)
        await github.wait_until_idle()
        await _until_quiet(trace, github.requests)
        trace.recording = name == "part_2"
        checks = len(repository.checks)
        github.merge(repository, pull, "squash", by=mara, at=now + timedelta(seconds=1))
        await github.wait_until_idle()
        await _until(partial(_has_more, repository.checks, checks))
        await _until_quiet(trace, github.requests)
    trace.recording = False


def _has_more(found: Sized, before: int) -> bool:
    return len(found) > before


def _settings(github: Simulator, app: SimApp, folder: Path, *, port: int) -> dict[str, str]:
    return {
        "ALMANAC_APP_ID": str(app.id),
        "ALMANAC_PRIVATE_KEY": app.private_key,
        "ALMANAC_WEBHOOK_SECRET": app.webhook_secret,
        "ALMANAC_GITHUB_URL": github.url,
        "ALMANAC_DATA": str(folder / "bot"),
        "ALMANAC_PORT": str(port),
        "ALMANAC_BACKFILL": "false",
        "ALMANAC_LOG_LEVEL": "ERROR",
    }


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


async def _until(is_true: Callable[[], bool]) -> None:
    begun = time.monotonic()
    while not is_true():
        if time.monotonic() - begun > LONGEST:
            raise TimeoutError("the bot did not do what was waited for")
        await asyncio.sleep(0.02)


async def _until_quiet(trace: Trace, requests: list[str]) -> None:
    """Wait until GitHub gets no more requests and no new function is entered."""
    seen, since = (-1, -1), time.monotonic()
    while time.monotonic() - since < SETTLED:
        now = (len(requests), len(trace.calls))
        if now != seen:
            seen, since = now, time.monotonic()
        await asyncio.sleep(0.02)


def trace_page(trace: Trace, folder: Path) -> None:
    """Trace one person's page for one repository, as HTML."""
    asyncio.run(_grow_clone(folder / CLONE))
    trace.recording = True
    run_command(
        "profile", str(folder / CLONE), "--author", AUTHOR, "--format", "html", "--output", str(folder / "page")
    )
    trace.recording = False


async def _grow_clone(folder: Path) -> None:
    from simulator.server import Simulator
    from simulator.world import build_world, play

    async with Simulator() as github:
        world = build_world(github, datetime(2031, 5, 20, 12, tzinfo=UTC))
        await play(world)
        source = world.repositories[CLONE].git.path
        clone = ["git", "clone", "--quiet", "--bare", str(source), str(folder)]
        await asyncio.to_thread(subprocess.run, clone, check=True)


def run_command(*arguments: str) -> None:
    """Run one `almanac` command in this process. Raises RuntimeError if it fails."""
    from bot.cli.main import main

    try:
        main(arguments)
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"almanac {arguments[0]} ended with {ended.code}") from None


def import_everything() -> None:
    """Import all modules whose libraries are installed, so that code that runs on import is not traced."""
    for package in (*PACKAGES, "simulator"):
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.endswith(("__main__", ".env")):
                with contextlib.suppress(ImportError):
                    importlib.import_module(module.name)


# --- output ----------------------------------------------------------------------------------------------------------


def room_of(path: str) -> str:
    """`bot/store` for `bot/store/migrations/env.py`; `bot` for a module directly in it."""
    parts = Path(path).parent.parts
    return "/".join(parts[:2])


def table(functions: list[tuple[str, str]]) -> Iterator[str]:
    """One line per room, most functions first, and a total."""
    by_room: Counter[str] = Counter(room_of(path) for path, _ in functions)
    files: Mapping[str, int] = Counter(room_of(path) for path in {path for path, _ in functions})
    yield f"{'room':20} {'files':>6} {'functions':>10}"
    for room, number in by_room.most_common():
        yield f"{room:20} {files[room]:6} {number:10}"
    yield f"{'total':20} {sum(files.values()):6} {len(functions):10}"


def run(work: str, *, listing: bool) -> None:
    """Trace one operation in this process and print the result."""
    trace = Trace()
    trace.start()
    with tempfile.TemporaryDirectory(prefix="almanac-trace-") as name:
        os.environ["XDG_CACHE_HOME"] = name
        os.chdir(name)
        import_everything()
        with contextlib.redirect_stdout(io.StringIO()):
            {"landing": trace_landing, "page": trace_page}[work](trace, Path(name))
        os.chdir(ROOT)
    sys.setprofile(None)
    functions = trace.functions()
    print(f"{work}:")
    if listing:
        print("\n".join(f"  {path}: {function}" for path, function in functions))
    print("\n".join(table(functions)))
    print(f"calls: {sum(trace.calls.values())}\n", flush=True)


def main() -> None:
    """Trace both in fresh processes, or the named one in this process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("work", nargs="?", choices=WORK, help="one of them; both without")
    parser.add_argument("--list", action="store_true", help="print the functions in the order of their first call")
    given = parser.parse_args()
    if given.work:
        run(given.work, listing=given.list)
        return
    for work in WORK:
        command = [sys.executable, "-m", "scripts.trace", work, *(["--list"] if given.list else [])]
        subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
