"""Which repository a folder is: its name, its default branch, and what rules its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bot.history.git import GitError, git
from bot.history.notes import tip_of_notes
from bot.model import CommitId, Repository

_REMOTE = re.compile(r"^(?:[a-z+]+://(?:[^/@\s]*@)?[^/\s]+/|(?:[^/@\s]+@)?[^/:\s]+:)(?P<path>\S+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clone:
    """A readable clone. `git_dir` holds the objects; `head` is the newest commit of the default branch."""

    folder: Path
    git_dir: Path
    repository: Repository
    branch: str
    head: CommitId
    shallow: bool
    partial: bool
    notes: str = ""
    """the commit that holds its line notes; empty where it has none"""

    def text(self, path: str) -> str:
        """The file at `path` of the default branch, empty where there is none."""
        return git(self.folder, "show", f"{self.head}:{path}", check=False)

    def blob(self, path: str) -> str:
        """The id of the file at `path` of the default branch, empty where there is none."""
        return git(self.folder, "rev-parse", "--verify", "--quiet", f"{self.head}:{path}", check=False).strip()


def name_of_remote(url: str) -> str | None:
    """`owner/name` of a remote's URL; a path on this machine names nothing.

    >>> name_of_remote("git@github.com:octo/tools.git")
    'octo/tools'
    """
    match = _REMOTE.match(url.strip())
    if not match or url.strip().startswith("file:"):
        return None
    parts = [part for part in match["path"].removesuffix("/").removesuffix(".git").split("/") if part]
    return "/".join(parts[-2:]) if len(parts) >= 2 else None


def _folder_name(folder: Path) -> str:
    resolved = folder.resolve()
    name = resolved.parent.name if resolved.name == ".git" else resolved.name
    return name.removesuffix(".git") or "repository"


def _default_branch(folder: Path) -> str:
    """The remote's default branch in an ordinary clone, else what HEAD names."""
    remote = git(folder, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD", check=False).strip()
    if remote and git(folder, "rev-parse", "--verify", "--quiet", remote, check=False):
        return remote
    head = git(folder, "symbolic-ref", "--quiet", "HEAD", check=False).strip()
    if head and git(folder, "rev-parse", "--verify", "--quiet", head, check=False):
        return head
    candidates = [f"{root}/{name}" for root in ("refs/remotes/origin", "refs/heads") for name in ("main", "master")]
    for reference in candidates:
        if git(folder, "rev-parse", "--verify", "--quiet", reference, check=False):
            return reference
    return "HEAD"


def open_clone(path: str | Path) -> Clone:
    """The clone at `path`, bare or not.

    Raises GitError with one line that names the folder, where there is no repository or no commit.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise GitError(f"{path}: no such folder; name a git clone")
    try:
        git_dir = Path(git(folder, "rev-parse", "--absolute-git-dir").strip())
    except GitError as error:
        reason = "not a git repository" if "not a git repository" in str(error) else str(error)
        raise GitError(f"{path}: {reason}") from None
    branch = _default_branch(folder)
    head = git(folder, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}", check=False).strip()
    if not head:
        raise GitError(f"{path}: the default branch has no commits yet")
    # `remote get-url` applies insteadOf rules of the reader's machine: read the URL as it is written.
    url = git(folder, "config", "--local", "--get", "remote.origin.url", check=False)
    name = name_of_remote(url) or _folder_name(folder)
    return Clone(
        folder=folder,
        git_dir=git_dir,
        repository=Repository(full_name=name, default_branch=branch.rsplit("/", 1)[-1]),
        branch=branch,
        head=CommitId(head),
        shallow=git(folder, "rev-parse", "--is-shallow-repository").strip() == "true",
        partial=bool(git(folder, "config", "--get", "extensions.partialClone", check=False).strip()),
        notes=tip_of_notes(folder),
    )
