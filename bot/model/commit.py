"""What does Almanac know of a landed commit, its people, its files and its pull request?"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from bot.model.ids import CommitId, FileStatus, PersonKey, RepositoryId, UserId

GITHUB = "github.com"


class Repository(Struct, frozen=True):
    """One repository. `id` identifies it if GitHub gave one; `full_name` ("owner/name") is shown and names a clone."""

    full_name: str
    id: RepositoryId | None = None
    private: bool = False
    fork: bool = False
    parent: str | None = None
    """full name of the repository this one was forked from, if known"""
    default_branch: str = "main"
    host: str = GITHUB
    """its server: links, noreply addresses and GitHub's own commits are that server's"""

    @property
    def web(self) -> str:
        """The address of its page."""
        return f"https://{self.host}/{self.full_name}"


class Signature(Struct, frozen=True):
    """A name and e-mail as stated in a commit, after `.mailmap`; `user_id` and `login` if GitHub knows them."""

    name: str
    email: str
    user_id: UserId | None = None
    login: str | None = None
    bot: bool = False
    """GitHub says type Bot"""
    stated: Literal["machine", "person"] | None = None
    """what the repository's own file or the person says: it holds for this commit and changes no account"""
    host: str = GITHUB
    """the server of the repository: only its noreply addresses prove an account"""


class Share(Struct, frozen=True):
    """One author's own commits of a pull request that landed as one commit, as GitHub lists them."""

    author: Signature
    commits: int
    lines: int
    """additions + deletions of these commits"""
    title: str = ""
    """the subject of the largest"""


class FileChange(Struct, frozen=True):
    """One file of one commit.

    `additions` and `deletions` are git's numstat (0 for binary files). `patch` is only the hunks, from the first `@@`,
    as in GitHub's API, with any number of context lines >= 1; None if it is not available (binary, too large).
    """

    path: str
    status: FileStatus
    additions: int
    deletions: int
    patch: str | None = None
    previous_path: str | None = None
    binary: bool = False
    submodule: bool = False
    symlink: bool = False


class Commit(Struct, frozen=True):
    """One commit. `partial` if a read limit hid files, so that its lines are a lower bound."""

    id: CommitId
    parents: tuple[CommitId, ...]
    author: Signature
    committer: Signature
    authored_at: datetime
    committed_at: datetime
    message: str
    files: tuple[FileChange, ...] = ()
    partial: bool = False
    signer: UserId | None = None
    """the account whose signature GitHub verified; never GitHub's own"""
    not_measured: int = 0
    """files whose lines could not be read: a clone does not contain them; 1 if it does not even know which they are"""


class Review(Struct, frozen=True):
    author: Signature
    state: Literal["approved", "changes_requested", "commented", "dismissed", "pending"]
    submitted_at: datetime
    comments: int = 0


class PullRequest(Struct, frozen=True):
    """A pull request as GitHub's API returns it now, never as a payload states it."""

    number: int
    title: str
    body: str
    author: Signature | None
    """None if the account was deleted"""
    base_ref: str
    head_ref: str
    head_id: CommitId
    merge_commit: CommitId | None = None
    merged_at: datetime | None = None
    closed_at: datetime | None = None
    labels: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    """its own commits, without files; empty if they were not read"""
    opened_at: datetime | None = None
    author_writes: bool = False
    """GitHub says that the author belongs to the repository: owner, member or collaborator"""
    shares: tuple[Share, ...] = ()
    """its commits by author; empty if they were not read"""
    collaborators: tuple[UserId, ...] = ()
    """of the authors in `shares`, those whom GitHub lists as collaborators with write access"""


class Landing(Struct, frozen=True):
    """One non-merge commit that the default branch of one repository contains.

    `merge_commit` is the commit on the first-parent line that brought it there (a merge commit, or the commit itself).
    `landed_at` is its committer time, which anybody with a clone can read, or a believable one near it.
    """

    repository: Repository
    commit: Commit
    merge_commit: Commit
    landed_at: datetime
    pull_request: PullRequest | None = None
    """known only from GitHub; always None for a clone"""
    brought_by: int | None = None
    """if `merge_commit` merges several pull requests at once: the one whose branch contained the commit; 0 if the
    commit belongs to the history of another repository, which `merge_commit` imported; -1 if the number in the message
    of `merge_commit` is another repository's too"""
    clamped: bool = False
    """whether `landed_at` stands for a committer time that cannot be"""
    on_github: bool = False
    """GitHub resolved its people; False for a clone alone"""
    pusher: UserId | None = None
    """the account that pushed it to the default branch, if a delivery said so"""
    pulls_known: bool = False
    """every closed pull request of the repository had been read"""


class Person(Struct, frozen=True):
    """A contributor: all addresses proved to belong to one account, or one claimed e-mail."""

    key: PersonKey
    name: str
    emails: tuple[str, ...]
    login: str | None = None
    user_id: UserId | None = None
    bot: bool = False
    names: tuple[str, ...] = ()

    @property
    def display(self) -> str:
        """The name as written, else the login, else the local part of the e-mail."""
        return self.name or self.login or (self.emails[0].split("@")[0] if self.emails else "")
