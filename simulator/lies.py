"""What may GitHub say that is plausible and false? Short lists, wrong counts, and what a lagging replica shows."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web

from simulator.state import Json

LISTS = ("files", "commits", "check_runs", "repositories", "workflow_runs", "nodes", "edges")
COUNTS = ("changed_files", "commits", "additions", "deletions", "total", "total_count", "total_commits", "comments")
"""the numbers that GitHub states beside a list, or instead of one"""
LAG = timedelta(seconds=30)
"""how far behind a lagging replica is"""
_BORN = ("created_at", "started_at", "submitted_at", "merged_at")
_NOT_FOUND = {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"}


def falsify(kind: str, answer: web.Response, *, now: datetime, chance: random.Random) -> web.Response:
    """The answer with false rows, false counts, or as a lagging replica would give it."""
    if not isinstance(answer.body, bytes) or not answer.body or answer.status != 200:
        return answer
    said = json.loads(answer.body)
    if kind == "lag":
        answered = _as_lagging(said, now - LAG)
        if answered is None:
            return web.json_response(_NOT_FOUND, status=404)
    elif kind == "counts":
        answered = _with_false_counts(said, chance)
    else:
        answered = _rewritten(said, lambda rows: _false_rows(rows, kind))
    if answered == said:
        return answer
    answer.headers.pop("ETag", None)  # GitHub's is a hash of what it sent
    answer.body = json.dumps(answered).encode()
    return answer


def _rewritten(answer: Any, rewrite: Callable[[list[Any]], list[Any]]) -> Any:
    """The answer with other lists: that of an array, or each list of an object, at any depth of a GraphQL answer."""
    if isinstance(answer, list):
        return rewrite(answer)
    if not isinstance(answer, dict):
        return answer
    return {name: _rewritten_field(name, value, rewrite) for name, value in answer.items()}


def _rewritten_field(name: str, value: Any, rewrite: Callable[[list[Any]], list[Any]]) -> Any:
    if isinstance(value, list):
        return rewrite(value) if name in LISTS else value
    return _rewritten(value, rewrite) if isinstance(value, dict) else value


def _false_rows(rows: list[Any], kind: str) -> list[Any]:
    match kind:
        case "short":
            return rows[:-1]
        case "empty":
            return []
        case "repeat":
            return [*rows[:1], *rows]
    nothing = {"additions": 0, "deletions": 0, "changes": 0}
    return [
        {name: row[name] for name in row if name != "patch"} | nothing
        if isinstance(row, dict) and "patch" in row
        else row
        for row in rows
    ]


def _with_false_counts(answer: Any, chance: random.Random) -> Any:
    """One more, one fewer, or nothing, for each count at the top of an answer and in its `stats`."""
    if not isinstance(answer, dict):
        return answer
    wrong = {name: _wrong(value, chance) for name, value in answer.items() if name in COUNTS}
    stats = answer.get("stats")
    if isinstance(stats, dict):
        wrong["stats"] = stats | {name: _wrong(value, chance) for name, value in stats.items() if name in COUNTS}
    return answer | wrong


def _wrong(value: Any, chance: random.Random) -> Any:
    return max(0, chance.choice([value - 1, value + 1, 0])) if isinstance(value, int) else value


def _as_lagging(answer: Any, replica: datetime) -> Any:
    """What a replica at that time shows; None if it does not have the object yet."""
    if isinstance(answer, dict) and answer.get("merged_at") and _moment(answer["merged_at"]) > replica:
        still_open = {"state": "open", "merged": False, "merged_at": None, "merge_commit_sha": None, "closed_at": None}
        return answer | {name: value for name, value in still_open.items() if name in answer}
    if isinstance(answer, dict) and any(moment > replica for moment in _births(answer)):
        return None
    seen = _rewritten(answer, lambda rows: [row for row in rows if not any(m > replica for m in _births(row))])
    if isinstance(seen, dict) and isinstance(seen.get("total_count"), int):
        gone = sum(len(answer[name]) - len(seen[name]) for name in LISTS if isinstance(answer.get(name), list))
        seen["total_count"] -= gone
    return seen


def _births(row: Any) -> Iterator[datetime]:
    """When an object, or the commit that it is, came to be."""
    if not isinstance(row, dict):
        return
    yield from (_moment(row[name]) for name in _BORN if isinstance(row.get(name), str))
    commit = row.get("commit")
    committer: Json = (commit.get("committer") or {}) if isinstance(commit, dict) else {}
    if isinstance(committer.get("date"), str):
        yield _moment(committer["date"])


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
