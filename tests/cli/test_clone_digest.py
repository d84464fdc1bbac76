"""Can anybody print a month's digest from a clone, without an App, a server or credentials?"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.recomputing.digest import clone_digest
from bot.cli.recomputing.offline import read_window
from bot.configuration.errors import UnusableInputError
from tests.history.repository import Repository

UTC = read_window(None, None, "UTC")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = Repository(tmp_path / "rocket")
    for number in range(1, 6):
        title = f"feat: add the stage with number {number}"
        repository.commit(title, {f"engine/stage{number}.py": f"value = {number}\n"})
    return repository


def month_of_head(repository: Repository) -> str:
    return repository.git("log", "-1", "--format=%cs")[:7]


def test_a_month_is_printed_from_a_clone_alone(clone: Repository) -> None:
    text = clone_digest([str(clone.folder)], "acme/rocket", month_of_head(clone), UTC)
    assert "5 commits by Ada Brook" in text
    assert text.count("the stage with number") == 5
    assert "/almanac opt-out" in text


def test_a_month_without_work_prints_nothing(clone: Repository) -> None:
    assert clone_digest([str(clone.folder)], "acme/rocket", "1999-01", UTC) == ""


def test_a_wrong_month_is_refused_in_one_line(clone: Repository) -> None:
    with pytest.raises(UnusableInputError, match="--month"):
        clone_digest([str(clone.folder)], "acme/rocket", "soon", UTC)


def test_a_person_with_an_account_elsewhere_in_the_history_has_one_row_and_numbers_agree(clone: Repository) -> None:
    cleo = ("Cleo Example", "cleo@example.org")
    clone.commit(
        "docs: name the cook", {"README.md": "1\n"}, author=("Cleo Example", "77+cleo@users.noreply.github.com")
    )
    clone.commit(
        "docs: name the cook again", {"README.md": "2\n"}, author=("Cleo Example", "77+cleo@users.noreply.github.com")
    )
    clone.git("commit", "-q", "--allow-empty", "-m", "Co-author\n\nCo-authored-by: Cleo Example <cleo@example.org>")
    clone.commit("feat: add a galley (#12)", {"galley.py": "value = 1\n"}, author=cleo, days=40)
    text = clone_digest([str(clone.folder)], "acme/rocket", month_of_head(clone), UTC)
    assert "1 commit by Cleo Example: 1 feature" in text
    assert "(https://redirect.github.com/acme/rocket/commit/" in text, "the name that was given is the repository's"
