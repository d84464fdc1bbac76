"""Which repository does a folder contain: its name, its default branch, and the files that define its rules?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from bot.configuration.addresses import LOOPBACK
from bot.history.git import GitError, blobs_named, commits_named, common_folder, git_outputs, git_stream
from bot.landing.repo_config.files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.model.commit import GITHUB, Repository
from bot.model.ids import CommitId

NOTES = "refs/notes/ai"
"""the ref of the line notes"""
NO_MAILMAP = "refs/almanac/no-mailmap"
"""a ref that does not exist"""
RULING = (ATTRIBUTES_PATH, ".mailmap", CONFIG_PATH)
"""the files that define how a history is measured and how its people are named"""

_REMOTE = re.compile(
    r"^(?:[a-z+]+://(?:[^/@\s]*@)?(?P<host>[^/\s]+)/|(?:[^/@\s]+@)?(?P<scp>[^/:\s]+):)(?P<path>\S+)$", re.IGNORECASE
)

_GITHUB_NAMES = frozenset(("github.com", "www.github.com", "ssh.github.com"))


class Clone(Struct, frozen=True):
    """A readable clone. `head` is the newest commit of the default branch.

    History is read in `git_dir`, which contains the objects: in `folder` git would apply the checked-out
    `.gitattributes`, whichever commit that is from.
    """

    folder: Path
    git_dir: Path
    repository: Repository
    branch: str
    head: CommitId
    shallow: bool
    partial: bool
    cut: frozenset[CommitId] = frozenset()
    """the commits at which a shallow clone starts: they have parents, but the clone does not contain them"""
    cut_merges: frozenset[CommitId] = frozenset()
    """those of them that are merges"""
    notes: str = ""
    """the commit with its line notes; empty if it has none"""
    checked_out: str = ""
    """the commit of git's own HEAD"""
    mailmap: str = ""
    """the blob of the `.mailmap` used for names: that of `head`, whatever is checked out"""
    other_accounts: bool = False
    """other clones given with it are of another server, whose user ids the record uses: here an address proves none"""

    def text(self, path: str) -> str:
        """The file at `path` of the default branch; empty if there is none."""
        return self.files(path).get(path, ("", ""))[1]

    def files(self, *paths: str) -> Mapping[str, tuple[str, str]]:
        """The id and the text of the files at these paths of the default branch, for those that exist."""
        return _files(self.folder, self.head, paths)


