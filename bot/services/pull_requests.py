"""How is a pull request stored, from its delivery until its commits are measured?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.model.commit import PullRequest, Share, Signature
from bot.model.ids import CommitId, RepositoryId, UserId
from bot.store import erasure, pulls
from bot.store.pulls import PullRequestRow

LONGEST_BODY = 16_000
"""characters of a body that are stored: attribution and links are at its start or in its last lines"""


def pull_request_to_json(pull_request: PullRequest) -> dict[str, Any]:
    """The parts that measuring reads later, as JSON."""
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
        "opened_at": int(pull_request.opened_at.timestamp()) if pull_request.opened_at else None,
        "author_writes": pull_request.author_writes,
        "shares": [[_signature(one.author), one.commits, one.lines, one.title] for one in pull_request.shares],
        "collaborators": list(pull_request.collaborators),
    }


def pull_request_from_json(
    number: int, head: CommitId, payload: dict[str, Any], *, merged: CommitId | None
) -> PullRequest:
    """The pull request that `pull_request_to_json` wrote."""
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
        opened_at=None if (opened := payload.get("opened_at")) is None else datetime.fromtimestamp(opened, UTC),
        author_writes=payload.get("author_writes", False),
        shares=tuple(Share(_person(who), *rest) for who, *rest in payload.get("shares", ())),
        collaborators=tuple(payload.get("collaborators", ())),
    )


def _signature(sig: Signature | None) -> list[Any] | None:
    return [sig.name, sig.email, sig.user_id, sig.login, sig.bot] if sig else None


def _person(row: list[Any]) -> Signature:
    name, email, user_id, login, bot = row
    return Signature(name, email, UserId(user_id) if user_id is not None else None, login, bot)


def save_pull_request(connection: Connection, row: PullRequestRow) -> bool:
    """Store a pull request; False if it is stored unchanged already."""
    row = replace(row, payload=erasure.pull_request_without_erased(connection, row.payload))
    before = pulls.read(connection, row.repository_id, row.number)
    if before is None or replace(before, read_at=row.read_at, size=row.size) != row:
        pulls.save_pull_request(connection, row)
        return True
    if before.size != row.size and row.size is not None:
        # Facts do not depend on the size, so nothing is measured again.
        pulls.save_pull_request(connection, replace(before, size=row.size))
    return False


def pull_request_row(
    repository: RepositoryId, pull: PullRequest, now: datetime, *, size: int | None = None
) -> PullRequestRow:
    """The row of a pull request; `size` is the number of its own commits."""
    return PullRequestRow(
        repository_id=repository,
        number=pull.number,
        head_id=pull.head_id,
        read_at=now,
        merge_commit=pull.merge_commit if pull.merged_at else None,
        merged_at=pull.merged_at,
        closed_at=pull.closed_at,
        payload=pull_request_to_json(pull),
        size=size or None,
    )


def row_without_erased(connection: Connection, row: pulls.PullRequestRow) -> pulls.PullRequestRow:
    """The pull request as it may be kept."""
    return replace(row, payload=erasure.pull_request_without_erased(connection, row.payload))
