"""Is everything counted that a shallow, partial or damaged clone contains, and nothing guessed?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.model.fact import Fact
from tests.history.repository import BEN, Repository

NOW = 1_800_000_000


@pytest.fixture
def whole(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "whole")
    made.git("config", "uploadpack.allowFilter", "true")
    made.commit("Start", {"a.py": "x = 1\ny = 2\n", "b.py": "one = 1\n", "docs/c.md": "Text\n"})
    made.git("checkout", "-q", "-b", "side")
    made.commit("Side", {"side.py": "s = 1\n"}, author=BEN)
    made.git("checkout", "-q", "main")
    made.commit("Main", {"a.py": "x = 2\ny = 2\n"})
    made.merge("side", "Merge pull request #3 from ben/side")
    made.commit("Both", {"a.py": "x = 3\ny = 2\n", "b.py": "one = 2\n"})
    made.commit("Last", {"docs/c.md": "Other text\n", "b.py": "one = 2\ntwo = 2\n"})
    return made


def copy_of(whole: Repository, *options: str) -> Path:
    folder = whole.folder.parent / "copy"
    whole.git("clone", "-q", *options, f"file://{whole.folder}", str(folder))
    return folder


def facts_of(folder: Path, workers: int = 1) -> dict[str, Fact]:
    record = CloneRecord(open_clones([folder]), cache=False, now=NOW)
    try:
        record.refresh(workers=workers)
        return {fact.title: fact for fact in record.facts()}
    finally:
        record.close()


def remove(whole: Repository, name: str) -> None:
    found = whole.git("rev-parse", name)
    (whole.folder / ".git" / "objects" / found[:2] / found[2:]).unlink()


def same_but_lines(found: dict[str, Fact], full: dict[str, Fact]) -> bool:
    return {name: (f.commit, f.author, f.landed_at, f.pull_request) for name, f in found.items()} == {
        name: (f.commit, f.author, f.landed_at, f.pull_request) for name, f in full.items()
    }


@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_a_partial_clone_has_every_commit_and_says_what_it_could_not_read(
    whole: Repository, kind: str, bare: bool
) -> None:
    full = facts_of(whole.folder)
    folder = copy_of(whole, f"--filter={kind}", *(["--bare"] if bare else []))
    objects = sorted(os.listdir(folder / "objects" if bare else folder / ".git" / "objects"))
    found = facts_of(folder)
    assert same_but_lines(found, full)
    assert found["Start"].not_measured == (3 if kind == "blob:none" else 1)
    assert found["Start"].lines.total == 0
    assert sorted(os.listdir(folder / "objects" if bare else folder / ".git" / "objects")) == objects, "it fetched"


def test_files_are_known_by_name_where_their_lines_are_not(whole: Repository) -> None:
    found = facts_of(copy_of(whole, "--filter=blob:none", "--bare"))
    assert found["Both"].paths == ("a.py", "b.py")
    assert (found["Both"].not_measured, found["Both"].lines.total) == (2, 0)


def test_a_shallow_clone_counts_the_commits_it_has_and_no_line_of_those_at_its_start(whole: Repository) -> None:
    full = facts_of(whole.folder)
    found = facts_of(copy_of(whole, "--depth", "2"))
    assert sorted(found) == ["Both", "Last"]
    assert found["Last"].lines == full["Last"].lines
    assert (found["Both"].not_measured, found["Both"].lines.total) == (1, 0)


def test_a_merge_at_the_start_of_a_shallow_clone_is_no_commit(whole: Repository) -> None:
    full = facts_of(whole.folder)
    found = facts_of(copy_of(whole, "--depth", "3"))
    assert sorted(found) == ["Both", "Last"]
    assert found["Both"].lines == full["Both"].lines
    assert sum(fact.not_measured for fact in found.values()) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_one_lost_file_costs_its_own_lines_only(
    whole: Repository, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr("bot.history.record.BATCH", 2)
    monkeypatch.setattr("bot.history.record._FEW", 1)
    full = facts_of(whole.folder)
    remove(whole, "HEAD~1:a.py")
    found = facts_of(whole.folder, workers)
    assert same_but_lines(found, full)
    assert {name: fact.not_measured for name, fact in found.items() if fact.not_measured} == {"Both": 1}
    assert found["Both"].lines.total == 2
    assert {n: f.lines for n, f in found.items() if n != "Both"} == {n: f.lines for n, f in full.items() if n != "Both"}


def test_a_lost_folder_costs_the_commits_that_need_it(whole: Repository) -> None:
    full = facts_of(whole.folder)
    remove(whole, "HEAD:docs")
    found = facts_of(whole.folder)
    assert same_but_lines(found, full)
    assert {name for name, fact in found.items() if fact.not_measured} == {"Last"}
    assert found["Both"].lines == full["Both"].lines


def test_a_file_that_may_have_been_renamed_is_not_read_as_new(whole: Repository) -> None:
    long = "".join(f"line {number}\n" for number in range(50))
    whole.commit("Long", {"long.py": long})
    whole.commit("Move", {"long.py": None, "moved.py": long + "more\n"})
    remove(whole, "HEAD~1:long.py")
    found = facts_of(whole.folder)["Move"]
    assert (found.lines.total, found.not_measured) == (0, 2)


def test_facts_of_a_damaged_clone_are_read_anew(whole: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(whole.folder.parent / "cache"))
    blob = whole.git("rev-parse", "HEAD~1:a.py")
    file = whole.folder / ".git" / "objects" / blob[:2] / blob[2:]
    text = file.read_bytes()
    file.unlink()
    assert _cached(whole) == (1, 1)
    file.write_bytes(text)
    assert _cached(whole) == (0, 0)


def _cached(whole: Repository) -> tuple[int, int]:
    record = CloneRecord(open_clones([whole.folder]), now=NOW)
    try:
        record.refresh(workers=1)
        return record.count_not_measured()
    finally:
        record.close()


def test_a_complete_clone_is_not_searched_for_objects(whole: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.history.incomplete.git_stream", None)
    assert all(fact.not_measured == 0 for fact in facts_of(whole.folder).values())
