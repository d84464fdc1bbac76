"""Which commits does a repository hold? A real bare repository, written through `git fast-import`, mirrored in memory.

Every commit of the simulated organisation is created here, so trees and parents are known without asking git again; git
computes the rest: ids, diffs and clones.
"""

from __future__ import annotations

import functools
import os
import subprocess
from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

QUIET = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
SUBMODULE = "160000"


class GitCommandError(Exception):
    """git failed; the message is git's own."""


class TreeEntry(Struct, frozen=True):
    """One file of a tree. A submodule's content is the commit id it points to."""

    content: bytes
    mode: str = "100644"


Tree = Mapping[str, TreeEntry]
Edits = Mapping[str, "str | bytes | TreeEntry | None"]
"""path -> new content, or None to delete it"""


class GitSignature(Struct, frozen=True):
    name: str
    email: str


class Draft(Struct, frozen=True):
    """A commit not yet written. `tree` is the complete tree, not a diff."""

    message: str
    tree: Tree
    author: GitSignature
    authored_at: datetime
    committer: GitSignature
    committed_at: datetime
    parents: tuple[str, ...] = ()


class GitCommit(Struct, frozen=True):
    id: str
    tree_id: str
    draft: Draft

    @property
    def parents(self) -> tuple[str, ...]:
        return self.draft.parents

    @property
    def tree(self) -> Tree:
        return self.draft.tree


