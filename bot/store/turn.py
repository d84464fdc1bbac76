"""How do many statements take one turn of the database? A plan yields them, and goes on with the rows they give.

SQLite's driver answers from a thread of its own: handing each statement over and back costs ten times the statement.
There the whole plan runs in that thread; on PostgreSQL each statement is awaited. The plans are the same.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

Answer = TypeVar("Answer")
Rows = list[tuple[Any, ...]]


class Ask(NamedTuple):
    """One statement; `?` stands for a value."""

    sql: str
    values: Sequence[Any] = ()


class Tell(NamedTuple):
    """One statement for many rows, which gives none back."""

    sql: str
    rows: Sequence[Sequence[Any]]


Plan = Generator[Ask | Tell, Rows, Answer]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one of the two databases wants lists of values."""

    dialect: str

    @property
    def is_postgresql(self) -> bool:
        return self.dialect == "postgresql"

    def among(self, column: str, kind: str = "text") -> str:
        """`column` is one of the values of one `list_of`."""
        if self.is_postgresql:
            return f"{column} = ANY(?::{kind}[])"
        return f"{column} IN (SELECT value FROM json_each(?))"  # noqa: S608  # a column's name, never a value

    def list_of(self, values: Sequence[Any]) -> Any:
        return list(values) if self.is_postgresql else json.dumps(list(values))


SQLITE, POSTGRESQL = Spelling("sqlite"), Spelling("postgresql")


def spelling_of(conn: AsyncConnection) -> Spelling:
    return POSTGRESQL if conn.dialect.name == "postgresql" else SQLITE


async def run(conn: AsyncConnection, plan: Plan[Answer]) -> Answer:
    """What the plan comes to, in the caller's transaction."""
    driver: Any = (await conn.get_raw_connection()).driver_connection
    if conn.dialect.name == "postgresql":
        return await _awaited(driver, plan)
    # The driver's own way to hand work to its thread; it has no public name. Statements of others queue behind it.
    answer: Answer = await driver._execute(_in_the_thread, driver._conn, plan)
    return answer


def _in_the_thread(connection: Any, plan: Plan[Answer]) -> Answer:
    cursor = connection.cursor()
    try:
        step = next(plan)
        while True:
            if isinstance(step, Ask):
                step = plan.send(cursor.execute(step.sql, step.values).fetchall())
            else:
                cursor.executemany(step.sql, step.rows)
                step = plan.send([])
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer
    finally:
        cursor.close()


def whole_in_the_thread(connection: Any, plan: Plan[Answer]) -> Answer:
    """A whole transaction on SQLite's own connection: begun, and committed or taken back, in one go."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        answer = _in_the_thread(connection, plan)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return answer


async def _awaited(driver: Any, plan: Plan[Answer]) -> Answer:
    try:
        step = next(plan)
        while True:
            step = plan.send(await _answered(driver, step))
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer


async def _answered(driver: Any, step: Ask | Tell) -> Rows:
    sql = step.sql.replace("?", "%s")
    async with driver.cursor() as cursor:
        if isinstance(step, Tell):
            await cursor.executemany(sql, step.rows)
            return []
        await cursor.execute(sql, step.values)
        return list(await cursor.fetchall()) if cursor.description is not None else []
