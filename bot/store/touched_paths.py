"""Which files did every landing of a repository touch? Read in chunks, for the totals of its parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Text, func, select, type_coerce

from bot.model.ids import RepositoryId
from bot.narrative.part_totals import TouchedPaths, change_identity
from bot.store.ledger import FACT

AT_ONCE = 2_000
"""facts in one chunk"""


class LedgerEnd(NamedTuple):
    """How many facts of a repository there are, and the number of the newest."""

    facts: int = 0
    last: int = 0


class PathRow(NamedTuple):
    """One stored fact, still to be parsed."""

    id: int
    commit: str
    landed_at: int
    pull_request: int | None
    text: str


class _Paths(Struct):
    """What is read of a fact."""

    paths: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()


def ledger_ends(connection: Connection, repositories: Collection[RepositoryId]) -> dict[RepositoryId, LedgerEnd]:
    """Where the facts of each of these repositories end."""
    query = select(FACT.c.repository_id, func.count(), func.max(FACT.c.id)).group_by(FACT.c.repository_id)
    rows = connection.execute(query.where(FACT.c.repository_id.in_(repositories)))
    return {RepositoryId(number): LedgerEnd(count, last) for number, count, last in rows}


def path_rows(connection: Connection, repository: RepositoryId, after: int) -> list[PathRow]:
    """The next facts of the repository after row number `after`."""
    payload = type_coerce(FACT.c.payload, Text)
    query = select(FACT.c.id, FACT.c.commit_id, FACT.c.landed_at, FACT.c.pull_request, payload)
    query = query.where(FACT.c.repository_id == repository, FACT.c.id > after).order_by(FACT.c.id).limit(AT_ONCE)
    return [PathRow(*row) for row in connection.execute(query)]


def touched_paths(full_name: str, rows: Iterable[PathRow]) -> list[TouchedPaths]:
    """What these facts touched; reverts and commits without source files are left out."""
    parsed = ((row, msgspec.json.decode(row.text, type=_Paths)) for row in rows)
    return [
        TouchedPaths(change_identity(full_name, row.commit, row.pull_request), row.landed_at, found.paths)
        for row, found in parsed
        if found.paths and not found.reverts
    ]
