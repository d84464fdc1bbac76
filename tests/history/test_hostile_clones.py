"""Are the numbers of a clone those of a clean clone, whatever its owner wrote beside the objects?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.model.fact import Fact
from tests.history.repository import BEN, Repository

NOW = 1_790_000_000
SETTINGS = """
[core]
\tattributesFile = {folder}/attributes
\tquotePath = true
\tcommitGraph = true
\tuseReplaceRefs = true
\thooksPath = {folder}/hooks
\tbigFileThreshold = 1
[diff]
\talgorithm = patience
\texternal = {folder}/run
\trenames = copies
\trenameLimit = 1
\tnoprefix = true
\tmnemonicPrefix = true
\tcontext = 0
\tinterHunkContext = 9
\tignoreSubmodules = all
\tsubmodule = log
\torderFile = {folder}/order
\tsuppressBlankEmpty = true
\twordRegex = .
\trelative = true
[diff "python"]
\ttextconv = {folder}/run
\tcommand = {folder}/run
\tbinary = true
[log]
\tshowRoot = false
\tshowSignature = true
\tfollow = true
\tdate = iso
\tdiffMerges = combined
\tmailmap = false
[mailmap]
\tfile = {folder}/mailmap
\tblob = HEAD:names
[i18n]
\tlogOutputEncoding = ISO-8859-1
\tcommitEncoding = ISO-8859-1
[format]
\tpretty = oneline
[alias]
\tlog = !{folder}/run
[include]
\tpath = {folder}/more
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "rocket")
    made.commit(
        "start",
        {"a.py": "x = 1\n" * 9, "ümlaut.md": "# Title\n\ntext\n", "names": "Eve <eve@example.org> <ada@example.org>\n"},
    )
    made.commit("Ändere a", {"a.py": "x = 1\n\ny = 2\n" * 9}, author=BEN)
    made.git("checkout", "-q", "-b", "topic")
    made.commit("Add b", {"b.py": "y = 2\n" * 20})
    made.git("checkout", "-q", "main")
    made.merge("topic", "Merge pull request #2 from ben/topic")
    made.commit("Move a", {"a.py": None, "lib/a.py": "x = 1\n\ny = 2\n" * 9})
    return made


def facts(repository: Repository) -> list[Fact]:
    record = CloneRecord(open_clones([repository.folder]), cache=False, now=NOW)
    record.refresh(workers=1)
    found = sorted(
        (commit.fact for change in record.all_changes() for commit in change.commits), key=lambda f: f.commit
    )
    record.close()
    return found


def attributes(repository: Repository) -> None:
    inner = repository.folder / ".git" / "info"
    inner.mkdir(exist_ok=True)
    (inner / "attributes").write_text("* -diff linguist-vendored\n*.md diff=python\n")


def checked_out_attributes(repository: Repository) -> None:
    (repository.folder / ".gitattributes").write_text("* -diff linguist-generated\n")


def grafts(repository: Repository) -> None:
    inner = repository.folder / ".git" / "info"
    inner.mkdir(exist_ok=True)
    (inner / "grafts").write_text(f"{repository.tip()}\n")


def replaced_objects(repository: Repository) -> None:
    first = repository.git("rev-list", "--max-parents=0", "HEAD")
    repository.git("replace", repository.git("rev-parse", "HEAD^"), first)


def replaced_parents(repository: Repository) -> None:
    repository.git("replace", "--graft", "HEAD")


def settings(repository: Repository) -> None:
    folder = repository.folder.parent
    run = folder / "run"
    run.write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
    run.chmod(0o755)
    (folder / "attributes").write_text("* -diff\n")
    (folder / "mailmap").write_text("Eve <eve@example.org> <ada@example.org>\n")
    (folder / "order").write_text("z*\n")
    (folder / "more").write_text("[diff]\n\talgorithm = histogram\n")
    with (repository.folder / ".git" / "config").open("a") as file:
        file.write(SETTINGS.format(folder=folder))


def hooks(repository: Repository) -> None:
    inner = repository.folder / ".git" / "hooks"
    inner.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        (inner / name).write_text(f"#!/bin/sh\ntouch {repository.folder.parent}/ran\n")
        (inner / name).chmod(0o755)


