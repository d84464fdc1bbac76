"""How many statements and rows do plans need? Counted from outside: the bot knows nothing of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.store import dialect


@dataclass
class Cost:
    """The cost of plans: statements, rows written and read, statements awaited, and characters read."""

    statements: int = 0
    rows: int = 0
    read: int = 0

    def clear(self) -> None:
        self.statements = self.rows = self.read = 0


@contextlib.contextmanager
def counted() -> Iterator[Cost]:
    """The cost of the statements that are given as text, as those of a landing are, until the block ends."""
    cost, cursor_of = Cost(), dialect.cursor_of
    dialect.cursor_of = lambda connection: _CountingCursor(cursor_of(connection), cost)
    try:
        yield cost
    finally:
        dialect.cursor_of = cursor_of


class _CountingCursor:
    def __init__(self, cursor: Any, cost: Cost) -> None:
        self._cursor, self._cost = cursor, cost

    def execute(self, sql: str, values: Sequence[Any]) -> _CountingCursor:
        self._cost.statements += 1
        self._cursor.execute(sql, values)
        return self

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._cost.statements += 1
        self._cost.rows += len(rows)
        self._cursor.executemany(sql, rows)

    def fetchall(self) -> list[Any]:
        rows: list[Any] = self._cursor.fetchall()
        self._cost.rows += len(rows)
        self._cost.read += len(str(rows))
        return rows
