"""How a pull request is kept between the delivery that told of it and the commits it explains."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.model import Commit, CommitId, PullRequest, Review, Signature, UserId

LONGEST_BODY = 16_000
"""characters of a body that are kept: attribution and links stand at its start or in its last lines"""


def kept(pull_request: PullRequest) -> dict[str, Any]:
    """The parts that later measuring reads, as JSON."""
    body = pull_request.body
    if len(body) > LONGEST_BODY:
        body = body[: LONGEST_BODY // 2] + "\n" + body[-LONGEST_BODY // 2 :]
    return {
        "title": pull_request.title,
        "body": body,
        "author": _signature(pull_request.author),
        "base_ref": pull_request.base_ref,
        "head_ref": pull_request.head_ref,
        "labels": sorted(pull_request.labels),
        "commits": [
            [commit.id, _signature(commit.author), commit.message[:LONGEST_BODY]] for commit in pull_request.commits
        ],
        # No measure reads them, and a history of pull requests would cost a page each.
        "reviews": [],
        "checks": pull_request.checks,
        "opened_at": int(pull_request.opened_at.timestamp()) if pull_request.opened_at else None,
    }


def known(number: int, head: CommitId, payload: dict[str, Any], *, merged: CommitId | None) -> PullRequest:
    """The pull request that `kept` wrote."""
    return PullRequest(
        number=number,
        title=payload["title"],
        body=payload["body"],
        author=_person(payload["author"]) if payload["author"] else None,
        base_ref=payload["base_ref"],
        head_ref=payload["head_ref"],
        head_id=head,
        merge_commit=merged,
        labels=tuple(payload["labels"]),
        commits=tuple(_commit(*row) for row in payload["commits"]),
        reviews=tuple(_review(*row) for row in payload["reviews"]),
        checks=payload["checks"],
        opened_at=_moment(payload.get("opened_at")),
    )


def _moment(seconds: int | None) -> datetime | None:
    """None too for what was kept before the time was."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _signature(sig: Signature | None) -> list[Any] | None:
    return [sig.name, sig.email, sig.user_id, sig.login, sig.bot] if sig else None


def _person(row: list[Any]) -> Signature:
    name, email, user_id, login, bot = row
    return Signature(name, email, UserId(user_id) if user_id is not None else None, login, bot)


def _commit(commit_id: str, author: list[Any], message: str) -> Commit:
    start = datetime.fromtimestamp(0, UTC)
    who = _person(author)
    return Commit(CommitId(commit_id), (), who, who, start, start, message)


def _review(author: list[Any], state: Any, seconds: int, comments: int) -> Review:
    return Review(_person(author), state, datetime.fromtimestamp(seconds, UTC), comments)
