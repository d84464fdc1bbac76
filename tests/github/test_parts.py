"""Are the parts of a squash believed only from lists that agree with their own counts?"""

from __future__ import annotations

from typing import Any

from bot.github.payloads.own_commits import Parts, parts
from bot.model.ids import RepositoryId


def commit(number: int) -> dict[str, Any]:
    author = {"name": "Ada", "email": "ada@example.org", "user": {"databaseId": 7, "login": "ada"}}
    own = {"oid": f"{number:040x}", "message": "Add", "author": author, "additions": 3, "deletions": 1}
    return {"commit": own | {"parents": {"totalCount": 1}}}


def read(numbers: list[int], *, of: int, collaborators: int = 1) -> Parts | None:
    edges = [{"permission": "WRITE", "node": {"databaseId": 7}}]
    repository = {
        "databaseId": 1,
        "collaborators": {"totalCount": collaborators, "edges": edges},
        "pullRequest": {"commits": {"totalCount": of, "nodes": [commit(one) for one in numbers]}},
    }
    return parts({"repository": repository}, RepositoryId(1))


def test_a_repeated_row_is_one_commit() -> None:
    found = read([1, 1, 2], of=2)
    assert found is not None
    assert found.complete
    assert [(share.commits, share.lines) for share in found.shares] == [(2, 8)]


def test_lists_shorter_than_their_counts_are_incomplete() -> None:
    for found in (read([1], of=2), read([], of=2), read([1, 1], of=2), read([1], of=1, collaborators=2)):
        assert found is not None
        assert not found.complete


def test_a_hundred_of_many_are_all_that_an_answer_shows() -> None:
    found = read(list(range(1, 101)), of=250)
    assert found is not None
    assert found.complete
    assert not found.shares
