"""How often is git started? Each start costs more than most of its answers."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from bot.history import git, patches, record
from bot.history.git import command
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from tests.history.repository import Repository

OPENED = {"rev-parse": 1, "symbolic-ref": 2, "cat-file": 2, "config": 1}
"""what a clone is, whether anything of it is new, and by which rules it was measured"""
MEASURED = {"log": 1, "diff-tree": 1}
"""what landed, and the patches of all of it with the merges that brought it"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Repository(tmp_path / "rocket")
    made.commit("start", {"a.py": "x = 1\n"})
    for number in range(3):
        made.git("checkout", "-q", "-b", f"topic-{number}")
        made.commit(f"step {number}", {f"{number}.py": "x = 1\n"})
        made.git("checkout", "-q", "main")
        made.merge(f"topic-{number}", f"Merge pull request #{number + 1} from ada/topic-{number}")
    return made


@pytest.fixture
def called() -> Counter[str]:
    return Counter()


def run(repository: Repository, called: Counter[str]) -> None:
    """Count the git calls of a fresh process without anything cached in memory."""
    with ProcessPoolExecutor(1, get_context("fork")) as process:
        called.update(process.submit(_calls, repository.folder).result())


def _calls(folder: Path) -> Counter[str]:
    found: Counter[str] = Counter()

    def counted(folder: Path, arguments: Sequence[str], mailmap: str = "") -> list[str]:
        found[arguments[0]] += 1
        return command(folder, arguments, mailmap)

    with pytest.MonkeyPatch.context() as patch:
        for module in (git, patches):
            patch.setattr(module, "command", counted)
        cloned = CloneRecord(open_clones([folder]))
        cloned.refresh(workers=1)
        cloned.close()
    return found


def test_one_git_lists_a_history_and_one_reads_it(repository: Repository, called: Counter[str]) -> None:
    run(repository, called)
    assert called == OPENED | MEASURED


def test_history_is_not_read_without_new_commits(repository: Repository, called: Counter[str]) -> None:
    run(repository, called)
    called.clear()
    run(repository, called)
    assert called == OPENED


def test_the_list_of_new_commits_also_shows_rewritten_history(repository: Repository, called: Counter[str]) -> None:
    run(repository, called)
    repository.commit("one more", {"a.py": "x = 2\n"})
    called.clear()
    run(repository, called)
    assert called == OPENED | MEASURED


def test_compiled_python_files_do_not_change_the_program_hash(
    repository: Repository, called: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "room"
    (room / "__pycache__").mkdir(parents=True)
    (room / "__init__.py").write_text("")
    monkeypatch.setattr(record.narrative_room, "__file__", str(room / "__init__.py"))
    run(repository, called)
    (room / "__pycache__" / "more.cpython-311.pyc").write_bytes(b"\0")
    called.clear()
    run(repository, called)
    assert called == OPENED
    (room / "more.py").write_text("x = 1\n")
    run(repository, called)
    assert called["diff-tree"] == 1
