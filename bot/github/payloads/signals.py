"""What does a signed delivery show about reviews, checks and the merge of a pull request, without further requests?"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from bot.github.payloads import answers
from bot.github.payloads.answers import RestAccount, RestComment, RestReview, Side
from bot.github.payloads.reading import FullCommit, Identity, Known, PayloadError, decode, moment
from bot.model.commit import Review, Signature
from bot.model.ids import CommitId, UserId

_CHECKS: dict[str, Literal["passed", "failed"]] = {
    "success": "passed",
    "failure": "failed",
    "timed_out": "failed",
    "startup_failure": "failed",
}
"""conclusions about the code: cancelled, skipped or stale checks conclude nothing"""


class Merge(Struct, frozen=True):
    """A merged pull request. `by` and `by_author` are None if GitHub does not say who merged it."""

    head: CommitId
    at: datetime
    by_author: bool | None
    by: Signature | None = None


class Checks(Struct, frozen=True):
    """The conclusion of one app's checks of one commit."""

    head: CommitId
    app: int
    state: Literal["passed", "failed"]
    at: datetime


class PullRequestSignals(Struct, frozen=True):
    """The signals of one delivery. `number` and `author` are the pull request's; 0 and None without one."""

    number: int = 0
    author: UserId | None = None
    merge: Merge | None = None
    review: tuple[int, Review] | None = None
    comment: tuple[int, Review] | None = None
    """(id, its author and moment) of a review comment"""
    checks: Checks | None = None


class _PullRequest(Struct, frozen=True):
    number: Identity
    head: Side
    user: RestAccount | None = None
    merged: bool | None = None
    merged_by: RestAccount | None = None
    merged_at: str | None = None


class _Suite(Struct, frozen=True):
    head_sha: FullCommit
    conclusion: str | None = None
    updated_at: str | None = None
    app: Known | None = None
    head_branch: str | None = None
    pull_requests: tuple[Known, ...] | None = None


class _BaseRepository(Struct, frozen=True):
    default_branch: str | None = None


class _SignalsPayload(Struct, frozen=True):
    action: str | None = None
    pull_request: _PullRequest | None = None
    review: RestReview | None = None
    comment: RestComment | None = None
    check_suite: _Suite | None = None
    repository: _BaseRepository | None = None


NOTHING = PullRequestSignals()


def read_signals(body: bytes) -> PullRequestSignals:
    """The signals in a body; none if it differs from what GitHub documents."""
    try:
        payload = decode(body, _SignalsPayload)
        pull = payload.pull_request
        return PullRequestSignals(checks=_checks(payload)) if pull is None else _of_pull_request(payload, pull)
    except PayloadError:
        return NOTHING


def _of_pull_request(payload: _SignalsPayload, pull: _PullRequest) -> PullRequestSignals:
    return PullRequestSignals(
        number=pull.number,
        author=None if pull.user is None else pull.user.id,
        merge=_merge(pull),
        review=None if payload.review is None else answers.review_of(payload.review),
        comment=None if payload.comment is None or payload.action == "deleted" else _comment(payload.comment),
    )


def _merge(pull: _PullRequest) -> Merge | None:
    merged_at, merger, author = moment(pull.merged_at), answers.user(pull.merged_by), pull.user
    if merged_at is None or not pull.merged:  # a review's delivery does not say who merged
        return None
    by_author = None if merger is None or author is None else merger.user_id == author.id
    return Merge(pull.head.sha, merged_at, by_author, merger)


def _comment(comment: RestComment) -> tuple[int, Review] | None:
    author, at = answers.user(comment.user), moment(comment.created_at)
    return None if author is None or at is None else (comment.id, Review(author, "commented", at))


def _checks(payload: _SignalsPayload) -> Checks | None:
    suite = payload.check_suite
    if suite is None:
        return None
    state, at = _CHECKS.get(suite.conclusion or ""), moment(suite.updated_at)
    if state is None or at is None or suite.app is None or _is_default(payload, suite):
        return None
    return Checks(suite.head_sha, suite.app.id, state, at)


def _is_default(payload: _SignalsPayload, suite: _Suite) -> bool:
    """Checks of the default branch do not belong to a pull request's head, unless GitHub names one."""
    branch = payload.repository.default_branch if payload.repository else None
    return (suite.head_branch or "") == (branch or "") and not suite.pull_requests
