"""Which fixtures and hooks do all tests share?"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from simulator.server import Simulator

HERE = Path(__file__).parent
MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""bytes that must be free to keep files in memory; a run needs a tenth of it"""
LONGEST = (
    *("tests/browser/", "tests/path/test_kill_storm.py", "tests/cli/test_history.py", "tests/deploy/"),
    *("tests/web/test_examples.py", "tests/render/test_standards.py"),
)
"""tests that wait longest: for processes, for Chromium, and for npm, which takes a minute without a network"""
EXAMPLES = 30
"""examples per property, the same in each run; `make campaign-properties` tries many more, different each time"""


def pytest_configure() -> None:
    """Keep test files in memory if programs can run from there; xdist workers and child processes inherit this."""
    if "TMPDIR" not in os.environ and MEMORY.is_dir():
        found = os.statvfs(MEMORY)
        if found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC:
            os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


# --- collecting ------------------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Prepare the processes that collect tests, which the xdist controller does not."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None and session.config.getoption("dist", "no") != "no":
        return
    from hypothesis import HealthCheck, settings

    # No deadline: on a busy machine a correct example may take a second.
    profile = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("short", profile, max_examples=EXAMPLES, derandomize=True)
    settings.register_profile("long", profile, max_examples=int(os.environ.get("EXAMPLES", EXAMPLES)))
    settings.load_profile("long" if "EXAMPLES" in os.environ else "short")
    gc.disable()
    if worker is not None and [Path(one).resolve() for one in session.config.args] == [HERE]:
        _import_from(int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def _import_from(turn: int, turns: int) -> None:
    """Start each worker at another file, so that in a fresh clone each compiles a part, instead of all everything."""
    files = sorted(path for path in HERE.glob("*/test_*.py") if (path.parent / "__init__.py").exists())
    first = turn * len(files) // turns
    for path in (*files[first:], *files[:first]):
        with contextlib.suppress(Exception, pytest.skip.Exception):  # reported when the file is collected
            importlib.import_module(f"tests.{path.parent.name}.{path.stem}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, so that no worker waits long for another at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish() -> None:
    """Freeze what exists now until the end, so that the collector need not scan it repeatedly."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Undo a command's log set-up after its test: later lines would otherwise go to a closed stream."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    kept = yield
    if root.handlers != handlers:
        root.handlers[:] = handlers
        root.setLevel(level)
    return kept


# --- work that is done once, not for each test -----------------------------------------------------------------------


class Compiled(dict[tuple[Any, ...], Any]):
    """Compiled SQL by statement and type of dialect; SQLAlchemy's own key has the dialect, new with each engine."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__((type(key[0]), *key[1:]), compiled)


@pytest.fixture(scope="session", autouse=True)
def _statements_are_compiled_once() -> None:
    from sqlalchemy import Engine, event

    compiled = Compiled()

    @event.listens_for(Engine, "engine_connect")
    def use(connection: Connection) -> None:
        connection.execution_options(compiled_cache=compiled)


@pytest.fixture(scope="session", autouse=True)
def _private_keys_are_checked_once() -> Iterator[None]:
    """Checking that an RSA key's primes are primes takes longer than starting the bot, and every App here has a key."""
    from bot.github import auth

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "load_pem_private_key", functools.cache(auth.load_pem_private_key))
        yield


@pytest.fixture(scope="session", autouse=True)
def _commands_are_read_once() -> Iterator[None]:
    """The program reads each command's signature at every call; outside tests that is once per process."""
    from typer import main

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(main, "get_command", functools.cache(main.get_command))
        yield


# --- GitHub ----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    """The simulated GitHub on a free port; each request and each answer must match GitHub's own description."""
    from tests.contract import strict_simulator

    async with strict_simulator() as running:
        yield running
