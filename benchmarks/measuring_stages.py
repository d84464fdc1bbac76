"""What does each step from a clone's commits to their monthly sums cost, compared with git reading them?

    python -m benchmarks.measuring_stages CLONE... [--rounds 2]

Prints microseconds of CPU time per commit, the minimum of several rounds with one worker and cold caches. The floor is
`git log -p -M` in the same run, with its output discarded. A step's own time excludes that of nested steps. Reading the
clock takes time as well; this is measured first and subtracted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any
from unittest.mock import patch
from zoneinfo import ZoneInfo

from bot.history.opening import open_clones
from bot.history.record import CloneRecord

STEPS = (
    ("commits parsed", "bot.history.patches.read_record"),
    ("lines of patches", "bot.metrics.measure.read_patches"),
    ("convention, keys, reverts", "bot.metrics.measure.recognise_all"),
    ("of these, identity of the patch", "bot.landing.conventions.recognition.patch_key"),
    ("parts, languages, blanks", "bot.metrics.measure.read_all"),
    ("of these, blanks", "bot.landing.lines.split.whitespace_only"),
    ("of these, moves", "bot.landing.lines.split.count_moves"),
    ("of these, places of paths", "bot.landing.lines.split.classify_path"),
    ("kind", "bot.metrics.measure.classify_all"),
    ("of these, features of the patch", "bot.metrics.kind_features.patches"),
    ("of these, words of the body", "bot.metrics.kind_features.body_words"),
    ("of these, the guess", "bot.metrics.kind_model.Model.score"),
    ("skills", "bot.metrics.measure.skills_of"),
    ("links", "bot.metrics.measure.links"),
    ("AI marks", "bot.metrics.measure.marks"),
    ("co-authors", "bot.metrics.measure.co_authors"),
    ("facts", "bot.metrics.measure.Fact"),
    ("rows of a cache", "bot.history.rows.Rows.of"),
    ("rows written", "bot.history.scratch.Scratch.add"),
    ("rows made searchable", "bot.history.scratch.Scratch.index_keys"),
    ("facts read again for sums", "bot.history.scratch.Scratch.landed_between"),
    ("facts folded", "bot.landing.changes.fold"),
    ("items of the months", "bot.metrics.items.group"),
)
_CLOCK = time.process_time_ns
_ZONE = ZoneInfo("UTC")


class Stopwatch:
    """Own time (nanoseconds) and calls of each step, without the time for reading the clock."""

    def __init__(self) -> None:
        self.own: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._within: list[int] = []
        started = _CLOCK()
        for _ in range(10_000):
            _CLOCK()
        self._reading = (_CLOCK() - started) // 10_000

    def time_step(self, step: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            self._within.append(0)
            started = _CLOCK()
            try:
                return work(*args, **named)
            finally:
                spent = _CLOCK() - started
                self.own[step] += spent - self._within.pop() - self._reading
                self.calls[step] += 1
                if self._within:
                    self._within[-1] += spent + self._reading

        return run


def found_step(name: str) -> tuple[Any, str]:
    """The module or class that contains a step of STEPS, and the attribute's name."""
    path, _, attribute = name.rpartition(".")
    module, _, owner = path.rpartition(".")
    holder = getattr(import_module(module), owner) if owner[:1].isupper() else import_module(path)
    return holder, attribute


def _patch_step(stopwatch: Stopwatch, step: str, name: str) -> Any:
    holder, attribute = found_step(name)
    return patch.object(holder, attribute, stopwatch.time_step(step, getattr(holder, attribute)))


def floor(clone: str) -> int:
    """Nanoseconds of CPU time that git needs to show the complete history with its patches."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["git", "-C", clone, "log", "-p", "-M"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9)


def measure_steps(clone: str) -> tuple[Counter[str], int]:
    """The own time of each step and of everything outside the steps, and the number of commits."""
    record = CloneRecord(open_clones([clone]), cache=False)
    stopwatch, seen = Stopwatch(), []
    replaced = [_patch_step(stopwatch, *step) for step in STEPS]
    for one in replaced:
        one.start()
    try:
        stopwatch.time_step("everything else", record.refresh)(lambda done, _: seen.append(done), 1)
        stopwatch.time_step("everything else of the sums", record.month_sums)(_ZONE, 1)
    finally:
        for one in replaced:
            one.stop()
        record.close()
    return stopwatch.own, max(seen)


def _least(rounds: Sequence[Counter[str]]) -> dict[str, int]:
    return {step: min(one[step] for one in rounds) for step in rounds[0]}


def table(clone: str, rounds: int) -> str:
    """One clone's steps, most expensive first, in microseconds per commit and as a share of git's time."""
    floors, found = [], []
    for _ in range(rounds):
        floors.append(floor(clone))
        found.append(measure_steps(clone))
    commits = found[0][1]
    least, git = _least([own for own, _ in found]), min(floors)
    rows = [(step, own) for step, own in sorted(least.items(), key=lambda row: -row[1])]
    rows += [("all steps", sum(least.values())), ("git log -p -M", git)]
    lines = [f"{step:<34}{own / commits / 1000:>9.1f}{own / git:>8.2f}" for step, own in rows]
    return "\n".join([f"{clone}: {commits} commits, microseconds a commit, share of git's", *lines])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+")
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args(arguments)
    for clone in asked.clones:
        print(table(clone, asked.rounds))


if __name__ == "__main__":
    main()
