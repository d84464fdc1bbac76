"""Which commits of a repository touched which file, and to fix it? The history of files that the scores use.

One row per commit and source file, twelve bytes of numbers: a file's name is stored as a hash. Rows are created and
deleted with their fact, so there are never more than files in the ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Index, Table, select

from bot.metrics.hotspots import History, visits
from bot.model.fact import Fact
from bot.model.ids import RepositoryId
from bot.store.columns import METADATA, WholeNumber

VISIT = Table(
    "visit",
    METADATA,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("file", WholeNumber, primary_key=True, autoincrement=False),
    Column("fact_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("weight", WholeNumber, nullable=False),
    Index(None, "fact_id"),
    sqlite_with_rowid=False,
)

Row = tuple[RepositoryId, int, int, int]
"""(repository, file, when, hundredths of a fix)"""


COLUMNS = ("repository_id", "file", "fact_id", "landed_at", "weight")


def rows_of(fact_id: int, repository_id: RepositoryId, fact: Fact) -> list[tuple[int, ...]]:
    """The rows of one fact, with the table's `COLUMNS`."""
    return [(repository_id, file, fact_id, fact.landed_at, weight) for file, weight in visits(fact)]


def visits_to_same_files(connection: Connection, facts: Any, repositories: Collection[RepositoryId]) -> tuple[Row, ...]:
    """Every visit of the files that these facts (a query of row numbers) visited, inside these repositories."""
    met = select(VISIT.c.repository_id, VISIT.c.file).where(VISIT.c.fact_id.in_(facts)).distinct().subquery()
    same = (VISIT.c.repository_id == met.c.repository_id) & (VISIT.c.file == met.c.file)
    query = select(VISIT.c.repository_id, VISIT.c.file, VISIT.c.landed_at, VISIT.c.weight).join(met, same)
    query = query.where(VISIT.c.repository_id.in_(repositories)).order_by(VISIT.c.landed_at)
    return tuple((RepositoryId(row[0]), row[1], row[2], row[3]) for row in connection.execute(query))


def history_of(rows: Sequence[Row], names: Mapping[RepositoryId, str]) -> History:
    """The history that the scores read; `names` are the repositories' current full names."""
    history = History()
    for repository, file, at, weight in rows:
        if repository in names:
            history.visit(names[repository], file, at=at, weight=weight)
    return history
