"""What does a delivery refer to? Only ids and guards: a payload is a hint, and the worker reads the rest from GitHub.

`DeliveryPayload` is everything that is read, and its shape is checked. The rest, most of a large delivery, is checked
only for valid JSON and the limits of `decode_within_limits`.
"""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType

from bot.github.payloads.reading import (
    FullCommit,
    Hosted,
    Identity,
    Installed,
    Known,
    Person,
    decode_within_limits,
)
from bot.github.payloads.reading import read as read_as
from bot.model.ids import CommitId, InstallationId, RepositoryId, UserId

T = TypeVar("T")
_NO_COMMIT = frozenset("0")


class InstallationPayload(Struct, frozen=True):
    id: Installed


class RepositoryPayload(Struct, frozen=True):
    id: Hosted
    default_branch: str | None = None


class UserPayload(Struct, frozen=True):
    id: Person
    login: str
    type: str | None = None


class AuthorPayload(Struct, frozen=True):
    id: Person


class PullRequestPayload(Struct, frozen=True):
    number: Identity
    state: str | None = None
    merged: bool | None = None


class IssuePayload(Struct, frozen=True):
    number: Identity
    user: AuthorPayload | None = None


class CommentPayload(Struct, frozen=True):
    id: Identity
    body: str | None = None
    node_id: str = ""
    performed_via_github_app: Known | None = None


class AppPayload(Struct, frozen=True):
    id: Identity | None = None
    """null for a check suite whose App is gone"""


class CheckPayload(Struct, frozen=True):
    id: Identity
    head_sha: FullCommit
    app: AppPayload | None = None


class ButtonPayload(Struct, frozen=True):
    identifier: str


class HookPayload(Struct, frozen=True):
    events: tuple[str, ...] | None = None


class DeliveryPayload(Struct, frozen=True):
    """The fields that are read of a delivery of any event;
    https://docs.github.com/en/webhooks/webhook-events-and-payloads"""

    action: str | None = None
    installation: InstallationPayload | None = None
    repository: RepositoryPayload | None = None
    sender: UserPayload | None = None
    pull_request: PullRequestPayload | UnsetType = UNSET
    issue: IssuePayload | UnsetType = UNSET
    discussion: IssuePayload | UnsetType = UNSET
    comment: CommentPayload | UnsetType = UNSET
    check_run: CheckPayload | UnsetType = UNSET
    check_suite: CheckPayload | UnsetType = UNSET
    requested_action: ButtonPayload | None = None
    hook: HookPayload | None = None
    ref: str | UnsetType = UNSET
    before: FullCommit | UnsetType = UNSET
    after: FullCommit | UnsetType = UNSET

    def __contains__(self, name: str) -> bool:
        """gidgethub's router treats an event's data as a dictionary."""
        return name in self.__struct_fields__

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


class Origin(Struct, frozen=True):
    """The ids that a delivery is stored under; None and empty if it has none."""

    action: str
    installation: InstallationId | None
    repository: RepositoryId | None


class InstalledRepository(Struct, frozen=True):
    """Where something happened: the installation that may act, and the repository."""

    installation: InstallationId
    repository: RepositoryId


class Sender(Struct, frozen=True):
    """Who triggered a delivery."""

    id: UserId
    login: str
    bot: bool


class PushEvent(Struct, frozen=True):
    """A branch that moved. `before` is None if the branch was created, `after` if it was deleted."""

    before: CommitId | None
    after: CommitId | None
    on_default_branch: bool


class CommentHint(Struct, frozen=True):
    """A comment as the delivery shows it; `asks` if an unquoted line of it starts with the command word."""

    number: int
    comment: int
    asks: bool
    body: str
    node: str = ""
    """its id in GraphQL"""


class CheckHint(Struct, frozen=True):
    """A check run or suite in a delivery. `app` is the app it belongs to."""

    id: int
    app: int
    head: CommitId
    identifier: str = ""
    """the button pressed, for `requested_action`"""


