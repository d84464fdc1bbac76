"""The store's tests run on both databases."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, event, select

from bot.model.commit import Repository, Signature
from bot.model.fact import Fact, Lines, fact_from_json
from bot.model.ids import CommitId, InstallationId, RepositoryId, UserId
from bot.store.engine import Store
from bot.store.installations import Account, save_installation, save_repositories
from bot.store.measurements import MEASUREMENT
from tests.databases import database_url, empty_database_url, store

__all__ = [
    "cancelled_after",
    "connection_beside",
    "database_url",
    "empty_database_url",
    "executed",
    "fact",
    "seed",
    "store",
]

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
ACME, OTHER = InstallationId(1), InstallationId(2)
APP, FORK, FOREIGN = RepositoryId(10), RepositoryId(11), RepositoryId(20)
NAMES = {APP: "acme/app", FORK: "acme/fork", FOREIGN: "other/app"}
ADA = Signature("Ada Example", "7+ada@users.noreply.github.com", UserId(7), "ada")
BEA = Signature("Bea Example", "bea@example.org")


def fact(number: int, repository: RepositoryId = APP, **values: object) -> Fact:
    """A fact of 3 lines, landed a minute after the one before."""
    commit = CommitId(hashlib.sha1(b"%d" % number, usedforsecurity=False).hexdigest())
    given: dict[str, object] = {
        "repository": NAMES[repository],
        "commit": commit,
        "landed_at": 1_900_000_000 + 60 * number,
        "authored_at": 1_900_000_000,
        "author": ADA,
        "committer": ADA,
        "title": f"Add part {number}",
        "how": "push",
        "merge_commit": commit,
        "lines": Lines(authored=2, tests=1),
        **values,
    }
    return Fact(**given)  # type: ignore[arg-type]  # the names are the fields


async def seed(store: Store) -> None:
    """Two installations: one with a repository and its fork, one with a repository of its own."""
    with store.transaction() as connection:
        for installation, account in ((ACME, Account(100, "acme")), (OTHER, Account(200, "other"))):
            save_installation(connection, installation, account, app_id="7", now=NOW)
        mine = [Repository(NAMES[APP], APP), Repository(NAMES[FORK], FORK, fork=True, parent=NAMES[APP])]
        save_repositories(connection, ACME, mine, NOW)
        save_repositories(connection, OTHER, [Repository(NAMES[FOREIGN], FOREIGN, private=True)], NOW)


@contextlib.contextmanager
def executed() -> Iterator[list[str]]:
    """The statements that any connection is given within the block."""
    found: list[str] = []

    def note(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        found.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def cancelled_after(turns: int, work: Coroutine[Any, Any, Any]) -> Any:
    """What the work came to when it was cancelled after so many turns of the event loop: its result, or its error."""
    task = asyncio.create_task(work)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    (ended,) = await asyncio.gather(task, return_exceptions=True)
    return ended


def connection_beside(connection: Connection) -> dict[int, list[Fact]]:
    """Facts that are measured but not in use yet, by version; oldest landing first."""
    found: dict[int, list[Fact]] = {}
    for row in connection.execute(select(MEASUREMENT.c.method, MEASUREMENT.c.payload)):
        found.setdefault(row.method, []).append(fact_from_json(row.payload))
    return {version: sorted(facts, key=lambda fact: fact.landed_at) for version, facts in found.items()}
