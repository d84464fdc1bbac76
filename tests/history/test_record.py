import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.configuration.errors import UnusableInputError
from bot.history import record as record_module
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.model.fact import Fact
from tests.history.repository import ADA, BEN, Repository


def facts(repository: Repository, *, workers: int, cache: bool = False) -> list[Fact]:
    record = CloneRecord(open_clones([repository.folder]), cache=cache)
    record.refresh(workers=workers)
    found = [one.fact for change in record.all_changes() for one in change.commits]
    record.close()
    return found


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "rocket")
    made.commit("rules", {".github/almanac.yml": "kinds:\n  scopes:\n    thrust: feature\n"})
    for number in range(9):
        made.commit(f"[thrust] step {number}", {"a.py": f"x = {number}\n"}, author=(ADA, BEN)[number % 2])
    return made


def test_workers_measure_what_one_process_measures(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_module, "BATCH", 3)
    alone = facts(repository, workers=1)
    assert len(alone) == 10
    assert facts(repository, workers=2) == alone


def test_the_repository_s_own_scopes_decide_the_kind(repository: Repository) -> None:
    assert {fact.kind for fact in facts(repository, workers=1) if "[thrust]" in fact.title} == {"feature"}


def test_a_second_run_measures_only_what_is_new(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = facts(repository, workers=1, cache=True)
    measured: list[int] = []
    repository.commit("one more", {"a.py": "x = 99\n"})
    record = CloneRecord(open_clones([repository.folder]))
    record.refresh(lambda done, total: measured.append(total), workers=1)
    assert measured == [1]
    assert len(record.all_changes()) == len(first) + 1
    record.close()


def test_rewritten_history_is_measured_again(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = facts(repository, workers=1, cache=True)
    repository.git("reset", "-q", "--hard", "HEAD~3")
    repository.commit("instead", {"a.py": "x = 1000\n"})
    after = facts(repository, workers=1, cache=True)
    assert len(after) == len(before) - 2
    assert after == facts(repository, workers=1)


def test_a_cache_locked_by_another_run_is_not_used(repository: Repository, cached_file: Path) -> None:
    with closing(sqlite3.connect(cached_file, isolation_level=None)) as holder:
        holder.execute("begin immediate")
        before = cached_file.read_bytes()
        repository.commit("one more", {"a.py": "x = 99\n"})
        assert facts(repository, workers=1, cache=True) == facts(repository, workers=1)
        assert cached_file.read_bytes() == before


@pytest.fixture
def cached_file(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the repository's facts were kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    facts(repository, workers=1, cache=True)
    (file,) = (tmp_path / "cache" / "almanac").glob("*.sqlite")
    return file


def test_a_cache_that_is_not_a_database_is_rebuilt(repository: Repository, cached_file: Path) -> None:
    cached_file.write_bytes(b"no database at all")
    assert facts(repository, workers=1, cache=True) == facts(repository, workers=1)
    assert cached_file.read_bytes().startswith(b"SQLite format 3")


def test_a_corrupt_cache_is_reported_and_deleted(repository: Repository, cached_file: Path) -> None:
    whole = cached_file.read_bytes()
    cached_file.write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    record = CloneRecord(open_clones([repository.folder]))
    with (
        pytest.raises(UnusableInputError, match="damaged and has been deleted; run the command again"),
        record.report_cache_errors(),
    ):
        record.all_changes()
    record.close()
    assert not cached_file.exists()


def test_figures_and_people_are_those_of_the_history_whatever_is_checked_out(repository: Repository) -> None:
    first = repository.tip()
    repository.commit("map", {".mailmap": "Ada Stone <ada@example.org>\n"}, author=BEN)
    repository.commit("draw", {"art.txt": "a\nb\n", ".gitattributes": "*.txt binary\n"})
    expected = facts(repository, workers=1)
    assert {fact.author.name for fact in expected} == {"Ada Stone", "Ben Castor"}
    assert {fact.title: fact.lines.total for fact in expected}["draw"] == 3
    repository.git("checkout", "-q", first)
    (repository.folder / ".gitattributes").write_text("*.py binary\n")
    (repository.folder / ".mailmap").write_text("Nobody <ben@example.org>\n")
    assert facts(repository, workers=1) == expected


def test_the_users_git_configuration_changes_nothing(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(
        "écrire", {"a.py": "x = 1\n" * 50, "b.py": "y = 1\n" * 50}, author=("Zoé Brün", "zoe@example.org")
    )
    repository.git("mv", "a.py", "c.py")
    repository.git("mv", "b.py", "d.py")
    repository.commit("move", {"e.py": "z = 1\n"})
    expected = facts(repository, workers=1)
    (tmp_path / ".gitconfig").write_text(
        "[i18n]\n\tlogOutputEncoding = ISO-8859-1\n[core]\n\tbigFileThreshold = 20\n[diff]\n\trenameLimit = 1\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    assert facts(repository, workers=1) == expected


def test_a_symlinked_mailmap_names_people_too(repository: Repository) -> None:
    (repository.folder / ".mailmap").symlink_to("people.txt")
    repository.commit("map", {"people.txt": "Ada Stone <ada@example.org>\n"}, author=BEN)
    assert {fact.author.name for fact in facts(repository, workers=2)} == {"Ada Stone", "Ben Castor"}
