"""What does an answer of GitHub's API contain, in the types of the model?"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, cast
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from bot.configuration.addresses import LOOPBACK
from bot.github.payloads.reading import (
    FullCommit,
    Hosted,
    Identity,
    Installed,
    Known,
    Number,
    PayloadError,
    Person,
    moment,
    read,
)
from bot.model.commit import GITHUB, PullRequest, Repository, Review, Signature
from bot.model.ids import CommitId, InstallationId, RepositoryId

BELONGS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""associations of an author who may write; https://docs.github.com/en/graphql/reference/enums#commentauthorassociation"""
_REVIEW_STATES = frozenset({"approved", "changes_requested", "commented", "dismissed", "pending"})


class Token(Struct, frozen=True):
    token: str
    expires_at: Annotated[datetime, Meta(tz=True)]


class App(Struct, frozen=True):
    """The App itself; its comments are written by `<slug>[bot]`."""

    id: Identity
    slug: str


class Installation(Struct, frozen=True):
    """An installation in GitHub's current answer."""

    id: InstallationId
    account: str
    account_id: int
    organisation: bool
    suspended: bool
    permissions: Mapping[str, str]
    """what was granted: a level (`read`, `write`, `admin`) by name"""


class PullRequestAnswer(Struct, frozen=True):
    """A pull request's own answer: the model's part, and how much more there is to read."""

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
    """An issue: its number in the repository and its text; `app` is the App that opened it, if any."""

    number: int
    body: str
    is_pull_request: bool = False
    app: int | None = None
    comments: int = 0
    """how many comments it has"""


class CommentAnswer(Struct, frozen=True):
    """A comment; `app` is the App that wrote it, if any."""

    id: int
    author: Signature | None
    body: str
    app: int | None
    number: int | None
    """of the issue or pull request, if the answer names it"""
    created_at: datetime | None = None


class RestAccount(Struct, frozen=True):
    """An account. If GitHub does not know an author, the object is null or empty."""

    id: Person | None = None
    login: str | None = None
    name: str | None = None
    type: str | None = None


class _Owner(Struct, frozen=True):
    """A person or organisation has a login, an enterprise a slug."""

    id: Identity
    login: str | None = None
    slug: str | None = None
    type: str | None = None


class _Installation(Struct, frozen=True):
    id: Installed
    account: _Owner
    suspended_at: str | None = None
    permissions: dict[str, str] = {}


class _Named(Struct, frozen=True):
    full_name: str


class RestRepository(Struct, frozen=True):
    id: Hosted
    full_name: str
    private: bool | None = None
    visibility: str | None = None
    fork: bool | None = None
    parent: _Named | None = None
    default_branch: str | None = None
    html_url: str | None = None


class _Repositories(Struct, frozen=True):
    total_count: Number | None = None
    repositories: tuple[RestRepository, ...] | None = None


class Side(Struct, frozen=True):
    """The head or base of a pull request; the repository of a head may be deleted."""

    ref: str
    sha: FullCommit
    repo: Known | None = None


class Label(Struct, frozen=True):
    name: str


class RestPullRequest(Struct, frozen=True):
    number: Identity
    title: str
    head: Side
    base: Side
    body: str | None = None
    user: RestAccount | None = None
    state: str | None = None
    merged: bool | None = None
    merged_by: RestAccount | None = None
    merge_commit_sha: FullCommit | None = None
    created_at: str | None = None
    merged_at: str | None = None
    closed_at: str | None = None
    labels: tuple[Label, ...] | None = None
    commits: Number | None = None
    review_comments: Number | None = None
    author_association: str | None = None


class RestReview(Struct, frozen=True):
    id: Identity
    state: str
    user: RestAccount | None = None
    submitted_at: str | None = None


class RestComment(Struct, frozen=True):
    id: Identity
    user: RestAccount | None = None
    body: str | None = None
    issue_url: str | None = None
    created_at: str | None = None
    performed_via_github_app: Known | None = None


class _CheckRun(Struct, frozen=True):
    id: Identity
    app: Known | None = None
    external_id: str | None = None


class _Issue(Struct, frozen=True):
    number: Identity
    body: str | None = None
    pull_request: object = None
    performed_via_github_app: Known | None = None
    comments: int | None = None


class _Content(Struct, frozen=True):
    type: str | None = None
    encoding: str | None = None
    content: str | None = None


class _Permission(Struct, frozen=True):
    permission: str


