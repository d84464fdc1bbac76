from contextlib import closing
from pathlib import Path

import pytest

from bot.history import patches
from bot.history.git import GitError
from bot.history.log import commits
from bot.history.patches import PatchReader
from tests.history.repository import BEN, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "rocket")
    made.commit("start", {"a.py": "x = 1\ny = 2\nz = 3\n", "b.bin": b"\0\1\2"})
    made.commit("Größer\n\nend 00\n\x01text\n", {"a.py": "x = 1\ny = 3\nz = 3"}, author=BEN)
    made.commit("nothing", {})
    made.git("mv", "a.py", "sub.py")
    made.commit("move", {"b.bin": None})
    return made


def test_one_git_reads_what_a_git_for_each_call_reads(repository: Repository) -> None:
    ids = repository.git("rev-list", "HEAD").split()
    with closing(PatchReader(repository.folder)) as reader:
        assert list(reader.read(ids[:1])) + list(reader.read(ids[1:])) == list(commits(repository.folder, ids))


def test_commits_may_be_asked_for_before_those_asked_for_first_are_read(repository: Repository) -> None:
    ids = repository.git("rev-list", "HEAD").split()
    with closing(PatchReader(repository.folder)) as reader:
        first, second = reader.read(ids[:2]), reader.read(ids[2:])
        assert [commit.id for commit in (*first, *second)] == ids


def test_more_ids_than_a_pipe_holds_are_asked_for_in_turns(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patches, "MOST_IDS", 2)
    ids = repository.git("rev-list", "HEAD").split()
    with closing(PatchReader(repository.folder)) as reader:
        assert [commit.id for commit in reader.read(ids)] == ids


def test_a_missing_commit_is_an_error(repository: Repository) -> None:
    with closing(PatchReader(repository.folder)) as reader, pytest.raises(GitError):
        list(reader.read([repository.git("rev-parse", "HEAD"), "0" * 39 + "1"]))


def test_a_damaged_object_is_an_error(repository: Repository) -> None:
    blob = repository.git("rev-parse", "HEAD~3:a.py")
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    ids = repository.git("rev-list", "HEAD").split()
    with closing(PatchReader(repository.folder)) as reader, pytest.raises(GitError, match="damaged clone, without"):
        list(reader.read(ids))
