from pathlib import Path

import pytest

from bot.history import notes as notes_module
from bot.history import record as record_module
from bot.history.clone import open_clone
from bot.history.notes import Notes
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.model.fact import Fact
from bot.model.ids import CommitId
from tests.history.repository import Repository

NOTE = """a.py
  s_0123456789abcd::t_0123456789abcd 1-3,7
  h_0123456789abcd 4
---
{"schema_version": "authorship/3.0.0", "sessions": {"s_0123456789abcd": {"agent_id": {"tool": "cursor"}}}}
"""


def facts(repository: Repository, *, workers: int = 1, cache: bool = False) -> list[Fact]:
    record = CloneRecord(open_clones([repository.folder]), cache=cache)
    record.refresh(workers=workers)
    found = [one.fact for change in record.all_changes() for one in change.commits]
    record.close()
    return found


def note(repository: Repository, commit: str, text: str = NOTE) -> None:
    repository.git("notes", "--ref=ai", "add", "-f", "-m", text, commit)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "rocket")
    for number in range(4):
        made.commit(f"feat: step {number}", {"a.py": f"x = {number}\n" * 8})
    return made


def test_a_clone_without_notes_needs_no_further_git_call(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_clone(repository.folder).notes == ""
    monkeypatch.setattr(notes_module, "git", None)
    monkeypatch.setattr(notes_module, "git_stream", None)
    assert Notes(repository.folder, "").of(["0" * 40]) == {}


def test_each_commit_is_given_its_own_note_and_no_other(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes_module, "MOST_NOTES", 2)
    commits = repository.git("log", "--format=%H").split()
    for number, commit in enumerate(commits[:3]):
        note(repository, commit, f"note {number}")
    found = Notes(repository.folder, open_clone(repository.folder).notes).of(commits)
    assert found == {commit: f"note {number}\n" for number, commit in enumerate(commits[:3])}


def test_an_endless_note_is_cut_and_the_next_one_is_read(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = repository.git("log", "--format=%H").split()
    note(repository, commits[0], "long " * 1000)
    note(repository, commits[1], "short")
    monkeypatch.setattr(notes_module, "LONGEST_NOTE", 8)
    found = Notes(repository.folder, open_clone(repository.folder).notes).of(commits)
    assert found == {commits[0]: "long lon", commits[1]: "short\n"}


def test_a_missing_note_is_left_out(repository: Repository) -> None:
    commit = repository.git("rev-parse", "HEAD")
    note(repository, commit)
    tip = open_clone(repository.folder).notes
    blob = repository.git("notes", "--ref=ai", "list", commit)
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert Notes(repository.folder, tip).of([commit]) == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_ai_use_in_git_notes_is_declared_with_tool_and_lines(
    repository: Repository, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_module, "BATCH", 2)
    noted = CommitId(repository.git("rev-parse", "HEAD~2"))
    note(repository, noted)
    found = {fact.commit: fact.ai for fact in facts(repository, workers=workers)}
    (mark,) = found.pop(noted)
    assert (mark.level, mark.tool, mark.source) == (1, "Cursor", "line notes: 4 lines")
    assert not any(found.values())


def test_a_later_note_is_measured_even_without_a_new_commit(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert not any(fact.ai for fact in facts(repository, cache=True))
    note(repository, repository.git("rev-parse", "HEAD"))
    assert [mark.level for fact in facts(repository, cache=True) for mark in fact.ai] == [1]
