"""Every landed change as one plain row: what it is, who made it, which item it belongs to, and how it scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.landing.identity.credit import People, person_key
from bot.metrics.hotspots import FileHistory
from bot.metrics.items import group, item_id
from bot.metrics.quality import known_since, scores_of
from bot.metrics.scores import NOTHING
from bot.metrics.totals import delivery_month
from bot.model.change import Change
from bot.model.ids import STATED, ChangeId, Month, PersonKey


class ListedChange(Struct, frozen=True):
    """`keys` are the people who authored it; `values` is the JSON object."""

    keys: frozenset[PersonKey]
    values: dict[str, Any]


def _item_ids(changes: Sequence[Change], zone: ZoneInfo) -> dict[ChangeId, str]:
    """The item of each change among its first author's changes of the month."""
    months: dict[tuple[PersonKey, Month], list[Change]] = defaultdict(list)
    for change in changes:
        author = _author(change)
        month = delivery_month(change, (author,), zone) if author else None
        if author and month:
            months[author, month].append(change)
    return {
        change: item_id(tuple(sorted(item.changes)))
        for found in months.values()
        for item in group(found)
        for change in item.changes
    }


def _author(change: Change) -> PersonKey | None:
    commits = change.counted or change.commits
    return person_key(commits[0].fact.author) if commits else None


def _languages(change: Change) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for commit in change.counted:
        for name, lines in commit.fact.languages.items():
            total[name] += lines
    return dict(sorted(total.items(), key=lambda one: (-one[1], one[0])))


def _scores(change: Change, history: FileHistory, now: int | None) -> dict[str, Any]:
    known = NOTHING if now is None else known_since(change, history, now)
    return {
        name: {
            "score": score.score,
            "evidence": [{"signal": row.signal, "effect": row.effect} for row in score.evidence],
        }
        for name, score in scores_of(change, history, frozen=now is None, known=known).items()
    }


def listed_changes(
    changes: Sequence[Change], people: People, zone: ZoneInfo, *, history: FileHistory, now: int | None
) -> Iterator[ListedChange]:
    """The rows, oldest landing first. `now` None: states and scores as at the landing, with no later knowledge."""
    items = _item_ids(changes, zone)
    for change in changes:
        commits = change.counted or change.commits
        first = commits[0].fact
        person = people.person(first.author)
        yield ListedChange(
            frozenset(person_key(commit.fact.author) for commit in commits),
            {
                "id": change.id,
                "commits": [commit.fact.commit for commit in commits],
                "repository": change.repository,
                "landed_at": datetime.fromtimestamp(change.landed_at, UTC).isoformat().replace("+00:00", "Z"),
                "author": person.display,
                "author_email": first.author.email,
                "title": change.title,
                "kind": change.kind,
                "why": change.why,
                "certain": change.certain,
                "probability": change.probability / STATED,
                "lines": change.lines.as_dict(),
                "languages": _languages(change),
                "item": items.get(change.id),
                "state": "landed" if now is None else change.state,
                "also_in": list(change.also_in),
                "scores": _scores(change, history, now),
            },
        )
