"""Is what the simulator says about commits what git says?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import merging
from simulator.differences import Differences
from simulator.git import Draft, Edits, GitRepository, GitSignature, TreeEntry, apply_edits, run_git

WHO = GitSignature("Ada Fen", "ada@fen.example")
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def write(git: GitRepository, *edits: Edits, tip: str | None = None) -> list[str]:
    tree = git.commits[tip].tree if tip else {}
    drafts: list[Draft] = []
    for number, change in enumerate(edits):
        tree = apply_edits(tree, change)
        parents = (tip,) if tip and not drafts else ()
        drafts.append(Draft(f"change {number}\n", tree, WHO, AT, WHO, AT, parents))
    return [commit.id for commit in git.write(drafts)]


@pytest.fixture
def git(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "r.git")


def landing(message: str = "landed\n") -> merging.MergeDetails:
    return merging.MergeDetails(WHO, AT, message, WHO)


def test_a_repository_passes_git_fsck_and_can_be_read_by_git(git: GitRepository) -> None:
    first, second = write(git, {"a b.txt": "x\n", "d/e.bin": b"\0\1"}, {"a b.txt": "y\n"})
    git.set_ref("refs/heads/main", second)
    run_git(git.path, "fsck", "--strict")
    assert run_git(git.path, "rev-list", "main").decode().split() == [second, first]
    assert run_git(git.path, "rev-parse", "main^{tree}").decode().strip() == git.commits[second].tree_id


def test_a_diff_shows_renames_binary_files_and_hostile_lines(git: GitRepository) -> None:
    body = "".join(f"line {n}\n" for n in range(40))
    _, second = write(
        git,
        {"old.py": body, "pic": b"\0\1", "gone": "x\n"},
        {"old.py": None, "new.py": body + "--- a/x\n+++ b/x\ndiff --git a b\n", "pic": b"\0\2", "gone": None},
    )
    found = {entry.path: entry for entry in Differences(git).of_commit(second)}
    new = found["new.py"]
    assert (new.status, new.previous_path, new.additions) == ("renamed", "old.py", 3)
    assert found["pic"].patch is None
    assert (found["gone"].status, found["gone"].deletions) == ("removed", 1)
    assert (found["new.py"].patch or "").endswith("+diff --git a b")


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcd"), st.text("xyz\n-+ ", max_size=30), min_size=1), min_size=1, max_size=4
    )
)
def test_counts_equal_git_numstat_for_any_history(
    tmp_path_factory: pytest.TempPathFactory, changes: list[dict[str, str]]
) -> None:
    git = GitRepository.create(tmp_path_factory.mktemp("any") / "r.git")
    ids = write(git, *changes)
    told = run_git(git.path, "log", "--numstat", "--format=", ids[-1]).decode().split("\n")
    by_git = sum(int(figure) for line in told if line for figure in line.split("\t")[:2])
    ours = [entry for id_ in ids for entry in Differences(git).of_commit(id_)]
    assert sum(entry.additions + entry.deletions for entry in ours) == by_git


def test_a_squash_brings_only_what_the_branch_changed(git: GitRepository) -> None:
    (base,) = write(git, {"a": "1\n2\n3\n4\n5\n6\n7\n", "b": "b\n"})
    (main,) = write(git, {"a": "1\n2\n3\n4\n5\n6\nseven\n"}, tip=base)
    side = write(git, {"a": "one\n2\n3\n4\n5\n6\n7\n"}, {"c": "c\n"}, tip=base)[-1]
    draft = merging.squash_commit(git, main, side, landing=landing())
    assert draft.parents == (main,)
    assert draft.tree["a"] == TreeEntry(b"one\n2\n3\n4\n5\n6\nseven\n")
    assert set(draft.tree) == {"a", "b", "c"}


def test_two_sides_on_one_line_are_a_conflict(git: GitRepository) -> None:
    (base,) = write(git, {"a": "1\n"})
    (main,) = write(git, {"a": "2\n"}, tip=base)
    (side,) = write(git, {"a": "3\n"}, tip=base)
    with pytest.raises(merging.ConflictError):
        merging.merge_commit(git, main, side, landing=landing())


def test_a_rebase_keeps_each_commit_with_its_author_date(git: GitRepository) -> None:
    (base,) = write(git, {"a": "1\n"})
    (main,) = write(git, {"b": "1\n"}, tip=base)
    side = write(git, {"c": "1\n"}, {"c": "2\n"}, tip=base)
    later = merging.MergeDetails(WHO, AT.replace(day=9), "", WHO)
    written = git.write(merging.rebased_commits(git, main, side, landing=later))
    assert [entry.draft.message for entry in written] == ["change 0\n", "change 1\n"]
    assert written[1].parents == (written[0].id,)
    assert written[0].parents == (main,)
    assert {(entry.draft.authored_at, entry.draft.committed_at) for entry in written} == {(AT, AT.replace(day=9))}
    assert git.history(written[1].id)[0] == written[1].id
