"""How do many statements take one turn of the database? A plan yields them, and goes on with the rows they give.

SQLite's driver answers from a thread of its own: handing each statement over and back costs ten times the statement.
There the whole plan runs in that thread. To PostgreSQL statements go one behind the other, and only those are awaited
that give rows back. The plans are the same.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.store.arrays import array_text
from bot.store.border import ordered_json

Answer = TypeVar("Answer")
Rows = list[tuple[Any, ...]]


class Ask(NamedTuple):
    """One statement whose rows the plan goes on with; `?` stands for a value."""

    sql: str
    values: Sequence[Any] = ()


class AskAll(NamedTuple):
    """Questions that need not each other's answers: they are waited for together, and the rows come question by
    question."""

    questions: Sequence[Ask]


class Say(NamedTuple):
    """One statement that gives nothing back, and need not be waited for."""

    sql: str
    values: Sequence[Any] = ()


class Tell(NamedTuple):
    """The same for many rows."""

    sql: str
    rows: Sequence[Sequence[Any]]


Said = Say | Tell
Step = Ask | AskAll | Said | list[Said]
"""several that give nothing back go in one step"""
Plan = Generator[Step, Rows, Answer]


@frozen
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

    def each(self, name: str, kind: str = "text") -> str:
        """The values of one `list_of` as a table of that name, with one column `value`."""
        return f"unnest(?::{kind}[]) AS {name}(value)" if self.is_postgresql else f"json_each(?) AS {name}"

    def list_of(self, values: Sequence[Any]) -> str:
        return array_text(values) if self.is_postgresql else ordered_json(values)


SQLITE, POSTGRESQL = Spelling("sqlite"), Spelling("postgresql")


def spelling_of(conn: AsyncConnection) -> Spelling:
    return POSTGRESQL if conn.dialect.name == "postgresql" else SQLITE


def driver_of(conn: AsyncConnection) -> Any:
    """The driver's own connection, of one that is open."""
    return cast(Any, conn.sync_connection).connection.driver_connection


def asked(*questions: Ask) -> Plan[list[Rows]]:
    """The rows of each of these questions."""
    return cast(list[Rows], (yield AskAll(questions)))


def saying(said: list[Said]) -> Plan[None]:
    """The plan that says this and no more."""
    yield said


async def run(conn: AsyncConnection, plan: Plan[Answer]) -> Answer:
    """What the plan comes to, in the caller's transaction."""
    driver = driver_of(conn)
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
                continue
            if isinstance(step, AskAll):
                all_rows = [cursor.execute(one.sql, one.values).fetchall() for one in step.questions]
                step = plan.send(cast(Rows, all_rows))
                continue
            for said in step if isinstance(step, list) else (step,):
                if isinstance(said, Say):
                    cursor.execute(said.sql, said.values)
                else:
                    cursor.executemany(said.sql, said.rows)
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
    async with driver.pipeline():
        try:
            step = next(plan)
            while True:
                step = plan.send(await _answered(driver, step))
        except StopIteration as ended:
            answer: Answer = ended.value
            return answer


async def _answered(driver: Any, step: Step) -> Rows:
    """The rows of a question; what is said within a pipeline is only sent."""
    if isinstance(step, list):
        for said in step:
            await _answered(driver, said)
        return []
    if isinstance(step, AskAll):
        sent = [await _sent(driver, one) for one in step.questions]
        return cast(Rows, [await cursor.fetchall() for cursor in sent])
    if isinstance(step, Ask):
        return list(await (await _sent(driver, step)).fetchall())
    if isinstance(step, Tell):
        await driver.cursor().executemany(_for_psycopg(step.sql), step.rows)
    else:
        await _sent(driver, step)
    return []


async def _sent(driver: Any, statement: Ask | Say) -> Any:
    """The cursor of a statement that is under way."""
    cursor = driver.cursor()
    await cursor.execute(_for_psycopg(statement.sql), statement.values)
    return cursor


def _for_psycopg(sql: str) -> str:
    return sql.replace("?", "%s")
