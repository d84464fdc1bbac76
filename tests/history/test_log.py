from pathlib import Path

import pytest

from bot.history.clone import name_of_remote, open_clone
from bot.history.git import GitError
from bot.history.log import commits, landings
from bot.history.walk import arrivals
from bot.landing.lines.diff import read_diff, unquote
from tests.history.repository import BEN, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "rocket")


def numstat(repository: Repository, commit: str) -> int:
    rows = repository.git("show", "--numstat", "--format=", "-M", commit).splitlines()
    return sum(int(a) + int(d) for a, d, _ in (row.split("\t", 2) for row in rows) if a != "-")


def test_a_commit_landed_with_the_oldest_merge_that_reaches_it(repository: Repository) -> None:
    first = repository.commit("start", {"a.txt": "1\n"})
    repository.git("checkout", "-q", "-b", "topic")
    inner = repository.commit("on a branch", {"b.txt": "1\n"})
    repository.git("checkout", "-q", "main")
    merge = repository.merge("topic", "Merge pull request #1 from ada/topic", days=3)
    repository.git("checkout", "-q", "-b", "later", "topic")
    deeper = repository.commit("on top of the branch", {"c.txt": "1\n"})
    repository.git("checkout", "-q", "main")
    second = repository.merge("later", "Merge pull request #2 from ada/later", days=5)
    clone = open_clone(repository.folder)
    found = {arrival.commit: arrival for arrival in arrivals(clone)}
    assert set(found) == {first, inner, deeper}
    assert found[inner].merge_commit == merge
    assert found[deeper].merge_commit == second
    assert found[first].merge_commit is None
    assert found[inner].landed_at == int(repository.git("show", "-s", "--format=%ct", merge))


def test_lines_are_git_s_own_numbers_whatever_the_content(repository: Repository) -> None:
    ids = [
        repository.commit("plain", {"a.py": "x = 1\ny = 2\n"}),
        repository.commit("header look-alikes", {"b.txt": "--- a/x\n+++ b/x\n@@ -1 +1 @@\ndiff --git a/q b/q\n"}),
        repository.commit("form feed, NUL far down", {"c.txt": "a\x0cb\r\nc\n", "d.bin": b"text\n" * 3000 + b"\0\n"}),
        repository.commit("binary", {"e.bin": b"\0\1\2" * 100}),
        repository.commit(
            "odd names", {"with blank.txt": "1\n", "tab\there.txt": "2\n", "ümlaut.md": "3\n", 'q"q': "4\n"}
        ),
        repository.commit("no newline at the end", {"a.py": "x = 1\ny = 3"}),
        repository.commit("rename", {"a.py": None, "lib/a.py": "x = 1\ny = 3"}),
        repository.commit("delete", {"b.txt": None, "e.bin": None}),
        repository.commit("empty", {}),
    ]
    read = {commit.id: commit for commit in commits(repository.folder, ids)}
    assert [sum(f.additions + f.deletions for f in read[i].files) for i in ids] == [numstat(repository, i) for i in ids]
    assert {f.path for f in read[ids[4]].files} == {"with blank.txt", "tab\there.txt", "ümlaut.md", 'q"q'}
    assert (read[ids[6]].files[0].status, read[ids[6]].files[0].previous_path) == ("renamed", "a.py")
    assert read[ids[3]].files[0].binary
    assert read[ids[8]].files == ()


def test_a_message_that_looks_like_a_record_remains_one_message(repository: Repository) -> None:
    text = "title\n\n\x01" + "a" * 40 + " not a record\ndiff --git a/x b/x"
    commit_id = repository.commit(text, {"a.txt": "1\n"})
    (commit,) = commits(repository.folder, [commit_id])
    assert commit.message == text
    assert [file.path for file in commit.files] == ["a.txt"]


def test_the_mailmap_applies_and_a_noreply_address_keeps_its_account(repository: Repository) -> None:
    hidden = ("ada", "77+ada-b@users.noreply.github.com")
    repository.commit("map", {".mailmap": "Ada Brook <ada@example.org> <77+ada-b@users.noreply.github.com>\n"})
    commit_id = repository.commit("work", {"a.txt": "1\n"}, author=hidden)
    (commit,) = commits(repository.folder, [commit_id])
    assert (commit.author.name, commit.author.email) == ("Ada Brook", "ada@example.org")
    assert (commit.author.user_id, commit.author.login) == (77, "ada-b")


def test_landings_have_their_repository_and_their_commit_as_merge_commit(repository: Repository) -> None:
    repository.commit("work", {"a.txt": "1\n"}, author=BEN)
    clone = open_clone(repository.folder)
    (landing,) = landings(clone, list(arrivals(clone)))
    assert landing.repository.full_name == "acme/rocket"
    assert landing.merge_commit == landing.commit
    assert landing.commit.author.name == "Ben Castor"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/rocket.git", "acme/rocket"),
        ("https://user:token@ghe.example.com:8443/acme/rocket/", "acme/rocket"),
        ("git@github.com:acme/rocket.git", "acme/rocket"),
        ("ssh://git@github.com/acme/rocket", "acme/rocket"),
        ("/srv/mirrors/rocket.git", None),
        ("file:///srv/mirrors/rocket.git", None),
        ("../rocket", None),
    ],
)
def test_a_clone_is_named_after_its_remote(url: str, name: str | None) -> None:
    assert name_of_remote(url) == name


def test_a_folder_that_is_not_a_clone_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="no such folder"):
        open_clone(tmp_path / "missing")
    with pytest.raises(GitError, match="not a git repository"):
        open_clone(tmp_path)
    Repository(tmp_path / "empty")
    with pytest.raises(GitError, match="no commits yet"):
        open_clone(tmp_path / "empty")


def test_a_damaged_clone_is_refused_and_not_half_read(repository: Repository) -> None:
    ids = [repository.commit(f"work {n}", {"a.txt": f"{n}\n"}) for n in range(3)]
    blob = repository.git("rev-parse", f"{ids[0]}:a.txt")
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=f"damaged clone, without {blob}"):
        list(commits(repository.folder, ids))


def test_quoted_paths_are_read_as_git_wrote_them() -> None:
    assert unquote('"a\\tb\\303\\274\\"c"') == 'a\tbü"c'
    assert unquote("plain name") == "plain name"


def test_a_submodule_is_one_line_out_and_one_line_in() -> None:
    text = (
        b"diff --git a/lib b/lib\nindex 1111111..2222222 160000\n--- a/lib\n+++ b/lib\n"
        b"@@ -1 +1 @@\n-Subproject commit 1111111\n+Subproject commit 2222222\n"
    )
    (file,) = read_diff(text)
    assert (file.submodule, file.additions, file.deletions) == (True, 1, 1)
