"""What does a signed delivery show about reviews and the merge of a pull request, without further requests?"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from bot.github.payloads import answers
from bot.github.payloads.answers import RestAccount, RestComment, RestReview, Side
from bot.github.payloads.reading import Identity, PayloadError, decode, moment
from bot.model.commit import Review, Signature
from bot.model.ids import CommitId, UserId


class Merge(Struct, frozen=True):
    """A merged pull request. `by` and `by_author` are None if GitHub does not say who merged it."""

    head: CommitId
    at: datetime
    by_author: bool | None
    by: Signature | None = None


class PullRequestSignals(Struct, frozen=True):
    """The signals of one delivery. `number` and `author` are the pull request's; 0 and None without one."""

    number: int = 0
    author: UserId | None = None
    merge: Merge | None = None
    review: tuple[int, Review] | None = None
    comment: tuple[int, Review] | None = None
    """(id, its author and moment) of a review comment"""


class _PullRequest(Struct, frozen=True):
    number: Identity
    head: Side
    user: RestAccount | None = None
    merged: bool | None = None
    merged_by: RestAccount | None = None
    merged_at: str | None = None


class _SignalsPayload(Struct, frozen=True):
    action: str | None = None
    pull_request: _PullRequest | None = None
    review: RestReview | None = None
    comment: RestComment | None = None


NOTHING = PullRequestSignals()


def read_signals(body: bytes) -> PullRequestSignals:
    """The signals in a body; none if it differs from what GitHub documents."""
    try:
        payload = decode(body, _SignalsPayload)
        pull = payload.pull_request
        return NOTHING if pull is None else _of_pull_request(payload, pull)
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
