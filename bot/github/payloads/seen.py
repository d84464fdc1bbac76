"""What does a signed delivery show of reviews, checks and the merge of a pull request? Nothing of it is asked again."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from bot.github.payloads import answers
from bot.github.payloads.fields import Fields
from bot.model import CommitId, Review, Signature, UserId

_CHECKS: dict[str, Literal["passed", "failed"]] = {
    "success": "passed",
    "failure": "failed",
    "timed_out": "failed",
    "startup_failure": "failed",
}
"""conclusions that say something of the code: what was cancelled, skipped or grew stale says nothing"""


class Merge(Struct, frozen=True):
    """A pull request that was merged. `by` and `by_author` are None where GitHub does not say who merged it."""

    head: CommitId
    at: datetime
    by_author: bool | None
    by: Signature | None = None


class Checks(Struct, frozen=True):
    """What the checks of one app concluded of one commit."""

    head: CommitId
    app: int
    state: Literal["passed", "failed"]
    at: datetime


class Seen(Struct, frozen=True):
    """One delivery. `number` and `author` are the pull request's; 0 and None where it is about none."""

    number: int = 0
    author: UserId | None = None
    merge: Merge | None = None
    review: tuple[int, Review] | None = None
    comment: tuple[int, Review] | None = None
    """(id, its author and moment) of a review comment"""
    checks: Checks | None = None


NOTHING = Seen()


def seen(body: bytes) -> Seen:
    """What a body shows; nothing at all where it is not what GitHub documents."""
    try:
        payload = json.loads(body)
        fields = Fields(payload)
        pull = fields.maybe("pull_request")
        found = Seen(checks=_checks(fields)) if pull is None else _of_pull_request(payload, pull)
    except (ValueError, RecursionError):  # a PayloadError is a ValueError
        return NOTHING
    return found


def _of_pull_request(payload: dict[str, Any], pull: Fields) -> Seen:
    user = pull.maybe("user")
    gone = payload.get("action") == "deleted"
    return Seen(
        number=pull.identity("number"),
        author=None if user is None else UserId(user.identity("id")),
        merge=_merge(pull, user),
        review=answers.review(payload["review"]) if payload.get("review") else None,
        comment=_comment(payload["comment"]) if payload.get("comment") and not gone else None,
    )


def _merge(pull: Fields, user: Fields | None) -> Merge | None:
    merged_at = pull.time_or_none("merged_at")
    if merged_at is None or not pull.flag("merged"):  # a review's delivery does not say who merged
        return None
    merger = pull.maybe("merged_by")
    by_author = None if merger is None or user is None else merger.identity("id") == user.identity("id")
    return Merge(CommitId(pull.object("head").commit("sha")), merged_at, by_author, answers.user(merger))


def _comment(comment: Any) -> tuple[int, Review] | None:
    fields = Fields(comment, "comment")
    author, at = answers.user(fields.maybe("user")), fields.time_or_none("created_at")
    return None if author is None or at is None else (fields.identity("id"), Review(author, "commented", at))


def _checks(fields: Fields) -> Checks | None:
    suite = fields.maybe("check_suite")
    if suite is None:
        return None
    state, at, app = _CHECKS.get(suite.text_or("conclusion")), suite.time_or_none("updated_at"), suite.maybe("app")
    if state is None or at is None or app is None:
        return None
    if _is_default(fields, suite):
        return None
    return Checks(CommitId(suite.commit("head_sha")), app.identity("id"), state, at)


def _is_default(fields: Fields, suite: Fields) -> bool:
    """Checks of the default branch are of no pull request's head, unless GitHub names one."""
    repository = fields.maybe("repository")
    branch = "" if repository is None else repository.text_or("default_branch")
    return suite.text_or("head_branch") == branch and not any(True for _ in suite.objects("pull_requests"))
