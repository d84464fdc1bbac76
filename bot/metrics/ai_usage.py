"""Which AI tools does a commit disclose, and how much of a record is disclosed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from bot.landing.trailers import trailers
from bot.model import AiMark, AiUsage, Commit, Fact, PullRequest

_ADDRESSES = {"noreply@anthropic.com": "Claude Code", "cursoragent@cursor.com": "Cursor", "noreply@openai.com": "Codex"}


def marks(commit: Commit, pull_request: PullRequest | None, notes: str | None = None) -> tuple[AiMark, ...]:
    found = {}
    for key, value in trailers(commit.message):
        email = value.partition("<")[2].rstrip("> ").lower()
        if key.lower() == "co-authored-by" and email in _ADDRESSES:
            found[_ADDRESSES[email]] = AiMark(3, _ADDRESSES[email], f"{key}: {value}")
    return tuple(found.values())


def usage(commits: Iterable[Fact]) -> AiUsage:
    declared = unknown = 0
    tools: Counter[str] = Counter()
    for fact in commits:
        declared, unknown = declared + bool(fact.ai), unknown + (not fact.ai)
        tools.update({mark.tool for mark in fact.ai})
    return AiUsage(declared, 0, unknown, dict(tools.most_common()))
