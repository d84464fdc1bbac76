"""How does an existing clone become a repository of the simulated GitHub?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from msgspec import Struct

from simulator.git import Draft, GitCommit, GitRepository, GitSignature, Tree, TreeEntry, run_git
from simulator.server import Simulator
from simulator.state import Issue, SimAccount, SimPullRequest, SimRepository

Trees = Callable[[GitRepository, Iterable[str]], Mapping[str, Tree]]
"""reads the files of each of these trees, by tree id"""
_SEPARATOR = "\x1e"
_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B%x1e"


class Imported(Struct, frozen=True):
    """A repository with every commit of a clone, but no branch yet: `advance` moves its default branch forward."""

    repository: SimRepository
    line: tuple[str, ...]
    """the first-parent line of the clone's default branch, oldest first"""


def trees_of(git: GitRepository, trees: Iterable[str]) -> dict[str, Tree]:
    """Read all trees at once, and a blob that several of them share only once."""
    listed = {tree: _tree_blobs(git, tree) for tree in dict.fromkeys(trees)}
    files = [file for inside in listed.values() for file in inside.values()]
    contents = _contents(git, dict.fromkeys(blob for _, kind, blob in files if kind == "blob"))
    return {
        tree: {path: TreeEntry(contents.get(id_, id_.encode()), mode) for path, (mode, _, id_) in inside.items()}
        for tree, inside in listed.items()
    }


def import_clone(
    github: Simulator, clone: Path, full_name: str, *, branch: str = "main", read: Trees = trees_of
) -> Imported:
    """Import every commit the clone's refs reach, under this name; the owner's account must exist.

    A custom `read` can load the files of a long history lazily.
    """
    owner = github.state.accounts[full_name.partition("/")[0]]
    start = datetime.fromtimestamp(0, UTC)
    found = github.create_repository(full_name, at=start, files={}, by=owner)
    run_git(found.git.path, "fetch", "-q", str(clone.resolve()), "+refs/*:refs/imported/*")
    for commit in _commits(found.git, read):
        found.git.commits[commit.id] = commit
    head = run_git(clone, "rev-parse", f"refs/heads/{branch}").decode().strip()
    line = run_git(found.git.path, "rev-list", "--first-parent", "--reverse", head).decode().split()
    run_git(found.git.path, "pack-refs", "--all")
    return Imported(found, tuple(line))


def advance(github: Simulator, imported: Imported, to: str, *, by: SimAccount) -> None:
    """Push the default branch forward to one of its commits."""
    github.force_push(imported.repository, "main", to, by=by)


def close_unmerged(
    github: Simulator, imported: Imported, number: int, *, title: str, head: str, by: SimAccount
) -> SimPullRequest:
    """A pull request with that number, closed without a merge: a draft, or how merge bots leave what they landed.

    The author of its head opened it, if the address is an account's.
    """
    repository, git = imported.repository, imported.repository.git
    at = git.commits[head].draft.committed_at
    opener = github.state.account_of(git.commits[head].draft.author.email) or by
    issue = Issue(github.state.new_id(), number, title, "", opener, at, at)
    repository.issues[number] = issue
    base = (git.commits[head].parents or (imported.line[0],))[0]
    issue.pull = SimPullRequest(issue, "main", f"topic-{number}", repository, head, base)
    git.set_ref(f"refs/pull/{number}/head", head)
    github.close(repository, issue.pull, by=by, at=at)
    return issue.pull


def _commits(git: GitRepository, read: Trees) -> list[GitCommit]:
    text = run_git(git.path, "log", "--all", "--date=raw", f"--format={_FORMAT}").decode("utf-8", "replace")
    rows = [row.lstrip("\n") for row in text.split(_SEPARATOR) if row.strip("\n")]
    trees = read(git, [row.split("\0", 2)[1] for row in rows])
    return [_commit(row, trees) for row in rows]


def _commit(row: str, trees: Mapping[str, Tree]) -> GitCommit:
    sha, tree, parents, name, email, authored, c_name, c_email, committed, message = row.split("\0", 9)
    draft = Draft(
        message,
        trees[tree],
        GitSignature(name, email),
        _moment(authored),
        GitSignature(c_name, c_email),
        _moment(committed),
        tuple(parents.split()),
    )
    return GitCommit(sha, tree, draft)


def _moment(raw: str) -> datetime:
    """Parse git's `seconds +hhmm`."""
    seconds, offset = raw.split()
    minutes = int(offset[1:3]) * 60 + int(offset[3:])
    zone = timezone(timedelta(minutes=-minutes if offset[0] == "-" else minutes))
    return datetime.fromtimestamp(int(seconds), zone)


def _tree_blobs(git: GitRepository, tree: str) -> dict[str, tuple[str, str, str]]:
    """(mode, kind, id) of each file, by path."""
    rows = run_git(git.path, "ls-tree", "-r", "-z", tree).decode("utf-8", "replace").split("\0")
    heads = [row.partition("\t") for row in rows if row]
    return {path: (mode, kind, id_) for head, _, path in heads for mode, kind, id_ in [head.split()]}


def _contents(git: GitRepository, blobs: Iterable[str]) -> dict[str, bytes]:
    """The content of each blob, from one git process: per blob a header (id, kind, size), the bytes and a newline."""
    answer = run_git(git.path, "cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in blobs).encode())
    found: dict[str, bytes] = {}
    at = 0
    while at < len(answer):
        start = answer.index(b"\n", at) + 1
        blob, _, size = answer[at:start].split()
        found[blob.decode()] = answer[start : start + int(size)]
        at = start + int(size) + 1
    return found


def pushes(line: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """The last commit of each push, if the line arrives in pushes of these sizes, repeated in turn."""
    ends, at, turn = [], -1, 0
    while at < len(line) - 1:
        at = min(at + sizes[turn % len(sizes)], len(line) - 1)
        turn += 1
        ends.append(line[at])
    return ends