def run_git(path: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """git's standard output. Raises GitError with its error message."""
    finished = subprocess.run(
        ["git", "-C", str(path), *arguments], input=stdin, capture_output=True, env=_environment(), check=False
    )
    if finished.returncode:
        raise GitCommandError(finished.stderr.decode(errors="replace").strip())
    return finished.stdout


@functools.cache
def _environment() -> dict[bytes, bytes]:
    """The environment as bytes: decoding and encoding all of it as text for each call takes as long as git itself."""
    return {**os.environb, **{name.encode(): value.encode() for name, value in QUIET.items()}}


def entry(content: str | bytes | TreeEntry) -> TreeEntry:
    if isinstance(content, TreeEntry):
        return content
    return TreeEntry(content.encode() if isinstance(content, str) else content)


def apply_edits(tree: Tree, edits: Edits) -> dict[str, TreeEntry]:
    """The tree after the edits."""
    after = dict(tree)
    for path, content in edits.items():
        if content is None:
            del after[path]
        else:
            after[path] = entry(content)
    return after


@dataclass(slots=True)
class GitRepository:
    """One bare repository on disk and its commits in memory."""

    path: Path
    default_branch: str = "main"
    commits: dict[str, GitCommit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, path: Path, default_branch: str = "main") -> GitRepository:
        path.mkdir(parents=True)
        (path / "HEAD").write_text(f"ref: refs/heads/{default_branch}\n")
        (path / "objects").mkdir()
        (path / "refs" / "heads").mkdir(parents=True)
        (path / "config").write_text(_CONFIG)
        return cls(path, default_branch)

    @property
    def branches(self) -> dict[str, str]:
        prefix = "refs/heads/"
        return {name.removeprefix(prefix): id_ for name, id_ in self.refs.items() if name.startswith(prefix)}

    @property
    def tip(self) -> str | None:
        """The commit the default branch points to."""
        return self.refs.get(f"refs/heads/{self.default_branch}")

    def resolve(self, name: str) -> GitCommit | None:
        """A branch, a full ref name or an (abbreviated) commit id."""
        for ref in (f"refs/heads/{name}", f"refs/{name}", name):
            if ref in self.refs:
                return self.commits[self.refs[ref]]
        if len(name) >= 7:
            return next((commit for id_, commit in self.commits.items() if id_.startswith(name)), None)
        return None

    def set_ref(self, ref: str, commit: str | None) -> None:
        """Move a ref, or delete it. Loose refs are plain files, so this starts no git."""
        target = self.path / ref
        if commit is None:
            self.refs.pop(ref, None)
            target.unlink(missing_ok=True)
            return
        self.refs[ref] = commit
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(commit + "\n")

    def write(self, drafts: Sequence[Draft]) -> list[GitCommit]:
        """Write commits in one fast-import. A draft without parents follows the previous one; the first is a root."""
        stream, chained, previous = bytearray(), [], Draft("", {}, *_NOBODY)
        for number, draft in enumerate(drafts, start=1):
            before = self.commits[draft.parents[0]].tree if draft.parents else previous.tree
            stream += _import_lines(number, draft, before=before)
            chained.append(not draft.parents and number > 1)
            previous = draft
        answers = run_git(self.path, "fast-import", "--quiet", "--force", stdin=bytes(stream)).decode().splitlines()
        written: list[GitCommit] = []
        for index, draft in enumerate(drafts):
            parents = (written[-1].id,) if chained[index] else draft.parents
            tree_id = answers[2 * index + 1].split()[2].partition("\t")[0]
            written.append(GitCommit(answers[2 * index], tree_id, _with_parents(draft, parents)))
        self.commits.update({commit.id: commit for commit in written})
        (self.path / _SCRATCH).unlink(missing_ok=True)
        return written

    def adopt(self, other: GitRepository, commits: Iterable[str]) -> None:
        """Import commits of another repository (a fork), as a fetch does."""
        missing = [id_ for id_ in commits if id_ not in self.commits]
        if missing:
            packed = run_git(other.path, "pack-objects", "--revs", "--stdout", "-q", stdin="\n".join(missing).encode())
            run_git(self.path, "unpack-objects", "-q", stdin=packed)
            for id_ in missing:
                self.commits.update({found: other.commits[found] for found in other.history(id_)})

    def history(self, start: str, *, without: frozenset[str] = frozenset()) -> list[str]:
        """Ids of the commits reachable from `start` but not in `without`, newest first, parents after children."""
        children = dict.fromkeys(self.reachable(start, without=without), 0)
        for id_ in children:
            for parent in self.commits[id_].parents:
                if parent in children:
                    children[parent] += 1
        return self._newest_first(children)

    def reachable(self, start: str, *, without: frozenset[str] = frozenset()) -> frozenset[str]:
        """The same ids as `history`, unordered."""
        found: set[str] = set()
        waiting = [start]
        while waiting:
            id_ = waiting.pop()
            if id_ not in found and id_ not in without:
                found.add(id_)
                waiting.extend(self.commits[id_].parents)
        return frozenset(found)

    def _newest_first(self, children: dict[str, int]) -> list[str]:
        def when(id_: str) -> tuple[datetime, str]:
            return self.commits[id_].draft.committed_at, id_

        ready = sorted((id_ for id_, count in children.items() if count == 0), key=when)
        order: list[str] = []
        while ready:
            order.append(ready.pop())
            for parent in self.commits[order[-1]].parents:
                if parent in children:
                    children[parent] -= 1
                    if children[parent] == 0:
                        insort(ready, parent, key=when)
        return order

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit reachable from both."""
        shared = self.reachable(one)
        return next((id_ for id_ in self.history(other) if id_ in shared), None)


_SCRATCH = "refs/import"
# The repository is temporary, so git need not sync to disk. One pack per import makes fewer files than loose objects.
_CONFIG = """[core]
	repositoryformatversion = 0
	bare = true
	fsync = none
	fsyncObjectFiles = false
[fastimport]
	unpackLimit = 1
"""
_NOBODY = (GitSignature("", ""), datetime.fromtimestamp(0, UTC)) * 2


def _with_parents(draft: Draft, parents: tuple[str, ...]) -> Draft:
    return Draft(
        draft.message, draft.tree, draft.author, draft.authored_at, draft.committer, draft.committed_at, parents
    )


def _stamp(when: datetime) -> str:
    return f"{int(when.timestamp())} {when.strftime('%z')}"


def _text(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _import_lines(number: int, draft: Draft, *, before: Tree) -> bytes:
    """One commit as fast-import input, followed by queries for its id and its tree."""
    lines = bytearray(b"reset %s\n\n" % _SCRATCH.encode() if not draft.parents and number == 1 else b"")
    lines += f"commit {_SCRATCH}\nmark :{number}\n".encode()
    lines += f"author {draft.author.name} <{draft.author.email}> {_stamp(draft.authored_at)}\n".encode()
    lines += f"committer {draft.committer.name} <{draft.committer.email}> {_stamp(draft.committed_at)}\n".encode()
    lines += _text(draft.message.encode())
    for word, parent in zip(("from", *("merge" for _ in draft.parents[1:])), draft.parents, strict=False):
        lines += f"{word} {parent}\n".encode()
    for path in before.keys() - draft.tree.keys():
        lines += f"D {path}\n".encode()
    for path in sorted(draft.tree):
        new = draft.tree[path]
        if before.get(path) != new:
            lines += _file_lines(path, new)
    return bytes(lines) + f'\nget-mark :{number}\nls :{number} ""\n'.encode()


def _file_lines(path: str, new: TreeEntry) -> bytes:
    if new.mode == SUBMODULE:
        return f"M {new.mode} {new.content.decode()} {path}\n".encode()
    return f"M {new.mode} inline {path}\n".encode() + _text(new.content)
