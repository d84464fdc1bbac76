"""What does a delivery point at? Ids and guards only: a payload is a hint, and the worker reads the rest anew.

`Told` is all of it that is looked at, and its shape is checked; of what is left out, most of a large delivery, only the
grammar and the limits of `json_limits` are checked, and no object is made.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Annotated, Any, NotRequired, get_args

import simdjson
from msgspec import Struct
from pydantic import Field, TypeAdapter

# Before Python 3.12 pydantic cannot read the TypedDict of typing.
from typing_extensions import TypedDict, get_type_hints, is_typeddict

from bot.github.payloads.fields import whole
from bot.github.payloads.json_limits import may_be_deep, read_within_limits
from bot.model import CommitId, InstallationId, RepositoryId, UserId

_NO_COMMIT = frozenset("0")
_ABSENT = object()
_NESTED = (simdjson.Object, simdjson.Array)
_USUAL = 1024 * 1024
"""bytes of a body that is read with the memory of the one before"""
_FEW = 20
"""fields of an object that are gone through"""

Wanted = dict[str, "Wanted"]
"""the names that are looked at in an object, and in the objects within it"""
Identity = Annotated[int, Field(gt=0, lt=2**63)]
FullCommit = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]


class Known(TypedDict):
    """Anything of which the id is enough."""

    id: Identity


class RepositoryTold(Known):
    default_branch: NotRequired[str | None]


class UserTold(Known):
    login: str
    type: NotRequired[str | None]


class PullRequestTold(TypedDict):
    number: Identity
    state: NotRequired[str | None]
    merged: NotRequired[bool | None]


class IssueTold(TypedDict):
    number: Identity
    user: NotRequired[Known | None]


class CommentTold(Known):
    body: NotRequired[str | None]
    performed_via_github_app: NotRequired[Known | None]


class CheckTold(Known):
    head_sha: FullCommit
    app: NotRequired[Known | None]


class ButtonTold(TypedDict):
    identifier: str


class HookTold(TypedDict):
    events: NotRequired[list[str] | None]


class Told(TypedDict, total=False):
    """What is read of a delivery, of whichever event; https://docs.github.com/en/webhooks/webhook-events-and-payloads"""

    action: str | None
    installation: Known | None
    repository: RepositoryTold | None
    sender: UserTold | None
    pull_request: PullRequestTold
    issue: IssueTold
    comment: CommentTold
    check_run: CheckTold
    check_suite: CheckTold
    requested_action: ButtonTold | None
    hook: HookTold | None
    ref: str
    before: FullCommit
    after: FullCommit


class Origin(Struct, frozen=True):
    """What a delivery is filed under; None and empty where it names none."""

    action: str
    installation: InstallationId | None
    repository: RepositoryId | None


class Place(Struct, frozen=True):
    """Where something happened: which installation may act, in which repository."""

    installation: InstallationId
    repository: RepositoryId


class Sender(Struct, frozen=True):
    """Who caused a delivery."""

    id: UserId
    login: str
    bot: bool


class Push(Struct, frozen=True):
    """A branch that moved. `before` is None where the branch was created, `after` where it was deleted."""

    before: CommitId | None
    after: CommitId | None
    on_default_branch: bool


class CommentHint(Struct, frozen=True):
    """A comment as the delivery shows it; `asks` where an unquoted line of it starts with the command word."""

    number: int
    comment: int
    asks: bool
    body: str


class CheckHint(Struct, frozen=True):
    """A check run or suite a delivery tells of. `app` is the app it belongs to."""

    id: int
    app: int
    head: CommitId
    identifier: str = ""
    """the button pressed, for `requested_action`"""


def read(body: bytes) -> Told:
    """What a body tells. Raises ValueError where it is not what GitHub documents, read or not."""
    return _shape().validate_python(_told(body), strict=True)


def _told(body: bytes) -> Any:
    """The fields that are looked at, of whatever types; ValueError where it is no JSON, or beyond the limits.

    Half of a surrogate pair is JSON and nothing that simdjson reads.
    """
    if not may_be_deep(body):
        with contextlib.suppress(ValueError, RuntimeError):
            parser = _parser() if len(body) <= _USUAL else simdjson.Parser()
            return _picked(parser.parse(body), _looked_at(Told))
    return _mended(read_within_limits(body))


