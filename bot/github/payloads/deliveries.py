"""What does a delivery point at? Ids and guards only: a payload is a hint, and the worker reads the rest anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.github.payloads.fields import Fields
from bot.model import CommitId, InstallationId, RepositoryId, UserId

_NO_COMMIT = frozenset("0")


@dataclass(frozen=True, slots=True)
class Origin:
    """What a delivery is filed under; None and empty where it names none."""

    action: str
    installation: InstallationId | None
    repository: RepositoryId | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happened: which installation may act, in which repository."""

    installation: InstallationId
    repository: RepositoryId


@dataclass(frozen=True, slots=True)
class Sender:
    """Who caused a delivery."""

    id: UserId
    login: str
    bot: bool


@dataclass(frozen=True, slots=True)
class Push:
    """A branch that moved. `before` is None where the branch was created, `after` where it was deleted."""

    before: CommitId | None
    after: CommitId | None
    on_default_branch: bool


@dataclass(frozen=True, slots=True)
class CommentHint:
    """A comment as the delivery shows it; `asks` where an unquoted line of it starts with the command word."""

    number: int
    comment: int
    asks: bool


@dataclass(frozen=True, slots=True)
class CheckHint:
    """A check run or suite a delivery tells of. `app` is the app it belongs to."""

    id: int
    app: int
    head: CommitId
    identifier: str = ""
    """the button pressed, for `requested_action`"""


def installation_id(payload: Any) -> InstallationId | None:
    """The installation a delivery belongs to; a repository's own webhook has none."""
    installation = Fields(payload).maybe("installation")
    return None if installation is None else InstallationId(installation.identity("id"))


def origin(payload: Any) -> Origin:
    """What to file a delivery under."""
    repository = Fields(payload).maybe("repository")
    known = None if repository is None else RepositoryId(repository.identity("id"))
    return Origin(action(payload), installation_id(payload), known)


def place(payload: Any) -> Place | None:
    """Where it happened; None where no installation of ours may act there."""
    found = origin(payload)
    if found.installation is None or found.repository is None:
        return None
    return Place(found.installation, found.repository)


def action(payload: Any) -> str:
    return Fields(payload).text_or("action")


def sender(payload: Any) -> Sender | None:
    """Who caused it; None for a ghost."""
    user = Fields(payload).maybe("sender")
    if user is None:
        return None
    return Sender(UserId(user.identity("id")), user.text("login"), user.text_or("type") == "Bot")


def pull_request_number(payload: Any) -> int:
    return Fields(payload).object("pull_request").identity("number")


def pull_request_is_closed(payload: Any) -> bool:
    return Fields(payload).object("pull_request").text_or("state") == "closed"


def pull_request_is_merged(payload: Any) -> bool:
    return action(payload) == "closed" and Fields(payload).object("pull_request").flag("merged")


def issue_author(payload: Any) -> UserId | None:
    """Who opened an issue; None for a ghost."""
    user = Fields(payload).object("issue").maybe("user")
    return None if user is None else UserId(user.identity("id"))


def push(payload: Any) -> Push:
    """What moved. The default branch is the payload's own word, as it was at the time of the push."""
    fields = Fields(payload)
    branch = fields.object("repository").text("default_branch")
    return Push(
        before=_moved(fields.commit("before")),
        after=_moved(fields.commit("after")),
        on_default_branch=fields.text("ref") == f"refs/heads/{branch}",
    )


def comment(payload: Any, command: str) -> CommentHint:
    """A comment on an issue or pull request."""
    fields = Fields(payload)
    found = fields.object("comment")
    body = found.text_or("body")
    asks = any(line == command or line.startswith(f"{command} ") for line in body.splitlines())
    return CommentHint(fields.object("issue").identity("number"), found.identity("id"), asks)


def comment_app(payload: Any) -> int | None:
    """The App through which a comment was written, if any."""
    found = Fields(payload).maybe("comment")
    app = None if found is None else found.maybe("performed_via_github_app")
    return None if app is None else app.identity("id")


def check_run(payload: Any) -> CheckHint:
    fields = Fields(payload)
    pressed = fields.maybe("requested_action")
    return _check(fields.object("check_run"), "" if pressed is None else pressed.text("identifier"))


def check_suite(payload: Any) -> CheckHint:
    return _check(Fields(payload).object("check_suite"))


def hook_events(payload: Any) -> tuple[str, ...]:
    """The events a hook says it sends, for `ping`."""
    hook = Fields(payload).maybe("hook")
    return () if hook is None else hook.texts("events")


def _check(check: Fields, identifier: str = "") -> CheckHint:
    app = check.maybe("app")
    return CheckHint(
        id=check.identity("id"),
        app=0 if app is None else app.identity("id"),
        head=CommitId(check.commit("head_sha")),
        identifier=identifier,
    )


def _moved(commit: str) -> CommitId | None:
    return None if set(commit) == _NO_COMMIT else CommitId(commit)
