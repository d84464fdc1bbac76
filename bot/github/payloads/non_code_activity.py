"""What does a signed delivery show about non-code activity: triaged issues and published releases?"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from bot.github.payloads import answers
from bot.github.payloads.answers import RestAccount
from bot.github.payloads.reading import Identity, PayloadError, decode, moment
from bot.model.commit import Signature

ReleaseState = Literal["release", "prerelease", "gone"]
_DONE = {
    "assigned": "assigned",
    "closed": "closed",
    "labeled": "labelled",
    "milestoned": "milestoned",
    "transferred": "transferred",
}
_PUBLISHED = frozenset({"prereleased", "published", "released"})
_WITHDRAWN = frozenset({"deleted", "unpublished"})


class Triage(Struct, frozen=True):
    """What somebody did to another person's issue. The issue's content is not stored."""

    number: int
    did: str
    by: Signature
    at: datetime


class Release(Struct, frozen=True):
    """A release as GitHub shows it; `by` is its author or, if that is a machine, its publisher."""

    id: int
    tag: str
    state: ReleaseState
    by: Signature | None
    """None for a deleted release: whoever deleted it, it belongs to nobody any more"""
    at: datetime
    """when it was published"""


class _ClosedIssue(Struct, frozen=True):
    number: Identity
    user: RestAccount | None = None
    closed_at: str | None = None
    updated_at: str | None = None


class _Release(Struct, frozen=True):
    id: Identity
    tag_name: str
    author: RestAccount | None = None
    draft: bool | None = None
    prerelease: bool | None = None
    created_at: str | None = None
    published_at: str | None = None


class _NonCodePayload(Struct, frozen=True):
    action: str | None = None
    sender: RestAccount | None = None
    assignee: RestAccount | None = None
    issue: _ClosedIssue | None = None
    release: _Release | None = None


def read_non_code(body: bytes) -> Triage | Release | None:
    """The activity in a body; None if it differs from what GitHub documents, or no person did it."""
    try:
        payload = decode(body, _NonCodePayload)
        if payload.issue is not None:
            return _triage(payload, payload.issue)
        return None if payload.release is None else _release(payload, payload.release)
    except PayloadError:
        return None


def _triage(payload: _NonCodePayload, issue: _ClosedIssue) -> Triage | None:
    by, did = answers.user(payload.sender), _DONE.get(payload.action or "")
    at = (moment(issue.closed_at) if payload.action == "closed" else None) or moment(issue.updated_at)
    if did is None or by is None or by.bot or at is None:
        return None
    if issue.user is not None and issue.user.id == by.user_id:
        return None
    chosen = payload.assignee
    if payload.action == "assigned" and (chosen is None or chosen.id == by.user_id):
        return None  # people who assign an issue to themselves start to work on it
    return Triage(issue.number, did, by, at)


def _release(payload: _NonCodePayload, found: _Release) -> Release | None:
    """A release; None for a draft that was never published."""
    at = moment(found.published_at) or moment(found.created_at)
    authors = (answers.user(found.author), answers.user(payload.sender))
    by = next((one for one in authors if one is not None and not one.bot), None)
    state: ReleaseState = "prerelease" if found.prerelease else "release"
    if payload.action in _WITHDRAWN:
        state = "gone"
    elif payload.action not in _PUBLISHED or found.draft:
        return None
    if at is None or (by is None and state != "gone"):
        return None
    return Release(found.id, found.tag_name, state, None if state == "gone" else by, at)
