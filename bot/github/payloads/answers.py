"""What does an answer of GitHub's API say, in the words of the model?"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast, get_args

from bot.github.payloads.fields import Fields, PayloadError, whole
from bot.model import (
    Commit,
    CommitId,
    FileChange,
    FileStatus,
    InstallationId,
    PullRequest,
    Repository,
    RepositoryId,
    Review,
    Signature,
    UserId,
)

MOST_FILES = 3000
"""files GitHub shows of one commit, in all"""
_EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
_REVIEW_STATES = frozenset({"approved", "changes_requested", "commented", "dismissed", "pending"})
_FAILED = frozenset({"failure", "timed_out", "cancelled", "action_required", "startup_failure"})


@dataclass(frozen=True, slots=True)
class Token:
    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class App:
    """The App itself; its comments are written by `<slug>[bot]`."""

    id: int
    slug: str


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation as GitHub answers now."""

    id: InstallationId
    account: str
    account_id: int
    organisation: bool
    suspended: bool


@dataclass(frozen=True, slots=True)
class PullRequestAnswer:
    """A pull request's own answer: the model's part, and what says how much more there is to read."""

    pull_request: PullRequest
    base_repository: RepositoryId
    base_id: CommitId
    commits: int
    review_comments: int


@dataclass(frozen=True, slots=True)
class CheckRunAnswer:
    id: int
    app: int
    external_id: str
    state: Literal["passed", "failed", "neutral", "running"]


@dataclass(frozen=True, slots=True)
class IssueAnswer:
    """An issue: its number in the repository and its text; `app` is the App it was opened through, if any."""

    number: int
    body: str
    is_pull_request: bool = False
    app: int | None = None


@dataclass(frozen=True, slots=True)
class CommentAnswer:
    """A comment; `app` is the App it was written through, if any."""

    id: int
    author: Signature | None
    body: str
    app: int | None
    number: int | None
    """of the issue or pull request, where the answer names it"""
    created_at: datetime | None = None


def token(answer: Any) -> Token:
    fields = Fields(answer, "token")
    return Token(fields.text("token"), fields.time("expires_at"))


def app(answer: Any) -> App:
    fields = Fields(answer, "app")
    return App(fields.identity("id"), fields.text("slug"))


def installation(answer: Any) -> Installation:
    fields = Fields(answer, "installation")
    account = fields.object("account")
    return Installation(
        id=InstallationId(fields.identity("id")),
        account=account.text_or("login") or account.text_or("slug"),
        account_id=account.identity("id"),
        organisation=account.text_or("type") == "Organization",
        suspended="suspended_at" in fields,
    )


def repository(answer: Any) -> Repository:
    fields = Fields(answer, "repository")
    parent = fields.maybe("parent")
    return Repository(
        full_name=fields.text("full_name"),
        id=RepositoryId(fields.identity("id")),
        private=fields.flag("private") or fields.text_or("visibility", "public") != "public",
        fork=fields.flag("fork"),
        parent=None if parent is None else parent.text("full_name"),
        default_branch=fields.text_or("default_branch", "main"),
    )


def user(fields: Fields | None) -> Signature | None:
    """An account; None for a ghost. Its e-mail is never known from here."""
    if fields is None:
        return None
    login = fields.text("login")
    return Signature(
        name=fields.text_or("name") or login,
        email="",
        user_id=UserId(fields.identity("id")),
        login=login,
        bot=fields.text_or("type") == "Bot",
    )


def pull_request(answer: Any) -> PullRequestAnswer:
    fields = Fields(answer, "pull_request")
    head, base = fields.object("head"), fields.object("base")
    merge_commit = fields.commit("merge_commit_sha") if "merge_commit_sha" in fields else None
    merged_at = fields.time_or_none("merged_at")
    known = PullRequest(
        number=fields.identity("number"),
        title=fields.text("title"),
        body=fields.text_or("body"),
        author=user(fields.maybe("user")),
        base_ref=base.text("ref"),
        head_ref=head.text("ref"),
        head_id=CommitId(head.commit("sha")),
        # while a pull request is open this names a test merge that lands nowhere
        merge_commit=CommitId(merge_commit) if merge_commit and merged_at else None,
        merged_at=merged_at,
        closed_at=fields.time_or_none("closed_at"),
        labels=tuple(label.text("name") for label in fields.objects("labels")),
    )
    return PullRequestAnswer(
        pull_request=known,
        base_repository=RepositoryId(base.object("repo").identity("id")),
        base_id=CommitId(base.commit("sha")),
        commits=fields.count("commits"),
        review_comments=fields.count("review_comments"),
    )


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


