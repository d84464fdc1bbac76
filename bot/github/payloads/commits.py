"""What does an answer of GitHub's API say of commits, of their files, and of what lies between two of them?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from bot.github.payloads.answers import user
from bot.github.payloads.fields import Fields, PayloadError, whole
from bot.landing.addresses import app_of
from bot.model import Commit, CommitId, FileChange, FileStatus, Signature

MOST_FILES = 3000
"""files GitHub shows of one commit, in all"""
_EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)


class Comparison(Struct, frozen=True):
    """The first page of a comparison. `files` are what changed between the merge base and the head, 300 at most."""

    total: int
    behind: int
    """commits that the base reaches and the head does not"""
    base: CommitId
    """the merge base"""
    commits: tuple[Commit, ...]
    trees: dict[CommitId, str]
    """of the commits shown and of the merge base"""
    files: tuple[FileChange, ...]


def commit(answer: Any) -> Commit:
    """A commit without its files."""
    return _commit(Fields(answer, "commit"))


def _commit(fields: Fields) -> Commit:
    inner = fields.object("commit")
    committed_at = inner.object("committer").time("date")
    return Commit(
        id=CommitId(fields.commit("sha")),
        parents=tuple(CommitId(parent.commit("sha")) for parent in fields.objects("parents")),
        author=_signature(inner.object("author"), fields.maybe("author")),
        committer=_signature(inner.object("committer"), fields.maybe("committer")),
        authored_at=inner.object("author").time_or_none("date") or committed_at,
        committed_at=committed_at,
        message=inner.text("message"),
    )


def with_files(found: Commit, stats: tuple[int, int] | None, files: Iterable[FileChange]) -> Commit:
    """The commit with its files; `partial` at GitHub's cap, and where the rows do not sum to the commit's own stats."""
    rows = tuple(files)
    sums = (sum(row.additions for row in rows), sum(row.deletions for row in rows))
    return replace(found, files=rows, partial=len(rows) >= MOST_FILES or (stats is not None and sums != stats))


def stats(answer: Any) -> tuple[int, int] | None:
    """(additions, deletions) of a whole commit; None where the answer has none."""
    found = Fields(answer, "commit").maybe("stats")
    return None if found is None else (found.number("additions"), found.number("deletions"))


def files(answer: Any) -> tuple[FileChange, ...]:
    """The files on one page of a commit, in GitHub's order."""
    rows = (file_change(fields) for fields in Fields(answer, "commit").objects("files"))
    return tuple(row for row in rows if row is not None)


def file_change(fields: Fields) -> FileChange | None:
    """One file; None where nothing of it changed."""
    status = fields.text("status")
    if status not in get_args(FileStatus):
        if status == "unchanged":
            return None
        raise PayloadError("a file has a status GitHub does not document")
    additions, deletions = fields.number("additions"), fields.number("deletions")
    patch = fields.text_or("patch") or None
    binary = patch is None and additions + deletions == 0 and status in ("added", "removed", "modified")
    return FileChange(
        path=fields.text("filename"),
        status=cast(FileStatus, status),
        additions=additions,
        deletions=deletions,
        patch=patch,
        previous_path=fields.text_or("previous_filename") or None,
        binary=binary and fields.text_or("sha") not in _EMPTY_BLOBS,
        submodule=patch is not None and _is_submodule(patch),
    )


def compared(answer: Any) -> tuple[Commit, ...]:
    """The commits on one page of a comparison, without files."""
    return tuple(_commit(fields) for fields in Fields(answer, "compare").objects("commits"))


def comparison(answer: Any) -> Comparison:
    fields = Fields(answer, "compare")
    base = fields.object("merge_base_commit")
    shown = [base, *fields.objects("commits")]
    trees = {CommitId(one.commit("sha")): one.object("commit").maybe("tree") for one in shown}
    return Comparison(
        total=fields.number("total_commits"),
        behind=fields.count("behind_by"),
        base=CommitId(base.commit("sha")),
        commits=compared(answer),
        trees={commit: tree.commit("sha") for commit, tree in trees.items() if tree is not None},
        files=files(answer),
    )


def total_commits(answer: Any) -> int:
    return Fields(answer, "compare").number("total_commits")


def _signature(stated: Fields, account: Fields | None) -> Signature:
    known = user(account)
    plain = Signature(whole(stated.text_or("name")), whole(stated.text_or("email")))
    if known is not None:
        return replace(plain, user_id=known.user_id, login=known.login, bot=known.bot)
    app = app_of(plain.email)
    return plain if app is None else replace(plain, user_id=app[0], login=app[1], bot=True)


def _is_submodule(patch: str) -> bool:
    """git shows a submodule as one line naming its commit, and nothing else."""
    changed = [line for line in patch[:400].split("\n") if line[:1] in ("+", "-", " ")]
    return 1 <= len(changed) <= 2 and all(
        line[1:].startswith("Subproject commit ") and len(line) in (59, 83) for line in changed
    )