def _picked(value: object, wanted: Wanted) -> object:
    """Of an object the `wanted` fields, of a list everything; a scalar is itself."""
    if not isinstance(value, simdjson.Object):
        return value.as_list() if isinstance(value, simdjson.Array) else value
    found = {}
    # Asking for what is absent takes as long as going through forty names.
    for name in value if len(value) < _FEW else wanted:
        if name in wanted and (inner := value.get(name, _ABSENT)) is not _ABSENT:
            found[name] = _picked(inner, wanted[name]) if type(inner) in _NESTED else inner
    return found


def _mended(value: object) -> object:
    """The same with a mark for each half of a surrogate pair."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {name: _mended(inner) for name, inner in value.items()}
    return [_mended(inner) for inner in value] if isinstance(value, list) else value


@functools.cache
def _parser() -> simdjson.Parser:
    """One for all, as it keeps its memory: to ask for it anew takes longer than to parse."""
    return simdjson.Parser()


@functools.cache
def _looked_at(kind: type) -> Wanted:
    """The names in a dictionary of that type, with those in each that is within it."""
    return {name: _looked_at_within(hint) for name, hint in get_type_hints(kind).items()}


def _looked_at_within(hint: Any) -> Wanted:
    inner = next((one for one in (hint, *get_args(hint)) if is_typeddict(one)), None)
    return {} if inner is None else _looked_at(inner)


@functools.cache
def _shape() -> TypeAdapter[Told]:
    return TypeAdapter(Told)


def origin(told: Told) -> Origin:
    """What to file a delivery under; a repository's own webhook has no installation."""
    repository = told.get("repository")
    return Origin(action(told), installation_id(told), None if repository is None else RepositoryId(repository["id"]))


def installation_id(told: Told) -> InstallationId | None:
    installation = told.get("installation")
    return None if installation is None else InstallationId(installation["id"])


def place(told: Told) -> Place | None:
    """Where it happened; None where no installation of ours may act there."""
    installation, repository = told.get("installation"), told.get("repository")
    if installation is None or repository is None:
        return None
    return Place(InstallationId(installation["id"]), RepositoryId(repository["id"]))


def action(told: Told) -> str:
    return told.get("action") or ""


def sender(told: Told) -> Sender | None:
    """Who caused it; None for a ghost."""
    user = told.get("sender")
    return None if user is None else Sender(UserId(user["id"]), user["login"], user.get("type") == "Bot")


def pull_request_number(told: Told) -> int:
    return told["pull_request"]["number"]


def pull_request_is_closed(told: Told) -> bool:
    return told["pull_request"].get("state") == "closed"


def pull_request_is_merged(told: Told) -> bool:
    return action(told) == "closed" and told["pull_request"].get("merged") is True


def issue_author(told: Told) -> UserId | None:
    """Who opened an issue; None for a ghost."""
    user = told["issue"].get("user")
    return None if user is None else UserId(user["id"])


def push(told: Told) -> Push:
    """What moved. The default branch is the payload's own word, as it was at the time of the push."""
    repository = told.get("repository")
    branch = None if repository is None else repository.get("default_branch")
    if branch is None:
        raise KeyError("default_branch")
    return Push(
        before=_moved(told["before"]),
        after=_moved(told["after"]),
        on_default_branch=told["ref"] == f"refs/heads/{branch}",
    )


def comment(told: Told, command: str) -> CommentHint:
    """A comment on an issue or pull request."""
    found = told["comment"]
    body = found.get("body") or ""
    asks = any(line == command or line.startswith(f"{command} ") for line in body.splitlines())
    return CommentHint(told["issue"]["number"], found["id"], asks, body)


def comment_app(told: Told) -> int | None:
    """The App through which a comment was written, if any."""
    app = told["comment"].get("performed_via_github_app") if "comment" in told else None
    return None if app is None else app["id"]


def check_run(told: Told) -> CheckHint:
    pressed = told.get("requested_action")
    return _check(told["check_run"], "" if pressed is None else pressed["identifier"])


def check_suite(told: Told) -> CheckHint:
    return _check(told["check_suite"])


def hook_events(told: Told) -> tuple[str, ...]:
    """The events a hook says it sends, for `ping`."""
    hook = told.get("hook")
    return () if hook is None else tuple(hook.get("events") or ())


def _check(check: CheckTold, identifier: str = "") -> CheckHint:
    app = check.get("app")
    return CheckHint(check["id"], 0 if app is None else app["id"], CommitId(check["head_sha"]), identifier)


def _moved(commit: str) -> CommitId | None:
    return None if set(commit) == _NO_COMMIT else CommitId(commit)
