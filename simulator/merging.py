"""How does work reach a branch? Drafts of merge, squash and rebase commits, from a three-way merge of files."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from simulator.git import Draft, GitRepository, GitSignature, Tree, TreeEntry


class ConflictError(Exception):
    """Both sides changed the same lines of the file named in the message."""


class MergeDetails(Struct, frozen=True):
    """The choices of the person or bot who lands the work."""

    committer: GitSignature
    at: datetime
    message: str
    author: GitSignature


def merged_tree(base: Tree, ours: Tree, theirs: Tree) -> dict[str, TreeEntry]:
    """`ours` with the changes from `base` to `theirs`. Raises ConflictError."""
    after = dict(ours)
    for path in sorted(base.keys() | theirs.keys()):
        old, new, current = base.get(path), theirs.get(path), ours.get(path)
        if old == new or current == new:
            continue
        if current == old:
            if new is None:
                del after[path]
            else:
                after[path] = new
        elif old is None or new is None or current is None:
            raise ConflictError(path)
        else:
            after[path] = TreeEntry(_merged_text(path, (current.content, old.content, new.content)), new.mode)
    return after


def _merged_text(path: str, sides: tuple[bytes, bytes, bytes]) -> bytes:
    """git's own three-way merge of (ours, base, theirs)."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for file, content in zip(files, sides, strict=True):
            file.write_bytes(content)
        merged = subprocess.run(["git", "merge-file", "-p", *map(str, files)], capture_output=True, check=False)
    if merged.returncode:
        raise ConflictError(path)
    return merged.stdout


def merge_commit(git: GitRepository, tip: str, head: str, *, landing: MergeDetails) -> Draft:
    """A commit with two parents, as the merge button creates it."""
    tree = merged_tree(
        git.commits[git.merge_base(tip, head) or tip].tree, git.commits[tip].tree, git.commits[head].tree
    )
    return Draft(landing.message, tree, landing.author, landing.at, landing.committer, landing.at, (tip, head))


def squash_commit(git: GitRepository, tip: str, head: str, *, landing: MergeDetails) -> Draft:
    """One commit with everything that `head` has and `tip` lacks."""
    merged = merge_commit(git, tip, head, landing=landing)
    return Draft(landing.message, merged.tree, landing.author, landing.at, landing.committer, landing.at, (tip,))


def rebased_commits(git: GitRepository, tip: str, commits: Sequence[str], *, landing: MergeDetails) -> list[Draft]:
    """The commits (oldest first) reapplied on `tip`; authors and author dates stay, the committer changes."""
    drafts: list[Draft] = []
    tree = git.commits[tip].tree
    for id_ in commits:
        old = git.commits[id_]
        base = git.commits[old.parents[0]].tree if old.parents else {}
        tree = merged_tree(base, tree, old.tree)
        draft = old.draft
        parents = () if drafts else (tip,)
        drafts.append(
            Draft(draft.message, tree, draft.author, draft.authored_at, landing.committer, landing.at, parents)
        )
    return drafts


def reverting_draft(git: GitRepository, tip: str, target: str, *, landing: MergeDetails) -> Draft:
    """A commit on `tip` that undoes what `target` changed against its first parent."""
    landed = git.commits[target]
    tree = merged_tree(landed.tree, git.commits[tip].tree, git.commits[landed.parents[0]].tree)
    return Draft(landing.message, tree, landing.author, landing.at, landing.committer, landing.at, (tip,))
