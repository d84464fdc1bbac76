"""What does a signed delivery show of work beside code: of issues that were sorted, of releases that were published?"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from bot.github.payloads import answers
from bot.github.payloads.fields import Fields
from bot.model import Signature

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
    """What somebody did to an issue of somebody else. Nothing that stands in the issue is kept."""

    number: int
    did: str
    by: Signature
    at: datetime


class Release(Struct, frozen=True):
    """A release as GitHub shows it; `by` is its author, or where that is a machine whoever published it."""

    id: int
    tag: str
    state: ReleaseState
    by: Signature | None
    """None of one that is gone: whoever withdrew it, it is nobody's any more"""
    at: datetime
    """when it was published"""


def shown(body: bytes) -> Triage | Release | None:
    """What a body shows; None where it is not what GitHub documents, or no person did it."""
    try:
        payload = json.loads(body)
        fields = Fields(payload)
        found = _triage(payload, fields) if "issue" in fields else _release(fields)
    except (ValueError, RecursionError):  # a PayloadError is a ValueError
        return None
    return found


def _triage(payload: dict[str, Any], fields: Fields) -> Triage | None:
    issue, action = fields.object("issue"), str(payload.get("action"))
    by, author, did = answers.user(fields.maybe("sender")), issue.maybe("user"), _DONE.get(action)
    at = (issue.time_or_none("closed_at") if action == "closed" else None) or issue.time_or_none("updated_at")
    if did is None or by is None or by.bot or at is None:
        return None
    if author is not None and author.identity("id") == by.user_id:
        return None
    chosen = fields.maybe("assignee")
    if action == "assigned" and (chosen is None or chosen.identity("id") == by.user_id):
        return None  # who takes an issue begins to work on it
    return Triage(issue.identity("number"), did, by, at)


def _release(fields: Fields) -> Release | None:
    """A draft that never was published is none."""
    found, action = fields.object("release"), fields.text_or("action")
    at = found.time_or_none("published_at") or found.time_or_none("created_at")
    authors = (answers.user(found.maybe("author")), answers.user(fields.maybe("sender")))
    by = next((one for one in authors if one is not None and not one.bot), None)
    state: ReleaseState = "prerelease" if found.flag("prerelease") else "release"
    if action in _WITHDRAWN:
        state = "gone"
    elif action not in _PUBLISHED or found.flag("draft"):
        return None
    if at is None or (by is None and state != "gone"):
        return None
    return Release(found.identity("id"), found.text("tag_name"), state, None if state == "gone" else by, at)