def review(answer: Any) -> tuple[int, Review] | None:
    """(id, review); None where its author is a ghost or it was never submitted."""
    fields = Fields(answer, "review")
    author, state = user(fields.maybe("user")), fields.text("state").lower()
    submitted_at = fields.time_or_none("submitted_at")
    if author is None or submitted_at is None or state not in _REVIEW_STATES:
        return None
    known = cast(Literal["approved", "changes_requested", "commented", "dismissed", "pending"], state)
    return fields.identity("id"), Review(author, known, submitted_at)


def review_of_comment(answer: Any) -> int:
    """The review a review comment belongs to, 0 for none."""
    return Fields(answer, "review comment").count("pull_request_review_id")


def check_run(answer: Any) -> CheckRunAnswer:
    fields = Fields(answer, "check run")
    app = fields.maybe("app")
    return CheckRunAnswer(
        id=fields.identity("id"),
        app=0 if app is None else app.identity("id"),
        external_id=fields.text_or("external_id"),
        state=_check_state(fields.text_or("conclusion")),
    )


def comment(answer: Any) -> CommentAnswer:
    fields = Fields(answer, "comment")
    app = fields.maybe("performed_via_github_app")
    number = fields.text_or("issue_url").rpartition("/")[2]
    return CommentAnswer(
        id=fields.identity("id"),
        author=user(fields.maybe("user")),
        body=fields.text_or("body"),
        app=None if app is None else app.identity("id"),
        number=int(number) if number.isascii() and number.isdigit() else None,
        created_at=fields.time_or_none("created_at"),
    )


def issue(answer: Any) -> IssueAnswer:
    fields = Fields(answer, "issue")
    app = fields.maybe("performed_via_github_app")
    return IssueAnswer(
        number=fields.identity("number"),
        body=fields.text_or("body"),
        is_pull_request="pull_request" in fields,
        app=None if app is None else app.identity("id"),
    )


def content(answer: Any) -> str | None:
    """The text of a file; None for a directory, a submodule, a file GitHub does not inline (1 MB) or no UTF-8."""
    if not isinstance(answer, dict):
        return None
    fields = Fields(answer, "content")
    if fields.text_or("type") != "file" or fields.text_or("encoding") != "base64":
        return None
    try:
        return base64.b64decode(fields.text_or("content")).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def permission(answer: Any) -> str:
    """`admin`, `write`, `read` or `none`."""
    return Fields(answer, "permission").text("permission")


def compared(answer: Any) -> tuple[Commit, ...]:
    """The commits on one page of a comparison, without files."""
    return tuple(_commit(fields) for fields in Fields(answer, "compare").objects("commits"))


def total_commits(answer: Any) -> int:
    return Fields(answer, "compare").number("total_commits")


def number(answer: Any) -> int:
    return Fields(answer, "pull_request").identity("number")


def identity(answer: Any) -> int:
    """The id of what was just created or edited."""
    return Fields(answer, "answer").identity("id")


def _signature(stated: Fields, account: Fields | None) -> Signature:
    known = user(account)
    plain = Signature(whole(stated.text_or("name")), whole(stated.text_or("email")))
    return plain if known is None else replace(plain, user_id=known.user_id, login=known.login, bot=known.bot)


def _check_state(conclusion: str) -> Literal["passed", "failed", "neutral", "running"]:
    if not conclusion:
        return "running"
    if conclusion in _FAILED:
        return "failed"
    return "passed" if conclusion == "success" else "neutral"


def _is_submodule(patch: str) -> bool:
    """git shows a submodule as one line naming its commit, and nothing else."""
    changed = [line for line in patch[:400].split("\n") if line[:1] in ("+", "-", " ")]
    return 1 <= len(changed) <= 2 and all(
        line[1:].startswith("Subproject commit ") and len(line) in (59, 83) for line in changed
    )
