"""What does an answer of GitHub's API say, in the words of the model?"""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import Any, Literal, cast

from msgspec import Struct

from bot.github.payloads.fields import Fields
from bot.model import (
    CommitId,
    InstallationId,
    PullRequest,
    Repository,
    RepositoryId,
    Review,
    Signature,
    UserId,
)

_REVIEW_STATES = frozenset({"approved", "changes_requested", "commented", "dismissed", "pending"})


class Token(Struct, frozen=True):
    token: str
    expires_at: datetime


class App(Struct, frozen=True):
    """The App itself; its comments are written by `<slug>[bot]`."""

    id: int
    slug: str


class Installation(Struct, frozen=True):
    """An installation as GitHub answers now."""

    id: InstallationId
    account: str
    account_id: int
    organisation: bool
    suspended: bool


class PullRequestAnswer(Struct, frozen=True):
    """A pull request's own answer: the model's part, and what says how much more there is to read."""

    pull_request: PullRequest
    base_repository: RepositoryId
    base_id: CommitId
    commits: int
    review_comments: int


class CheckRunAnswer(Struct, frozen=True):
    id: int
    app: int
    external_id: str


class IssueAnswer(Struct, frozen=True):
    """An issue: its number in the repository and its text; `app` is the App it was opened through, if any."""

    number: int
    body: str
    is_pull_request: bool = False
    app: int | None = None


class CommentAnswer(Struct, frozen=True):
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
        opened_at=fields.time_or_none("created_at"),
    )
    return PullRequestAnswer(
        pull_request=known,
        base_repository=RepositoryId(base.object("repo").identity("id")),
        base_id=CommitId(base.commit("sha")),
        commits=fields.count("commits"),
        review_comments=fields.count("review_comments"),
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


def check_run(answer: Any) -> CheckRunAnswer:
    fields = Fields(answer, "check run")
    app = fields.maybe("app")
    return CheckRunAnswer(
        id=fields.identity("id"),
        app=0 if app is None else app.identity("id"),
        external_id=fields.text_or("external_id"),
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


def repositories(answer: Any) -> tuple[int, list[Repository]]:
    """How many there are in all, and those of this page."""
    fields = Fields(answer, "repositories")
    return fields.count("total_count"), [repository(row.plain) for row in fields.objects("repositories")]


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


def identity(answer: Any) -> int:
    """The id of what was just created or edited."""
    return Fields(answer, "answer").identity("id")
