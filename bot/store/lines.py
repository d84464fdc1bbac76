"""Whose lines did each landed commit replace? Hashes come with the facts; what follows from them is derived when read.

The derived rows of a repository are brought up to date before somebody reads them, so that a landing writes one row. A
fact that is deleted, or that landed before what is derived already, makes them be derived again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Connection, Index, LargeBinary, Table, column, delete, func, insert, select
from sqlalchemy import table as table_named

from bot.metrics.replaced_lines import (
    Fates,
    HashedCommit,
    Mark,
    Stack,
    StandingLines,
    attribute_lines,
    pack_stack,
    unpack_stack,
)
from bot.model.fact import Fact
from bot.model.ids import RepositoryId
from bot.store.columns import METADATA, WholeNumber
from bot.store.dialect import STREAMED, among, lock_row
from bot.store.engine import Store
from bot.store.installations import REPOSITORY

_FACT = table_named("fact", column("id"), column("commit_id"))
"""the ledger's table, whose module uses this one"""
LINE_HASH = Table(
    "line_hash",
    METADATA,
    Column("fact_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("repository_id", WholeNumber, nullable=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("hashes", LargeBinary, nullable=False),
    Index(None, "repository_id", "landed_at"),
)
STANDING_LINES = Table(
    "standing_lines",
    METADATA,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("file", WholeNumber, primary_key=True, autoincrement=False),
    Column("stack", LargeBinary, nullable=False),
)
ADDED_LINES = Table(
    "added_lines",
    METADATA,
    Column("fact_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("repository_id", WholeNumber, nullable=False),
    Column("lines", WholeNumber, nullable=False),
    Index(None, "repository_id"),
)
LINE_LOSS = Table(
    "line_loss",
    METADATA,
    Column("owner", WholeNumber, primary_key=True, autoincrement=False),
    Column("later", WholeNumber, primary_key=True, autoincrement=False),
    Column("repository_id", WholeNumber, nullable=False),
    Column("replaced", WholeNumber, nullable=False),
    Column("dropped", WholeNumber, nullable=False),
    Index(None, "repository_id"),
)
LINE_MARK = Table(
    "line_mark",
    METADATA,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("last_fact", WholeNumber, nullable=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("commits", WholeNumber, nullable=False),
)
COLUMNS = ("fact_id", "repository_id", "landed_at", "hashes")
_DERIVED = (STANDING_LINES, ADDED_LINES, LINE_LOSS, LINE_MARK)


def hash_rows(facts: Mapping[int, Fact], repository: RepositoryId) -> list[tuple[Any, ...]]:
    """The rows of new facts that touch source lines, with the table's `COLUMNS`."""
    return [(number, repository, one.landed_at, one.line_hashes) for number, one in facts.items() if one.line_hashes]


async def bring_up_to_date(store: Store, repositories: Collection[RepositoryId]) -> None:
    """Derive what is missing of these repositories."""
    behind = await store.read(repositories_behind, repositories)
    if behind:
        await store.write(attribute, behind)


def repositories_behind(connection: Connection, repositories: Collection[RepositoryId]) -> list[RepositoryId]:
    """Of these repositories those whose derived rows lack a commit."""
    hashed = select(LINE_HASH.c.repository_id, func.count().label("commits")).group_by(LINE_HASH.c.repository_id)
    counted = hashed.where(LINE_HASH.c.repository_id.in_(repositories)).subquery()
    query = select(counted.c.repository_id).outerjoin(LINE_MARK, LINE_MARK.c.repository_id == counted.c.repository_id)
    behind = query.where(func.coalesce(LINE_MARK.c.commits, 0) != counted.c.commits)
    return [RepositoryId(row[0]) for row in connection.execute(behind.order_by(counted.c.repository_id))]


def attribute(connection: Connection, repositories: Iterable[RepositoryId]) -> None:
    """Bring the derived rows of these repositories up to date."""
    for repository in sorted(repositories):
        lock_row(connection, REPOSITORY, repository)
        attribute_lines(_StoredLines(connection, repository))


class _StoredLines(Struct, frozen=True):
    """The rows of one repository, as the attribution reads and writes them."""

    connection: Connection
    repository: RepositoryId

    def mark(self) -> Mark:
        query = select(LINE_MARK).where(LINE_MARK.c.repository_id == self.repository)
        row = self.connection.execute(query).first()
        return Mark() if row is None else Mark(row.last_fact, row.landed_at, row.commits)

    def count(self) -> int:
        query = select(func.count()).where(LINE_HASH.c.repository_id == self.repository)
        return int(self.connection.execute(query).scalar_one())

    def commits(self, after: int) -> list[HashedCommit]:
        one = LINE_HASH.c
        query = (
            select(one.fact_id, one.landed_at, one.hashes)
            .join_from(LINE_HASH, _FACT, _FACT.c.id == one.fact_id)
            .where(one.repository_id == self.repository, one.fact_id > after)
            # Row numbers say in which order facts came, so a tie is decided by what every record has.
            .order_by(one.landed_at, _FACT.c.commit_id)
        )
        rows = self.connection.execute(query.execution_options(yield_per=STREAMED))
        return [HashedCommit(*row) for row in rows]

    def forget(self) -> None:
        for table in _DERIVED:
            self.connection.execute(delete(table).where(table.c.repository_id == self.repository))

    def stacks(self, files: Collection[int]) -> dict[int, Stack]:
        mine = STANDING_LINES.c.repository_id == self.repository
        found: dict[int, Stack] = {}
        for these in among(STANDING_LINES.c.file, sorted(files)):
            query = select(STANDING_LINES.c.file, STANDING_LINES.c.stack).where(mine, these)
            found |= {row.file: unpack_stack(row.stack) for row in self.connection.execute(query)}
        return found

    def save(self, standing: StandingLines, fates: Fates, mark: Mark) -> None:
        mine = {"repository_id": self.repository}
        touched = sorted(standing.touched)
        for these in among(STANDING_LINES.c.file, touched):
            where = STANDING_LINES.c.repository_id == self.repository
            self.connection.execute(delete(STANDING_LINES).where(where, these))
        self.connection.execute(delete(LINE_MARK).where(LINE_MARK.c.repository_id == self.repository))
        rows: list[tuple[Table, list[dict[str, Any]]]] = [
            (
                STANDING_LINES,
                [
                    mine | {"file": file, "stack": pack_stack(stack)}
                    for file in touched
                    if (stack := standing.files.get(file))
                ],
            ),
            (
                ADDED_LINES,
                [mine | {"fact_id": number, "lines": lines} for number, lines in sorted(fates.added.items())],
            ),
            (LINE_LOSS, [mine | one._asdict() | {"later": one.by} for one in fates.losses()]),
            (LINE_MARK, [mine | mark._asdict()]),
        ]
        for table, values in rows:
            kept = [{one.name: value[one.name] for one in table.columns} for value in values]
            if kept:
                self.connection.execute(insert(table), kept)
