"""How do the rows of other benchmarks enter the table: a history, requests to GitHub, a backfill, pages?

`BENCH_CLONE` names the clone whose history is read; without it one is generated, because nothing is downloaded.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import made_history
from benchmarks.history_speed import CLONE, shorten
from benchmarks.speed.table import CannotRunError, TableLine, print_progress

MADE = Path("build/made-history.git")
PULLS = 2000
COMMITS = 4000
"""the most commits that a backfill imports, so that the simulated GitHub can answer within the row's time limit"""
_COST = re.compile(r"calm: (\d+) pull requests .*? took (\d+) requests \(.*?\) and (\d+) points")


def clone() -> str:
    """The named clone, or one that is generated once."""
    found = os.environ.get(CLONE, "")
    if not found and not MADE.exists():
        print_progress(f"    making up a history (a minute, once; {CLONE}=PATH names another)")
        with tempfile.TemporaryDirectory(dir=MADE.parent) as folder:
            made_history.make(Path(folder) / MADE.name)
            (Path(folder) / MADE.name).rename(MADE)
    return found or str(MADE)


def history() -> Iterator[TableLine]:
    """Every contributor of a clone, compared with `git log -p -M` and other programs.

    Rows give the CPU time of all processes, which remains comparable on a busy machine.
    """
    from benchmarks.history_speed import rows

    yield from map(_of_history, rows(clone(), rounds=1, peers=True))


def _of_history(row: dict[str, Any]) -> TableLine:
    work = f"a local history: {row['work']}"
    if "cpu_s" not in row:
        return TableLine(work, "", f"did not run: {row['note']}", "")
    memory = f", {row['own_mib']} MiB" if row.get("own_mib") else ""
    start = f", {row['beyond_start_s']} s beyond the start" if "beyond_start_s" in row else ""
    floor = f"{row['floor']}: {row['floor_wall_s']} s, {row['floor_cpu_s']} s of CPU"
    ours = f"{row['wall_s']} s{start}, {row['cpu_s']} s of CPU{memory}"
    return TableLine(work, floor, ours, f"{row['ratio_wall']:.2f}, CPU {row['ratio_cpu']:.2f}")


def requests() -> list[TableLine]:
    """The requests that one landed pull request needs, counted at the simulated GitHub."""
    return asyncio.run(_requests())


async def _requests() -> list[TableLine]:
    from simulator.server import Simulator
    from tests.path.requests import QUICK, WAYS, shop

    lines = []
    with tempfile.TemporaryDirectory() as folder:
        async with Simulator() as github, shop(github, Path(folder)) as there:
            for name in QUICK:
                WAYS[name][0](there)
                lines.append(_of_requests(name, await there.cost()))
    return lines


def _of_requests(name: str, cost: Counter[str]) -> TableLine:
    """Compare with one read and one post per landing; the number of posts is the number of landings."""
    landings = sum(count for operation, count in cost.items() if operation.startswith("POST"))
    ours = ", ".join(f"{count} {operation}" for operation, count in sorted(cost.items()))
    return TableLine(
        f"live, {name}", f"a read and a post each: {2 * landings}", ours, f"{cost.total() / 2 / landings:.2f}"
    )


def backfill() -> list[TableLine]:
    """The cost of a backfill at the simulated GitHub: one run without kills, of the oldest commits."""
    with tempfile.TemporaryDirectory() as folder:
        shorter = f"{folder}/clone.git"
        subprocess.run(["git", "clone", "-q", "--bare", "--shared", clone(), shorter], check=True)
        shorten(shorter, COMMITS)
        command = [sys.executable, "-m", "tests.campaigns.history", shorter, str(PULLS), "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = _COST.search(done.stdout)
    if found is None:
        raise CannotRunError((done.stderr or done.stdout or "it said nothing").strip().splitlines()[-1])
    pulls, requests, points = (int(one) for one in found.groups())
    ours = f"{requests / pulls:.4f} requests, {points / pulls:.4f} points each"
    return [TableLine(f"backfill of {pulls:,} pull requests", "wanted: 0.012", ours, f"{requests / pulls / 0.012:.2f}")]


def pages() -> list[TableLine]:
    """A profile page, rendered and served again."""
    from benchmarks.page_render import rows

    return [
        TableLine(f"page: {row['work']}", str(row["floor"]), str(row["ours"]), f"{row['ratio']:.2f}") for row in rows()
    ]
