"""Can every benchmark still find what it measures? None is run here; a name that went would else be noticed last."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

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
