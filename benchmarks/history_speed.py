"""How long does reading a clone's complete history take, compared with git itself and other programs in one run?

    python -m benchmarks.history_speed [CLONE] [--rounds 2] [--peers] [--changes]

The floor is `git log -p -M` with its output discarded. Rows show both wall and CPU seconds (user + system, all
processes): on a shared machine only CPU time is reliable. Peers are installed into build/peers; each reads the same
history as ours in the same run, limited to the oldest commits of the clone if all of it would take too long. A clone
may be bare; it is copied if other commits are needed, and never modified.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.history_peers import peers as known_peers

CLONE = "BENCH_CLONE"
OWN = Path(__file__).resolve().parent.parent
NEW_COMMITS = 100
MIB = 1024
_CONTRIBUTORS = "import sys; from bot.cli.main import main; main(sys.argv[1:])"
_WORKERS = "import os, sys; os.cpu_count = lambda: {count}; from bot.cli.main import main; main(sys.argv[1:])"
_PEAK = (
    "import atexit, resource, sys; atexit.register(lambda: print('peak',"
    " *(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)),"
    " file=sys.stderr)); "
)
"""makes the command report at its end the peak memory of itself and of its largest worker (KiB)"""
PEER_COMMITS = 1500
"""the most commits, without merges, that peers have to read"""
PEER_SECONDS = 90

Row = dict[str, object]


class Measured:
    """The cost of one command. Raises RuntimeError if it fails or runs longer than `limit` seconds."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, *, limit: float | None = None
    ) -> None:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=output,
                    env=dict(os.environ, **env) if env else None,
                    check=False,
                    timeout=limit,
                )
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"not ended after {limit:.0f} s") from None
            output.seek(0)
            self.output = output.read().decode("utf-8", "replace")
        self.wall = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.code = done.returncode
        if self.code:
            raise RuntimeError(f"{command[0]} ended with {self.code}: {self.output[-400:]}")

    @property
    def peaks(self) -> tuple[float, float]:
        """Peak MiB of the command itself and of the largest process it started (including git's memory maps)."""
        line = next((line for line in self.output.splitlines() if line.startswith("peak ")), "peak 0 0")
        own, others = line.split()[1:]
        return int(own) / MIB, int(others) / MIB


def _floor(clone: str) -> Measured:
    return Measured(["git", "-C", clone, "log", "-p", "-M"])


def _ours(command: Sequence[str], cache: Path, workers: int | None = None) -> Measured:
    program = _PEAK + (_WORKERS.format(count=workers) if workers else _CONTRIBUTORS)
    return Measured([sys.executable, "-c", program, *command], {"XDG_CACHE_HOME": str(cache)})


def _row(work: str, ours: Measured, floor: Measured, name: str = "git log -p -M") -> Row:
    own, others = ours.peaks
    return {
        "work": work,
        "wall_s": round(ours.wall, 2),
        "cpu_s": round(ours.cpu, 2),
        "floor": name,
        "floor_wall_s": round(floor.wall, 2),
        "floor_cpu_s": round(floor.cpu, 2),
        "ratio_wall": round(ours.wall / floor.wall, 3),
        "ratio_cpu": round(ours.cpu / floor.cpu, 3),
        "own_mib": round(own, 1),
        "largest_child_mib": round(others, 1),
    }


def _cold_row(clone: str, rounds: int, workers: int | None, command: Sequence[str]) -> Row:
    """The best of several rounds that alternate between floor and ours."""
    floors, ours = [], []
    for _ in range(rounds):
        floors.append(_floor(clone))
        with tempfile.TemporaryDirectory() as cache:
            ours.append(_ours([*command[:1], clone, *command[1:]], Path(cache), workers))
    name = f"{command[0]}, cold, {workers or os.cpu_count()} worker(s)"
    return _row(name, min(ours, key=lambda one: one.cpu), min(floors, key=lambda one: one.cpu))


