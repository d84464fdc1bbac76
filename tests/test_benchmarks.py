"""Can every benchmark import what it measures? None is run here; otherwise a removed name would go unnoticed."""

from __future__ import annotations

import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import made_history
from benchmarks.measuring_stages import STEPS, found_step

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "benchmarks").rglob("*.py")
    if path.name not in ("__init__.py", "__main__.py")
)


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_finds_what_it_imports(name: str) -> None:
    import_module(name)


@pytest.mark.parametrize(("step", "name"), STEPS)
def test_every_step_of_measuring_that_is_timed_is_there(step: str, name: str) -> None:
    holder, attribute = found_step(name)
    assert callable(getattr(holder, attribute)), step


def test_a_generated_history_is_valid_has_merges_and_is_reproducible(tmp_path: Path) -> None:
    told = []
    for name in ("one", "other"):
        folder = tmp_path / f"{name}.git"
        made_history.make(folder, commits=120)
        subprocess.run(["git", "-C", str(folder), "fsck", "--strict"], check=True, capture_output=True)
        log = ["git", "-C", str(folder), "log", "--format=%H %P"]
        told.append(subprocess.run(log, check=True, capture_output=True, text=True).stdout)
    lines = [line.split() for line in told[0].splitlines()]
    assert told[0] == told[1]
    assert len([line for line in lines if len(line) <= 2]) >= 120
    assert any(len(line) == 3 for line in lines)