def read(body: bytes) -> DeliveryPayload:
    """The payload of a body. Raises ValueError if any of it, read or not, differs from what GitHub documents."""
    return read_as(decode_within_limits(body), DeliveryPayload)


def _given(part: T | UnsetType, name: str) -> T:
    if isinstance(part, UnsetType):
        raise KeyError(name)
    return part


def origin(payload: DeliveryPayload) -> Origin:
    """The ids to store a delivery under; a repository's own webhook has no installation."""
    return Origin(
        action(payload), installation_id(payload), None if payload.repository is None else payload.repository.id
    )


def installation_id(payload: DeliveryPayload) -> InstallationId | None:
    return None if payload.installation is None else payload.installation.id


def installed_repository(payload: DeliveryPayload) -> InstalledRepository | None:
    """Where it happened; None if no installation of ours may act there."""
    if payload.installation is None or payload.repository is None:
        return None
    return InstalledRepository(payload.installation.id, payload.repository.id)


def action(payload: DeliveryPayload) -> str:
    return payload.action or ""


def sender(payload: DeliveryPayload) -> Sender | None:
    """Who triggered it; None for a ghost."""
    user = payload.sender
    return None if user is None else Sender(user.id, user.login, user.type == "Bot")


def pull_request_number(payload: DeliveryPayload) -> int:
    return _given(payload.pull_request, "pull_request").number


def pull_request_is_closed(payload: DeliveryPayload) -> bool:
    return _given(payload.pull_request, "pull_request").state == "closed"


def pull_request_is_merged(payload: DeliveryPayload) -> bool:
    return action(payload) == "closed" and _given(payload.pull_request, "pull_request").merged is True


def issue_author(payload: DeliveryPayload) -> UserId | None:
    """Who opened an issue; None for a ghost."""
    user = _given(payload.issue, "issue").user
    return None if user is None else user.id


def push(payload: DeliveryPayload) -> PushEvent:
    """The branch that moved. The default branch is the one in the payload, as of the push."""
    branch = None if payload.repository is None else payload.repository.default_branch
    if branch is None:
        raise KeyError("default_branch")
    return PushEvent(
        before=_moved(_given(payload.before, "before")),
        after=_moved(_given(payload.after, "after")),
        on_default_branch=_given(payload.ref, "ref") == f"refs/heads/{branch}",
    )


def comment(payload: DeliveryPayload, command: str) -> CommentHint:
    """A comment on an issue or pull request."""
    return _comment(payload, _given(payload.issue, "issue").number, command)


def discussion_comment(payload: DeliveryPayload, command: str) -> CommentHint:
    """A comment in a discussion."""
    return _comment(payload, _given(payload.discussion, "discussion").number, command)


def _comment(payload: DeliveryPayload, number: int, command: str) -> CommentHint:
    found = _given(payload.comment, "comment")
    body = found.body or ""
    asks = any(line == command or line.startswith(f"{command} ") for line in body.splitlines())
    return CommentHint(number, found.id, asks, body, found.node_id)


def comment_app(payload: DeliveryPayload) -> int | None:
    """The App that wrote a comment, if any."""
    app = None if payload.comment is UNSET else payload.comment.performed_via_github_app
    return None if app is None else app.id


def check_run(payload: DeliveryPayload) -> CheckHint:
    pressed = payload.requested_action
    return _check(_given(payload.check_run, "check_run"), "" if pressed is None else pressed.identifier)


def check_suite(payload: DeliveryPayload) -> CheckHint:
    return _check(_given(payload.check_suite, "check_suite"))


def hook_events(payload: DeliveryPayload) -> tuple[str, ...]:
    """The events that a hook sends, according to `ping`."""
    return () if payload.hook is None else payload.hook.events or ()


def _check(check: CheckPayload, identifier: str = "") -> CheckHint:
    app = None if check.app is None else check.app.id
    return CheckHint(check.id, app or 0, check.head_sha, identifier)


def _moved(commit: CommitId) -> CommitId | None:
    return None if set(commit) == _NO_COMMIT else commit
