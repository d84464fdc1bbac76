"""How is a measurement reported? One row per kind of work, against its floor, as text and as JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict


class CannotRunError(Exception):
    """A row cannot be measured here; the text says why and replaces it."""


class TableLine(Struct, frozen=True):
    """One row of the table."""

    work: str
    floor: str
    ours: str
    ratio: str


class Measurement(Struct, frozen=True):
    """One measurement; `ratio` is always ours divided by the floor, for rates and costs alike."""

    work: str
    floor: str
    floor_value: float
    ours: float
    unit: str
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.floor_value if self.floor_value else float("nan")

    def as_line(self) -> TableLine:
        """The row as the table shows it."""
        work = f"{self.work} ({self.note})" if self.note else self.work
        floor = f"{self.floor}: {self.floor_value:,.4g} {self.unit}"
        return TableLine(work, floor, f"{self.ours:,.4g} {self.unit}", f"{self.ratio:.2f}")


def machine() -> dict[str, str]:
    """The machine of the measurement."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _cpu_lines() if line.startswith("model name")), platform.machine()
    )
    return {
        "processor": f"{model}, {len(os.sched_getaffinity(0))} cores usable",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.release()}",
        "load": " ".join(f"{one:.1f}" for one in os.getloadavg()),
    }


def _cpu_lines() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []


def show(rows: Sequence[TableLine | Measurement]) -> str:
    """The rows as a Markdown table."""
    head = ["| work | floor or peer | ours | ratio |", "|---|---|---|---|"]
    lines = [f"| {row.work} | {row.floor} | {row.ours} | {row.ratio} |" for row in map(as_line, rows)]
    return "\n".join([*head, *lines]) + "\n"


def as_line(row: TableLine | Measurement) -> TableLine:
    return row.as_line() if isinstance(row, Measurement) else row


def save(rows: Sequence[TableLine | Measurement], path: Path) -> None:
    """Write the rows as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine(), "rows": [asdict(as_line(row)) for row in rows]}
    path.write_text(json.dumps(content, indent=1) + "\n")


def measure_alternately(rounds: int, floor: Callable[[], float], ours: Callable[[], float]) -> tuple[float, float]:
    """The median of both, measured alternately, so that a busy moment affects both."""
    found = [(floor(), ours()) for _ in range(rounds)]
    return statistics.median(one for one, _ in found), statistics.median(one for _, one in found)


def print_progress(text: str) -> None:
    """Print progress, separately from the table."""
    print(text, file=sys.stderr, flush=True)