def commit_graph(repository: Repository) -> None:
    """The graph of the repository before its last commit was replaced by another one with the same parents."""
    repository.git("commit-graph", "write", "--reachable")
    graph = repository.folder / ".git" / "objects" / "info" / "commit-graph"
    content = bytearray(graph.read_bytes())
    graph.chmod(0o644)
    at = content.find(bytes.fromhex(repository.tip()))
    assert at > 0
    content[-60:-20] = bytes(40)  # parents and dates of the last commits in it
    graph.write_bytes(content)


def alternates(repository: Repository) -> None:
    other = Repository(repository.folder.parent / "other")
    other.commit("other", {"a.py": "z = 3\n"})
    info = repository.folder / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{other.folder}/.git/objects\n{repository.folder.parent}/none\n")


def notes(repository: Repository) -> None:
    repository.git("notes", "add", "-m", "Co-authored-by: Eve <eve@example.org>", "HEAD")


@pytest.mark.parametrize(
    "attack",
    [
        attributes,
        checked_out_attributes,
        grafts,
        replaced_objects,
        replaced_parents,
        settings,
        hooks,
        commit_graph,
        alternates,
        notes,
    ],
)
def test_nothing_beside_the_objects_changes_a_number(
    repository: Repository, attack: Callable[[Repository], None]
) -> None:
    clean = facts(repository)
    attack(repository)
    assert facts(repository) == clean
    assert not (repository.folder.parent / "ran").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_DIR", "/nowhere"),
        ("GIT_OBJECT_DIRECTORY", "/nowhere"),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/nowhere"),
        ("GIT_EXTERNAL_DIFF", "/nowhere"),
        ("GIT_DIFF_OPTS", "-u9"),
        ("GIT_CONFIG_PARAMETERS", "'diff.renames'='false'"),
        ("GIT_REPLACE_REF_BASE", "refs/heads/"),
        ("GIT_ATTR_SOURCE", "HEAD"),
        ("GIT_GRAFT_FILE", "/nowhere"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_NAMESPACE", "eve"),
    ],
)
def test_no_variable_of_git_changes_a_number(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    clean = facts(repository)
    monkeypatch.setenv(name, value)
    assert facts(repository) == clean


def test_settings_of_the_user_change_no_number(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clean = facts(repository)
    home = tmp_path / "home"
    home.mkdir()
    text = SETTINGS.format(folder=tmp_path).partition("[include]")[0]
    (home / ".gitconfig").write_text(text)
    (tmp_path / "attributes").write_text("* -diff\n")
    monkeypatch.setenv("HOME", str(home))
    assert facts(repository) == clean


def test_a_linked_working_tree_is_read_like_its_repository(repository: Repository) -> None:
    clean = facts(repository)
    attributes(repository)
    repository.git("worktree", "add", "-q", str(repository.folder.parent / "tree"), "--detach")
    linked = Repository.__new__(Repository)
    linked.folder = repository.folder.parent / "tree"
    assert facts(linked) == clean


def test_a_clone_with_longer_ids_is_read(tmp_path: Path) -> None:
    made = Repository(tmp_path / "long")
    folder = tmp_path / "sha256"
    folder.mkdir()
    made.folder = folder
    made.git("init", "-q", "-b", "main", "--object-format=sha256", "--template=")
    made.commit("start", {"a.py": "x = 1\n"})
    (found,) = facts(made)
    assert (len(found.commit), found.lines.total) == (64, 1)


MAPS = (
    "Eve Quill <eve@example.org> <ada@example.org>\n",
    "Eve Quill <eve@example.org> Ada Brook <ada@example.org>\nEve Quill <ada@example.org>\n",
)


@pytest.mark.parametrize("mailmap", MAPS)
def test_a_mailmap_in_one_clone_changes_no_facts_and_no_names_of_another(
    repository: Repository, tmp_path: Path, mailmap: str
) -> None:
    forger = Repository(tmp_path / "den", "https://github.com/den/site.git")
    eve = ("Eve Quill", "eve@example.org")
    forger.commit("Add a site", {"site.py": "x = 1\n" * 9, ".mailmap": mailmap}, author=eve)
    record = CloneRecord(open_clones([repository.folder, forger.folder]), cache=False, now=NOW)
    record.refresh(workers=1)
    found = [commit.fact for change in record.all_changes() for commit in change.commits]
    (ada,) = record.people.find("ada@example.org")
    counted = (ada.display, record.count_commits(ada))
    record.close()
    own = facts(repository)
    assert sorted((one for one in found if one.repository != "den/site"), key=lambda one: one.commit) == own
    assert counted == ("Ada Brook", sum(one.author.email == "ada@example.org" for one in own))