def _git(clone: str, *arguments: str) -> str:
    return subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def _warm_rows(clone: str) -> list[Row]:
    """A second run on the same head, and one after a hundred more commits of the first-parent line."""
    floor = _floor(clone)
    with tempfile.TemporaryDirectory() as folder:
        copy, cache = str(Path(folder) / "clone.git"), Path(folder) / "cache"
        subprocess.run(["git", "clone", "-q", "--bare", "--shared", clone, copy], check=True)
        branch = _git(copy, "symbolic-ref", "HEAD")
        today = _git(copy, "rev-parse", branch)
        _git(copy, "update-ref", branch, _older_head(copy, today))
        start = min((_ours(["--help"], cache) for _ in range(3)), key=lambda one: one.wall)
        _ours(["contributors", copy], cache)
        again = min((_ours(["contributors", copy], cache) for _ in range(3)), key=lambda one: one.cpu)
        _git(copy, "update-ref", branch, today)
        caches = [shutil.copytree(cache, Path(folder) / f"cache {turn}") for turn in range(3)]
        more = min((_ours(["contributors", copy], one) for one in caches), key=lambda one: one.cpu)
    rows = [_row("contributors, second run", again, floor), _row(f"the same, {NEW_COMMITS} commits later", more, floor)]
    for row, ours in zip(rows, (again, more), strict=True):
        row["beyond_start_s"] = round(ours.wall - start.wall, 2)
        row["beyond_start_cpu_s"] = round(ours.cpu - start.cpu, 2)
    return rows


def _older_head(clone: str, head: str) -> str:
    """The newest first-parent commit that lacks at least NEW_COMMITS of the current commits."""
    for sha in _git(clone, "rev-list", "--first-parent", "-n", str(NEW_COMMITS + 1), head).split():
        if int(_git(clone, "rev-list", "--count", "--no-merges", head, f"^{sha}")) >= NEW_COMMITS:
            return sha
    return head


# --- peers -----------------------------------------------------------------------------------------------------------


def _peer_rows(clone: str) -> Iterator[Row]:
    """Ours and each peer on a working copy that shares the objects, because some peers cannot read a bare clone."""
    with tempfile.TemporaryDirectory() as folder:
        bare, copy = f"{folder}/bare.git", f"{folder}/copy"
        subprocess.run(["git", "clone", "-q", "--bare", "--shared", clone, bare], check=True)
        commits = shorten(bare, PEER_COMMITS)
        subprocess.run(["git", "clone", "-q", "--shared", bare, copy], check=True)
        with tempfile.TemporaryDirectory() as cache:
            ours = _ours(["contributors", copy], Path(cache))
        for name, command in known_peers(copy):
            if command is None:
                yield {"work": name, "note": "could not be installed here"}
                continue
            try:
                theirs = Measured(command, limit=PEER_SECONDS)
            except RuntimeError as error:
                yield {"work": f"{name}, {commits:,} commits", "note": str(error)[:200]}
                continue
            yield _row(f"contributors, cold, of {commits:,} commits", ours, theirs, name)


def shorten(bare: str, most: int) -> int:
    """Move the branch of a clone back until it has at most `most` commits, without merges; return their number."""
    line = _git(bare, "rev-list", "--first-parent", "HEAD").split()
    counts: dict[int, int] = {}

    def fits(index: int) -> bool:
        counts[index] = int(_git(bare, "rev-list", "--count", "--no-merges", line[index]))
        return counts[index] <= most

    index = bisect_left(range(len(line) - 1), True, key=fits)
    fits(index)
    _git(bare, "update-ref", "HEAD", line[index])
    return counts[index]


def rows(clone: str | None = None, *, rounds: int = 2, peers: bool = False, changes: bool = False) -> Iterator[Row]:
    """Yield one row for each kind of work as it is measured, with its floor.

    The default clone is the one that BENCH_CLONE names, or else a copy of this project's own history.
    """
    clone = clone or os.environ.get(CLONE)
    if not clone:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "clone", "-q", "--bare", "--no-hardlinks", OWN, f"{folder}/own.git"], check=True)
            yield from rows(f"{folder}/own.git", rounds=rounds, peers=peers, changes=changes)
            return
    yield _cold_row(clone, rounds, None, ("contributors",))
    yield from _warm_rows(clone)
    if peers:
        yield from _peer_rows(clone)
    yield _cold_row(clone, 1, 1, ("contributors",))
    if changes:
        yield _cold_row(clone, 1, None, ("changes",))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", nargs="?", help=f"otherwise ${CLONE}, or this project's own history")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", action="store_true", help="install and run other programs too")
    parser.add_argument("--changes", action="store_true", help="`almanac changes` too")
    asked = parser.parse_args(arguments)
    for row in rows(asked.clone, rounds=asked.rounds, peers=asked.peers, changes=asked.changes):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