def installation(answer: object) -> Installation:
    row = read(answer, _Installation)
    return Installation(
        id=row.id,
        account=row.account.login or row.account.slug or "",
        account_id=row.account.id,
        organisation=row.account.type == "Organization",
        suspended=row.suspended_at is not None,
        permissions=row.permissions,
    )


def repository(answer: object) -> Repository:
    return repository_of(read(answer, RestRepository))


def repository_of(row: RestRepository) -> Repository:
    return Repository(
        full_name=row.full_name,
        id=row.id,
        private=bool(row.private) or (row.visibility or "public") != "public",
        fork=bool(row.fork),
        parent=None if row.parent is None else row.parent.full_name,
        default_branch=row.default_branch or "main",
        host=_host_of(row.html_url),
    )


def _host_of(page: str | None) -> str:
    """The server in the address of a page; a GitHub on this machine is a simulated github.com."""
    parts = urlsplit(page or "")
    return GITHUB if not parts.hostname or parts.hostname in LOOPBACK else parts.netloc.lower()


def user(account: RestAccount | None) -> Signature | None:
    """An account; None for a ghost. The answer never contains its e-mail."""
    if account is None or account == RestAccount():
        return None
    if account.id is None or account.login is None:
        raise PayloadError("an account has no id or no login")
    name = account.name or account.login
    return Signature(name, "", account.id, account.login, account.type == "Bot")


def pull_request(answer: object) -> PullRequestAnswer:
    return pull_request_of(read(answer, RestPullRequest))


def pull_request_of(row: RestPullRequest) -> PullRequestAnswer:
    if row.base.repo is None:
        raise PayloadError("a pull request has no base")
    merged_at = moment(row.merged_at)
    known = PullRequest(
        number=row.number,
        title=row.title,
        body=row.body or "",
        author=user(row.user),
        base_ref=row.base.ref,
        head_ref=row.head.ref,
        head_id=row.head.sha,
        # while a pull request is open this is a test merge, which never lands
        merge_commit=row.merge_commit_sha if merged_at else None,
        merged_at=merged_at,
        closed_at=moment(row.closed_at),
        labels=tuple(label.name for label in row.labels or ()),
        opened_at=moment(row.created_at),
        author_writes=row.author_association in BELONGS,
    )
    base = RepositoryId(row.base.repo.id)
    return PullRequestAnswer(known, base, row.base.sha, row.commits or 0, row.review_comments or 0)


def review_of(row: RestReview) -> tuple[int, Review] | None:
    author, state, submitted_at = user(row.user), row.state.lower(), moment(row.submitted_at)
    if author is None or submitted_at is None or state not in _REVIEW_STATES:
        return None
    known = cast(Literal["approved", "changes_requested", "commented", "dismissed", "pending"], state)
    return row.id, Review(author, known, submitted_at)


def check_run(answer: object) -> CheckRunAnswer:
    row = read(answer, _CheckRun)
    return CheckRunAnswer(row.id, 0 if row.app is None else row.app.id, row.external_id or "")


def comment(answer: object) -> CommentAnswer:
    row = read(answer, RestComment)
    number = (row.issue_url or "").rpartition("/")[2]
    return CommentAnswer(
        id=row.id,
        author=user(row.user),
        body=row.body or "",
        app=None if row.performed_via_github_app is None else row.performed_via_github_app.id,
        number=int(number) if number.isascii() and number.isdigit() else None,
        created_at=moment(row.created_at),
    )


def repositories(answer: object) -> tuple[int, list[Repository]]:
    """(the total number of repositories, those on this page)."""
    page = read(answer, _Repositories)
    return page.total_count or 0, [repository_of(row) for row in page.repositories or ()]


def issue(answer: object) -> IssueAnswer:
    row = read(answer, _Issue)
    app = None if row.performed_via_github_app is None else row.performed_via_github_app.id
    return IssueAnswer(row.number, row.body or "", row.pull_request is not None, app, row.comments or 0)


def content(answer: object) -> str | None:
    """The text of a file; None for a directory, a submodule, a file GitHub does not inline (1 MB), or text that is not
    UTF-8."""
    if not isinstance(answer, dict):
        return None
    row = read(answer, _Content)
    if row.type != "file" or row.encoding != "base64":
        return None
    try:
        return base64.b64decode(row.content or "").decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def permission(answer: object) -> str:
    """`admin`, `write`, `read` or `none`."""
    return read(answer, _Permission).permission


def identity(answer: object) -> int:
    """The id of what was just created or edited."""
    return read(answer, Known).id
