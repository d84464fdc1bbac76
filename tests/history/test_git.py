import os
from pathlib import Path

import pytest

from bot.history.clone import open_clone
from bot.history.git import blobs_named, commits_named, complaint, environment
from bot.model.commit import Repository as Named
from tests.history.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "rocket")
    made.commit("start", {"a.py": "x = 1\n", "folder/b c.py": "y = 2\n\nz = 3", "empty": ""})
    return made


def test_names_that_resolve_to_no_commit_are_left_out(repository: Repository) -> None:
    head = repository.git("rev-parse", "HEAD")
    names = ("refs/heads/none", "HEAD", "refs/notes/ai", "refs/heads/main", "HEAD:a.py")
    assert commits_named(repository.folder, names) == {"HEAD": head, "refs/heads/main": head}


def test_files_are_read_with_their_ids_though_others_are_missing_or_folders(repository: Repository) -> None:
    head = repository.git("rev-parse", "HEAD")
    names = [f"{head}:{path}" for path in ("none", "folder/b c.py", "folder", "empty", "a.py")]
    found = blobs_named(repository.folder, names)
    assert {name: text for name, (_, text) in found.items()} == {
        f"{head}:folder/b c.py": "y = 2\n\nz = 3",
        f"{head}:empty": "",
        f"{head}:a.py": "x = 1\n",
    }
    assert found[f"{head}:a.py"][0] == repository.git("rev-parse", "HEAD:a.py")


def test_a_clone_gives_the_text_of_the_default_branch_whatever_is_checked_out(repository: Repository) -> None:
    clone = open_clone(repository.folder)
    repository.commit("more", {"a.py": "x = 2\n"})
    assert clone.text("a.py") == "x = 1\n"
    assert clone.text("none.py") == ""


def test_git_keeps_freed_memory_unless_the_user_configured_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    assert int(environment()["MALLOC_TRIM_THRESHOLD_"]) > 1 << 20
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "4096")
    assert environment()["MALLOC_TRIM_THRESHOLD_"] == "4096"


def test_a_link_is_the_file_that_it_leads_to_in_the_same_commit(repository: Repository) -> None:
    folder = repository.folder
    (folder / "settings").mkdir()
    (folder / "inner.yml").symlink_to("settings/real.yml")
    (folder / "dangling.yml").symlink_to("settings/none.yml")
    (folder / "outer.yml").symlink_to("../../elsewhere.yml")
    (folder / "loop.yml").symlink_to("loop.yml")
    (folder / "within.yml").symlink_to("settings/real.yml/deeper.yml")
    repository.commit("Link", {"settings/real.yml": "a: 1\n", "plain.yml": "b: 2\n"})
    names = ["inner", "dangling", "outer", "loop", "within", "absent", "plain"]
    clone = open_clone(folder)
    found = {name: clone.text(f"{name}.yml") for name in names}
    assert found == dict.fromkeys(names, "") | {"inner": "a: 1\n", "plain": "b: 2\n"}
    assert set(clone.files(*(f"{name}.yml" for name in names))) == {"inner.yml", "plain.yml"}


def test_folders_branches_and_addresses_that_are_not_utf_8_are_read_and_shown(tmp_path: Path) -> None:
    made = Repository(tmp_path / os.fsdecode(b"rock\xffet"))
    made.commit("start", {"a.py": "x = 1\n"})
    made.git("branch", "-m", os.fsdecode(b"ma\xffin"))
    made.git("remote", "set-url", "origin", os.fsdecode(b"https://github.com/acme/rock\xffet"))
    clone = open_clone(made.folder)
    assert clone.git_dir.is_dir()
    assert clone.repository == Named(full_name="acme/rock\ufffdet", default_branch="ma\ufffdin")
    assert clone.text("a.py") == "x = 1\n"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("fatal: unable to read tree " + "a" * 40, "without " + "a" * 40 + "; run: git fetch --refetch --no-filter"),
        ("error: Could not read " + "b" * 40, "without " + "b" * 40 + "; run: git fetch --refetch --no-filter"),
        ("error: inflate: data stream error", "damaged (inflate: data stream error); clone it anew"),
        (
            "fatal: unknown repository extension found:\n\trefstorage",
            ": unknown repository extension found: refstorage",
        ),
    ],
)
def test_unreadable_clones_are_reported_with_what_to_do(said: str, told: str) -> None:
    line = complaint(Path("rocket/.git"), said.encode())
    assert line.startswith("rocket: ")
    assert line.endswith(told)
