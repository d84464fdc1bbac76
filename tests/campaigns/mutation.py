"""Does a test fail if one of the lines that the promises rest on is changed?

    python -m tests.campaigns.mutation [--rooms tokens,outbox] [--most 40] [--seed 1]

Each room is a few functions and the tests that should know them. A mutant is one small change of their syntax
(`mutants.py`); the named ones are changes that once passed all tests. Each runs in a process forked from one that has
imported the libraries, and imports the changed module in place of the real one. A mutant is killed if a test fails or
does not end.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path

import pytest
from msgspec import Struct

from tests.campaigns.mutants import Mutant, mutants_of
from tests.campaigns.mutation_rooms import NAMED, ROOMS, Room

ROOT = Path(__file__).parents[2]
OURS = ("bot", "handlers", "simulator", "tests", "benchmarks", "scripts")
CPU_SECONDS, SECONDS = 60, 300.0
"""limits for the tests of one mutant, for those that compute and those that wait; the slowest room computes for 15 s"""


class Trial(Struct, frozen=True):
    """One mutant and the tests that should kill it."""

    path: str
    mutant: Mutant
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.mutant.line} {self.mutant.change}"


class ChangedModule(MetaPathFinder, SourceLoader):
    """Imports one module from the source of a mutant."""

    def __init__(self, path: str, source: str) -> None:
        self._path, self._source = path, source
        self._module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        return spec_from_loader(fullname, self, is_package=self._path.endswith("/__init__.py"))

    def get_filename(self, fullname: str) -> str:
        return str(ROOT / self._path)

    def get_data(self, path: str | bytes) -> bytes:
        return self._source.encode()

    def path_stats(self, path: str) -> dict[str, float]:
        raise OSError("compiled each time, never cached")


def survives(trial: Trial, cpu_seconds: int = CPU_SECONDS) -> bool:
    """True if all tests pass although the module is changed."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        _run_tests(trial)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run_tests(trial: Trial) -> None:
    """In the forked process: import the changed module, run its tests, and exit with pytest's code."""
    os.setsid()
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        for name in [one for one in sys.modules if one.split(".")[0] in OURS]:
            del sys.modules[name]
        sys.meta_path.insert(0, ChangedModule(trial.path, trial.mutant.source))
        options = ("-o", "addopts=", "-p", "no:xdist", "-p", "no:cacheprovider", "-x", "-q", "-k", "not postgresql")
        code = int(pytest.main([*options, *trial.tests]))
    finally:
        os._exit(code)


def import_libraries(rooms: Sequence[Room]) -> None:
    """Import what the modules and tests import from elsewhere, so that no forked process has to."""
    os.chdir(ROOT)
    paths = [*(path for room in rooms for path, _ in room.modules), "tests/conftest.py", "simulator/world.py"]
    names = sorted({path.removesuffix(".py").replace("/", ".") for path in paths})
    code = f"import sys, {', '.join(names)}, bot.app, jsonschema, openapi_core, hypothesis; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    for name in found:
        if not name.startswith((*OURS, "__")):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def trials(rooms: Sequence[Room], most: int, seed: int) -> Iterator[Trial]:
    """The named mutants of these rooms, then a random sample of all others."""
    for named in NAMED:
        for room in rooms:
            if room.name == named.room:
                yield Trial(named.path, named.mutant(ROOT), room.tests)
    for room in rooms:
        found = [
            Trial(path, mutant, room.tests)
            for path, only in room.modules
            for mutant in mutants_of((ROOT / path).read_text(), frozenset(only.split()))
        ]
        chosen = random.Random(f"{seed} {room.name}").sample(found, min(most, len(found)))
        yield from sorted(chosen, key=lambda trial: (trial.path, trial.mutant.line))


def run(rooms: Sequence[Room], most: int, seed: int) -> list[Trial]:
    """Try each mutant; print and return the survivors."""
    import_libraries(rooms)
    survivors, tried = [], 0
    by_room: dict[tuple[str, ...], list[int]] = {room.tests: [0, 0] for room in rooms}
    for trial in trials(rooms, most, seed):
        tried += 1
        by_room[trial.tests][0] += 1
        if survives(trial):
            survivors.append(trial)
            by_room[trial.tests][1] += 1
            print(f"survived: {trial}", flush=True)
    for room in rooms:
        all_, left = by_room[room.tests]
        print(f"{room.name:12} {all_ - left:4} of {all_:4} killed")
    print(f"{tried - len(survivors)} of {tried} mutants killed ({100 * (1 - len(survivors) / max(tried, 1)):.1f} %)")
    return survivors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", default=",".join(room.name for room in ROOMS))
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rooms = [room for room in ROOMS if room.name in given.rooms.split(",")]
    unchanged = [room.name for room in rooms if not _passes(room)]
    if unchanged:
        sys.exit(f"tests fail without any change: {', '.join(unchanged)}")
    tried = list(trials(rooms, given.most, given.seed))
    survivors = run(rooms, given.most, given.seed)
    named = {str(one) for one in survivors} & {named.text for named in NAMED}
    sys.exit(1 if named or len(survivors) > len(tried) / 10 else 0)


def _passes(room: Room) -> bool:
    path = room.modules[0][0]
    return survives(Trial(path, Mutant(0, "unchanged", (ROOT / path).read_text()), room.tests))


if __name__ == "__main__":
    main()
