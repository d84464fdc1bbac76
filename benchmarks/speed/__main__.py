"""Every row of the table: `python -m benchmarks.speed [accept|history|requests|backfill|landings|totals|pages|...]`.

Each work is a process of its own with a limit of time: what cannot run, or does not end, says so in its place.
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
from dataclasses import asdict
from pathlib import Path

from benchmarks.speed.table import CannotRunError, Told, in_words, machine, save, say, show

WORKS = {
    "accept": ("accept", "rows", 200),
    "history": ("others", "history", 120),
    "requests": ("others", "requests", 40),
    "backfill": ("others", "backfill", 80),
    "landings": ("landings", "rows", 80),
    "writers": ("writers", "rows", 60),
    "totals": ("totals", "rows", 60),
    "pages": ("others", "pages", 90),
    "starts": ("starts", "rows", 100),
    "tokens": ("tokens", "rows", 30),
}
"""module, function, and seconds at most"""
TOGETHER = 580.0
"""seconds for all of them"""
JSON = Path("build/bench.json")


def measured(name: str, seconds: float) -> list[Told]:
    """The rows of one work, or the one that says why there are none."""
    with tempfile.NamedTemporaryFile("r+") as answer:
        command = [sys.executable, "-m", "benchmarks.speed", "--into", answer.name, name]
        process = subprocess.Popen(command, start_new_session=True)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return [_missing(name, f"not ended after {seconds:.0f} s")]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        told = answer.read()
    return [Told(**row) for row in json.loads(told)] if told else [_missing(name, f"ended with {code}")]


def measure_into(path: Path, name: str) -> None:
    """One work in this process; its rows as JSON."""
    module, function, _ = WORKS[name]
    try:
        rows = getattr(importlib.import_module(f"benchmarks.speed.{module}"), function)()
    except CannotRunError as error:
        rows = [_missing(name, str(error))]
    path.write_text(json.dumps([asdict(in_words(row)) for row in rows]))


def _missing(name: str, why: str) -> Told:
    return Told(name, "", f"did not run: {why}", "")


def main(arguments: Sequence[str]) -> None:
    if arguments[:1] == ["--into"]:
        measure_into(Path(arguments[1]), arguments[2])
        return
    wanted = list(arguments) or list(WORKS)
    unknown = [name for name in wanted if name not in WORKS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(WORKS)}")
    until, told = time.monotonic() + TOGETHER, list[Told]()
    for name in wanted:
        say(f"==> {name}")
        left = min(float(WORKS[name][2]), until - time.monotonic())
        told += measured(name, left) if left > 1 else [_missing(name, "no time left")]
        save(told, JSON)
    print("\n".join(f"{name}: {value}" for name, value in machine().items()), end="\n\n")
    print(show(told))


if __name__ == "__main__":
    main(sys.argv[1:])
