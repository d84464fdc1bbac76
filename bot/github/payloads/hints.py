"""What does a stored delivery suggest about what happened? Only hints: GitHub's answers prove what landed."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Raw, Struct

from bot.github.payloads import answers
from bot.github.payloads.answers import PullRequestAnswer, RestAccount, RestPullRequest, RestRepository
from bot.github.payloads.reading import PayloadError, decode
from bot.model.commit import Repository
from bot.model.ids import UserId

T = TypeVar("T")


class DeliveryHints(Struct, frozen=True):
    """The hints of one delivery. `repository` has no parent: webhooks do not contain it."""

    repository: Repository | None = None
    pull_request: PullRequestAnswer | None = None
    """None if it is absent or contradicts itself"""
    commits: int = 0
    """the number of commits that a push reports; 0 if it reports none"""
    merged: bool = False
    """the newest commit of a push looks like a merge commit"""
    forced: bool = False
    pusher: UserId | None = None
    """the account that pushed, or whose action did"""


class _Listed(Struct, frozen=True):
    """An element that is only counted."""


class _HeadCommit(Struct, frozen=True):
    message: str | None = None


class _HintsPayload(Struct, frozen=True):
    action: str | None = None
    repository: Raw = Raw()
    pull_request: Raw = Raw()
    ref: str | None = None
    commits: tuple[_Listed, ...] | None = None
    head_commit: _HeadCommit | None = None
    forced: bool | None = None
    sender: Raw = Raw()


NOTHING = DeliveryHints()


def read_hints(body: bytes) -> DeliveryHints:
    """The hints in a body; empty if it differs from what GitHub documents."""
    try:
        payload = decode(body, _HintsPayload)
        newest = payload.head_commit
        return DeliveryHints(
            repository=_repository(payload),
            pull_request=_pull_request(payload),
            commits=len(payload.commits or ()) if payload.ref else 0,
            merged=newest is not None and (newest.message or "").startswith("Merge "),
            forced=bool(payload.forced),
            pusher=_pusher(payload),
        )
    except PayloadError:
        return NOTHING


def _part(part: Raw, kind: type[T]) -> T | None:
    """One part of a payload; None if it is absent or differs from what GitHub documents."""
    try:
        return decode(part, kind)
    except PayloadError:
        return None


def _pusher(payload: _HintsPayload) -> UserId | None:
    row = _part(payload.sender, RestAccount) if payload.ref else None
    return None if row is None or row.id is None else UserId(row.id)


def _repository(payload: _HintsPayload) -> Repository | None:
    row = _part(payload.repository, RestRepository)
    return None if row is None or row.default_branch is None else answers.repository_of(row)


def _pull_request(payload: _HintsPayload) -> PullRequestAnswer | None:
    """Some real bodies say both `closed` and `state: open`, or have a merged pull request without a commit."""
    row = _part(payload.pull_request, RestPullRequest)
    if row is None or row.state != "closed":
        return None
    answer = answers.pull_request_of(row)
    known = answer.pull_request
    if known.closed_at is None or (known.merged_at is not None) != (known.merge_commit is not None):
        return None
    if row.merged is not None or payload.action == "closed":
        return answer if bool(row.merged) == (known.merged_at is not None) else None
    return answer
