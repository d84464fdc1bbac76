"""What does an answer of GitHub's API contain about commits, their files, and the commits between two of them?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from bot.github.payloads.answers import RestAccount, user
from bot.github.payloads.reading import FullCommit, Number, PayloadError, moment, read, required_moment
from bot.landing.identity.addresses import app_of
from bot.landing.identity.machines import is_web_flow
from bot.model.commit import Commit, FileChange, Signature
from bot.model.ids import CommitId, FileStatus, UserId

MOST_FILES = 3000
"""the most files that GitHub shows for one commit"""
_EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)


class Comparison(Struct, frozen=True):
    """The first page of a comparison. `files` changed between the merge base and the head, 300 at most."""

    total: int
    behind: int
    """commits reachable from the base but not from the head"""
    base: CommitId
    """the merge base"""
    commits: tuple[Commit, ...]
    trees: dict[CommitId, str]
    """by commit, for the commits shown and the merge base"""
    files: tuple[FileChange, ...]


class Stated(Struct, frozen=True):
    """A name as git records it."""

    name: str | None = None
    email: str | None = None
    date: str | None = None


class _Object(Struct, frozen=True):
    sha: FullCommit


class _Verification(Struct, frozen=True):
    verified: bool = False


class _GitCommit(Struct, frozen=True):
    message: str
    author: Stated
    committer: Stated
    tree: _Object | None = None
    verification: _Verification | None = None


class _RestCommit(Struct, frozen=True):
    sha: FullCommit
    commit: _GitCommit
    parents: tuple[_Object, ...] | None = None
    author: RestAccount | None = None
    committer: RestAccount | None = None


class _Counted(Struct, frozen=True):
    additions: Number
    deletions: Number


class _Stats(Struct, frozen=True):
    stats: _Counted | None = None


class _File(Struct, frozen=True):
    filename: str
    status: str
    additions: Number
    deletions: Number
    sha: str | None = None
    patch: str | None = None
    previous_filename: str | None = None


class _Files(Struct, frozen=True):
    files: tuple[_File, ...] | None = None


class _Page(Struct, frozen=True):
    """One page of a comparison."""

    total_commits: Number
    commits: tuple[_RestCommit, ...] | None = None


class _Comparison(_Page, frozen=True, kw_only=True):
    """The first page of a comparison."""

    merge_base_commit: _RestCommit
    behind_by: Number | None = None
    files: tuple[_File, ...] | None = None


def commit(answer: object) -> Commit:
    """A commit without its files."""
    return _commit(read(answer, _RestCommit))


def _commit(row: _RestCommit) -> Commit:
    inner = row.commit
    committed_at = required_moment(inner.committer.date)
    return Commit(
        id=row.sha,
        parents=tuple(parent.sha for parent in row.parents or ()),
        author=_signature(inner.author, row.author),
        committer=_signature(inner.committer, row.committer),
        authored_at=moment(inner.author.date) or committed_at,
        committed_at=committed_at,
        message=inner.message,
        signer=_signer(row),
    )


def _signer(row: _RestCommit) -> UserId | None:
    """The account whose signature GitHub verified: the committer's, as only their own key fits; not GitHub's own."""
    stated, account = row.commit.verification, user(row.committer)
    if stated is None or not stated.verified or account is None:
        return None
    return None if is_web_flow(_signature(row.commit.committer, row.committer)) else account.user_id


def with_files(found: Commit, stats: tuple[int, int] | None, files: Iterable[FileChange]) -> Commit:
    """The commit with its files; `partial` at GitHub's limit, or if the rows do not sum to the commit's own stats."""
    rows = tuple(files)
    sums = (sum(row.additions for row in rows), sum(row.deletions for row in rows))
    return replace(found, files=rows, partial=len(rows) >= MOST_FILES or (stats is not None and sums != stats))


def stats(answer: object) -> tuple[int, int] | None:
    """(additions, deletions) of a whole commit; None if the answer has none."""
    found = read(answer, _Stats).stats
    return None if found is None else (found.additions, found.deletions)


def files(answer: object) -> tuple[FileChange, ...]:
    """The files on one page of a commit, in GitHub's order."""
    return _changes(read(answer, _Files).files)


def _changes(rows: Iterable[_File] | None) -> tuple[FileChange, ...]:
    return tuple(change for row in rows or () if (change := _change(row)) is not None)


def _change(row: _File) -> FileChange | None:
    """One file; None if nothing in it changed."""
    if row.status not in get_args(FileStatus):
        if row.status == "unchanged":
            return None
        raise PayloadError("a file has a status GitHub does not document")
    patch = row.patch or None
    binary = patch is None and row.additions + row.deletions == 0 and row.status in ("added", "removed", "modified")
    return FileChange(
        path=row.filename,
        status=cast(FileStatus, row.status),
        additions=row.additions,
        deletions=row.deletions,
        patch=patch,
        previous_path=row.previous_filename or None,
        binary=binary and row.sha not in _EMPTY_BLOBS,
        submodule=patch is not None and _is_submodule(patch),
    )


def compared_commits(answer: object) -> tuple[Commit, ...]:
    """The commits on one page of a comparison, without files."""
    return tuple(map(_commit, read(answer, _Page).commits or ()))


def comparison(answer: object) -> Comparison:
    row = read(answer, _Comparison)
    base, commits = row.merge_base_commit, row.commits or ()
    return Comparison(
        total=row.total_commits,
        behind=row.behind_by or 0,
        base=base.sha,
        commits=tuple(map(_commit, commits)),
        trees={one.sha: one.commit.tree.sha for one in (base, *commits) if one.commit.tree is not None},
        files=_changes(row.files),
    )


def total_commits(answer: object) -> int:
    return read(answer, _Page).total_commits


def _signature(stated: Stated, account: RestAccount | None) -> Signature:
    known = user(account)
    plain = Signature(stated.name or "", stated.email or "")
    if known is not None:
        return replace(plain, user_id=known.user_id, login=known.login, bot=known.bot)
    app = app_of(plain.email)
    return plain if app is None else replace(plain, user_id=app[0], login=app[1], bot=True)


def _is_submodule(patch: str) -> bool:
    """git shows a submodule as a single line with its commit."""
    changed = [line for line in patch[:400].split("\n") if line[:1] in ("+", "-", " ")]
    return 1 <= len(changed) <= 2 and all(
        line[1:].startswith("Subproject commit ") and len(line) in (59, 83) for line in changed
    )