@lru_cache(maxsize=8)
def _files(folder: Path, head: CommitId, paths: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    """Cached: the contents of a commit never change, so callers may fetch them ahead of use."""
    found = blobs_named(folder, [f"{head}:{path}" for path in paths])
    return {name.partition(":")[2]: file for name, file in found.items()}


def name_of_remote(url: str) -> str | None:
    """`owner/name` of a remote's URL; None for a path on this machine.

    >>> name_of_remote("git@github.com:octo/tools.git")
    'octo/tools'
    """
    match = _REMOTE.match(url.strip())
    if not match or url.strip().startswith("file:"):
        return None
    parts = [part for part in match["path"].removesuffix("/").removesuffix(".git").split("/") if part]
    return "/".join(parts[-2:]) if len(parts) >= 2 else None


def host_of_remote(url: str) -> str:
    """The server of a remote's URL; github.com for a path, this machine, and a name that only its ssh knows.

    >>> host_of_remote("git@ghe.example.com:octo/tools.git")
    'ghe.example.com'
    """
    match = _REMOTE.match(url.strip())
    host = (match["host"] or match["scp"]).lower() if match and not url.strip().startswith("file:") else ""
    name = host.partition(":")[0]
    if "." not in name or name in _GITHUB_NAMES or name in LOOPBACK:
        return GITHUB
    return host if url.strip().lower().startswith("https:") else name


def _folder_name(folder: Path) -> str:
    resolved = folder.resolve()
    name = resolved.parent.name if resolved.name == ".git" else resolved.name
    return name.removesuffix(".git") or "repository"


_ABOUT = ("rev-parse", "--absolute-git-dir", "--is-shallow-repository")
_REMOTE_HEAD = ("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
_HEAD = ("symbolic-ref", "--quiet", "HEAD")
_SETTINGS = ("config", "--local", "--null", "--get-regexp", r"^(remote\.origin\.url|extensions\.partialclone)$")
"""`remote get-url` would apply insteadOf rules of the reader's machine: the URL is read as it is written."""


def _legible(name: str) -> str:
    """A name from git or the file system in displayable form."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _branches(*references: str) -> Iterator[str]:
    """Candidates for the default branch: the remote's in an ordinary clone, else HEAD's, else common names."""
    yield from (stripped for reference in references if (stripped := reference.strip()))
    yield from (f"{root}/{name}" for root in ("refs/remotes/origin", "refs/heads") for name in ("main", "master"))
    yield "HEAD"


def _settings_by_name(printed: str) -> dict[str, str]:
    """The clone's own settings about its origin, by lower-case name."""
    return {name.lower(): value for name, _, value in (row.partition("\n") for row in printed.split("\0"))}


def _open_failure(complaint: str) -> str:
    """Why git cannot open a repository there, and what to do."""
    _, owned, folder = complaint.partition("dubious ownership in repository at ")
    if owned:
        return f"another user owns it; if you trust it, run: git config --global --add safe.directory {folder}"
    return "not a git repository" if "not a git repository" in complaint else complaint


def _cut(folder: Path) -> tuple[frozenset[CommitId], frozenset[CommitId]]:
    """The commits at which a shallow clone starts, and the merges among them, as their own bytes tell."""
    listed = (common_folder(folder) / "shallow").read_text("ascii", "replace").split()
    cut, merges = set(), set()
    with git_stream(folder, "cat-file", "--batch", lines=listed) as stream:
        for name in listed:
            head = stream.readline().split()
            text = stream.read(int(head[2]) + 1) if len(head) == 3 else b""
            parents = text.partition(b"\n\n")[0].count(b"\nparent ")
            if parents:
                cut.add(CommitId(name))
            if parents > 1:
                merges.add(CommitId(name))
    return frozenset(cut), frozenset(merges)


def open_clone(path: str | Path, head_name: str | None = None) -> Clone:
    """The clone at `path`, bare or not; `head_name` is a branch, tag or commit in place of the default branch.

    Raises GitError with one line that names the folder, if there is no repository or no commit.
    """
    folder = Path(path)
    if not path or not folder.is_dir():
        raise GitError(f"{path or repr(path)}: no such folder; name a git clone")
    about, remote_head, own_head, settings = git_outputs(folder, _ABOUT, _REMOTE_HEAD, _HEAD, _SETTINGS)
    if about.complaint is not None:
        raise GitError(f"{path}: {_open_failure(about.complaint)}")
    git_dir, _, shallow = about.text.rstrip("\n").rpartition("\n")
    branches = [head_name] if head_name else list(_branches(remote_head.text, own_head.text))
    commits = commits_named(folder, [*branches, NOTES, "HEAD"])
    branch = next((branch for branch in branches if branch in commits), None)
    if branch is None and head_name:
        raise GitError(f"{path}: --head {head_name!r} is no branch, tag or commit here; git branch -a lists them")
    if branch is None:
        raise GitError(f"{path}: the default branch has no commits yet")
    head = CommitId(commits[branch])
    mailmap, _ = _files(folder, head, RULING).get(".mailmap", (NO_MAILMAP, ""))
    stated = _settings_by_name(settings.text)
    origin = stated.get("remote.origin.url", "")
    name = name_of_remote(origin) or _folder_name(folder)
    cut, cut_merges = _cut(folder) if shallow == "true" else (frozenset(), frozenset())
    return Clone(
        folder=folder,
        git_dir=Path(os.fsdecode(git_dir.encode("utf-8", "surrogateescape"))),
        repository=Repository(
            full_name=_legible(name),
            default_branch=_legible(branch.rsplit("/", 1)[-1]),
            host=host_of_remote(origin),
        ),
        branch=branch,
        head=head,
        shallow=shallow == "true",
        partial=bool(stated.get("extensions.partialclone")),
        checked_out=commits.get("HEAD", ""),
        cut=cut,
        cut_merges=cut_merges,
        notes=commits.get(NOTES, ""),
        mailmap=mailmap,
    )
