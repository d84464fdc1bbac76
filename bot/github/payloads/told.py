"""What does a kept delivery say of what happened? Hints: what landed is proved by what GitHub answers."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from bot.github.payloads import answers
from bot.github.payloads.answers import PullRequestAnswer
from bot.github.payloads.deliveries import action
from bot.github.payloads.fields import Fields, PayloadError
from bot.model import Repository


class Told(Struct, frozen=True):
    """One delivery. `repository` has no parent: webhooks do not tell it."""

    repository: Repository | None = None
    pull_request: PullRequestAnswer | None = None
    """None where it is absent, or contradicts itself"""
    commits: int = 0
    """that a push says it brought; 0 where it does not say"""
    merged: bool = False
    """the newest commit of a push reads like a merge commit"""
    forced: bool = False


NOTHING = Told()


def told(body: bytes) -> Told:
    """What a body says; nothing at all where it is not what GitHub documents."""
    try:
        payload = json.loads(body)
        return Told(
            repository=_repository(payload),
            pull_request=_pull_request(payload),
            commits=_commits(payload),
            merged=_subject(payload).startswith("Merge "),
            forced=Fields(payload).flag("forced"),
        )
    except (ValueError, RecursionError):
        return NOTHING


def _repository(payload: Any) -> Repository | None:
    found = Fields(payload).maybe("repository")
    if found is None or "full_name" not in found or "default_branch" not in found:
        return None
    return answers.repository(payload["repository"])


def _pull_request(payload: Any) -> PullRequestAnswer | None:
    """Bodies have been seen that say `closed` and `state: open`, or that a merged one has no commit."""
    found = Fields(payload).maybe("pull_request")
    if found is None or found.text_or("state") != "closed":
        return None
    try:
        answer = answers.pull_request(payload["pull_request"])
    except PayloadError:
        return None
    known = answer.pull_request
    if known.closed_at is None or (known.merged_at is not None) != (known.merge_commit is not None):
        return None
    if "merged" in found or action(payload) == "closed":
        return answer if found.flag("merged") == (known.merged_at is not None) else None
    return answer


def _commits(payload: Any) -> int:
    if Fields(payload).text_or("ref") == "":
        return 0
    return sum(1 for _ in Fields(payload).objects("commits"))


def _subject(payload: Any) -> str:
    found = Fields(payload).maybe("head_commit")
    return "" if found is None else found.text_or("message")
