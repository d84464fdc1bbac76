"""How fast is each kind of work? Runs the benchmarks and prints a table.

    python -m benchmarks.speed [accept|history|requests|backfill|landings|totals|pages|...]

Each runs in a process of its own with a time limit; if it cannot run or does not finish, a row says so.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import asdict

from benchmarks.speed.others import clone
from benchmarks.speed.table import CannotRunError, TableLine, as_line, machine, print_progress, save, show

WORKS = {
    "accept": ("accept", "rows", 200),
    "history": ("others", "history", 300),
    "requests": ("others", "requests", 40),
    "backfill": ("others", "backfill", 160),
    "landings": ("landings", "rows", 80),
    "writers": ("writers", "rows", 60),
    "totals": ("totals", "rows", 60),
    "pages": ("others", "pages", 90),
    "starts": ("starts", "rows", 100),
    "tokens": ("tokens", "rows", 30),
}
"""module, function, and time limit in seconds"""
OF_A_CLONE = frozenset({"history", "backfill"})
TOGETHER = 580.0
"""seconds for all of them together"""
JSON = Path("build/bench.json")


def measure_work(name: str, seconds: float) -> list[TableLine]:
    """The rows of one kind of work. If it fails or takes too long, its rows so far are kept, and one more says why."""
    with tempfile.NamedTemporaryFile("r+") as answer:
        command = [sys.executable, "-m", "benchmarks.speed", "--into", answer.name, name]
        process = subprocess.Popen(command, start_new_session=True)
        try:
            code = process.wait(seconds)
            lacking = [_missing(name, f"ended with {code}")] if code else []
        except subprocess.TimeoutExpired:
            lacking = [_missing(name, f"not ended after {seconds:.0f} s")]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        # a line that was cut off has no line end
        return [TableLine(**json.loads(line)) for line in answer if line.endswith("\n")] + lacking


def measure_into(path: Path, name: str) -> None:
    """Run one kind of work in this process and write each row as a line of JSON as soon as it is measured."""
    module, function, _ = WORKS[name]
    with path.open("w") as answer:
        try:
            for row in getattr(importlib.import_module(f"benchmarks.speed.{module}"), function)():
                print(json.dumps(asdict(as_line(row))), file=answer, flush=True)
        except CannotRunError as error:
            print(json.dumps(asdict(_missing(name, str(error)))), file=answer)


def _missing(name: str, why: str) -> TableLine:
    return TableLine(name, "", f"did not run: {why}", "")


def main(arguments: Sequence[str]) -> None:
    if arguments[:1] == ["--into"]:
        measure_into(Path(arguments[1]), arguments[2])
        return
    wanted = list(arguments) or list(WORKS)
    unknown = [name for name in wanted if name not in WORKS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(WORKS)}")
    if not OF_A_CLONE.isdisjoint(wanted):
        clone()  # creating it takes time that belongs to no measurement
    until, lines = time.monotonic() + TOGETHER, list[TableLine]()
    for name in wanted:
        print_progress(f"==> {name}")
        left = min(float(WORKS[name][2]), until - time.monotonic())
        lines += measure_work(name, left) if left > 1 else [_missing(name, "no time left")]
        save(lines, JSON)
    print("\n".join(f"{name}: {value}" for name, value in machine().items()), end="\n\n")
    print(show(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
