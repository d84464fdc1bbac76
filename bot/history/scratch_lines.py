"""Whose lines did each commit of a set of clones replace? Attributed once, and kept beside the facts."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from bot.metrics.line_fates import LineLoss, LineRecord
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
from bot.model.ids import CommitId

_COMMITS = """
select id, landed_at, line_hashes from fact where repository = ? and id > ? and length(line_hashes)
  order by landed_at, commit_id
"""
_SAVE = "insert or replace into standing_lines values (?, ?, ?)"
_LOSSES = """
select owner.repository, owner.commit_id, later.repository, later.commit_id, replaced, dropped from line_loss
  join fact owner on owner.id = line_loss.owner join fact later on later.id = line_loss.later
"""
_ADDED = "select repository, commit_id, lines from added_lines join fact on fact.id = added_lines.fact"


def attribute_all(db: sqlite3.Connection) -> None:
    """Attribute the lines of every fact that was added since the last time."""
    for (repository,) in db.execute("select distinct repository from fact").fetchall():
        attribute_lines(_ScratchLines(db, repository))


def line_record(db: sqlite3.Connection) -> LineRecord:
    """What the patches show, by commit."""
    return LineRecord.of(
        (((repository, CommitId(commit)), lines) for repository, commit, lines in db.execute(_ADDED)),
        (
            LineLoss((where, CommitId(owner)), (there, CommitId(later)), replaced, dropped)
            for where, owner, there, later, replaced, dropped in db.execute(_LOSSES)
        ),
    )


class _ScratchLines:
    """The rows of one repository, as the attribution reads and writes them."""

    def __init__(self, db: sqlite3.Connection, repository: str) -> None:
        self._db, self._repository = db, repository

    def mark(self) -> Mark:
        query = "select last_fact, landed_at, commits from attributed where repository = ?"
        row = self._db.execute(query, (self._repository,)).fetchone()
        return Mark(*row) if row else Mark()

    def count(self) -> int:
        query = "select count(*) from fact where repository = ? and length(line_hashes)"
        return int(self._db.execute(query, (self._repository,)).fetchone()[0])

    def commits(self, after: int) -> list[HashedCommit]:
        return list(map(HashedCommit._make, self._db.execute(_COMMITS, (self._repository, after))))

    def forget(self) -> None:
        mine = "(select id from fact where repository = ?)"
        for table, column in (("added_lines", "fact"), ("line_loss", "later")):
            self._db.execute(f"delete from {table} where {column} in {mine}", (self._repository,))  # noqa: S608 (constants)
        self._db.execute("delete from standing_lines where repository = ?", (self._repository,))

    def stacks(self, files: Collection[int]) -> dict[int, Stack]:
        query = "select stack from standing_lines where repository = ? and file = ?"
        found = ((file, self._db.execute(query, (self._repository, file)).fetchone()) for file in sorted(files))
        return {file: unpack_stack(row[0]) for file, row in found if row is not None}

    def save(self, standing: StandingLines, fates: Fates, mark: Mark) -> None:
        for file in sorted(standing.touched):
            if stack := standing.files.get(file):
                self._db.execute(_SAVE, (self._repository, file, pack_stack(stack)))
            else:
                query = "delete from standing_lines where repository = ? and file = ?"
                self._db.execute(query, (self._repository, file))
        self._db.executemany("insert into added_lines values (?, ?)", sorted(fates.added.items()))
        self._db.executemany("insert into line_loss values (?, ?, ?, ?)", fates.losses())
        self._db.execute("insert or replace into attributed values (?, ?, ?, ?)", (self._repository, *mark))
