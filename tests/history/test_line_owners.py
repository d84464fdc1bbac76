"""Does a clone's cache attribute new commits as a run over the whole history would?"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.recomputing.offline import record_of
from bot.metrics.line_fates import LineRecord
from tests.history.repository import Repository


def lines_of(clone: Repository) -> LineRecord:
    with record_of([str(clone.folder)]) as record:
        return record.line_record()


def wheel(*turns: int) -> dict[str, str]:
    return {"wheel.py": "".join(f"    spoke_{turn} = turn(spoke_{turn})\n" for turn in turns)}


def test_new_commits_are_attributed_as_in_a_run_over_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    clone = Repository(tmp_path / "rocket")
    clone.commit("feat: a wheel (#1)", wheel(1, 2, 3, 4))
    assert sum(lines_of(clone).added.values()) == 4
    clone.commit("fix: the wheel (#2)", wheel(1, 2, 3, 9), days=40)
    clone.commit("fix: the wheel again (#3)", wheel(1, 2, 8, 7), days=50)
    grown = lines_of(clone)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert lines_of(clone) == grown
    assert sorted(one.replaced for one in grown.losses) == [1, 1, 1]
