"""Where do SQLite and PostgreSQL differ? In lists of values, inserts that meet a row already there, and locks.

`fetch`, `execute` and `execute_many` run SQL text on the driver's own cursor, for statements that a landing or a
delivery waits for: SQLAlchemy's cursors take longer than most of these statements (docs/decisions/0100).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from bot.store.arrays import array_text
from bot.store.border import ordered_json

Row = tuple[Any, ...]
_AT_ONCE = 500
"""values in one statement"""
STREAMED = 500
"""rows held in memory for a large query, as `yield_per`"""


def is_postgresql(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


# --- statements as text ----------------------------------------------------------------------------------------------


def fetch(connection: Connection, sql: str, values: Sequence[Any] = ()) -> list[Row]:
    """The rows of one statement; `?` is a placeholder."""
    rows: list[Row] = cursor_of(connection).execute(_in_dialect(connection, sql), values).fetchall()
    return rows


def execute(connection: Connection, sql: str, values: Sequence[Any] = ()) -> None:
    """Run one statement that returns nothing."""
    cursor_of(connection).execute(_in_dialect(connection, sql), values)


def execute_many(connection: Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
    """Run one statement for each row of values."""
    cursor_of(connection).executemany(_in_dialect(connection, sql), rows)


def cursor_of(connection: Connection) -> Any:
    """The driver's own cursor."""
    driver: Any = connection.connection.dbapi_connection
    return driver.cursor()


def _in_dialect(connection: Connection, sql: str) -> str:
    return sql.replace("?", "%s") if is_postgresql(connection) else sql


# --- lists of values -------------------------------------------------------------------------------------------------


def value_list(connection: Connection, values: Sequence[Any]) -> str:
    """Values as one parameter, for `is_one_of` and `values_as`."""
    return array_text(values) if is_postgresql(connection) else ordered_json(values)


def is_one_of(connection: Connection, column: str, kind: str = "text") -> str:
    """The condition that the column is one of a `value_list`; `kind` is the type of its values."""
    if is_postgresql(connection):
        return f"{column} = ANY(?::{kind}[])"
    return f"{column} IN (SELECT value FROM json_each(?))"  # noqa: S608  # a column's name, never a value


def values_as(connection: Connection, name: str, kind: str = "text") -> str:
    """A `value_list` as a table of that name, with one column, `value`."""
    return f"unnest(?::{kind}[]) AS {name}(value)" if is_postgresql(connection) else f"json_each(?) AS {name}"


def among(column: ColumnElement[Any], values: Sequence[Any]) -> Iterator[ColumnElement[bool]]:
    """Conditions that together cover all these values, in slices: a statement takes only so many."""
    for at in range(0, len(values), _AT_ONCE):
        yield column.in_(values[at : at + _AT_ONCE])


# --- inserts and locks -----------------------------------------------------------------------------------------------


def insert_into(connection: Connection, table: Table) -> Any:
    """An insert that supports ON CONFLICT. Both dialects have the same methods but no common base class: hence Any."""
    return postgresql.insert(table) if is_postgresql(connection) else sqlite.insert(table)


def lock(connection: Connection, number: int, *, shared: bool = False) -> None:
    """Hold the lock of this number to the end of the transaction, exclusively or `shared`. SQLite has one writer
    anyway."""
    if is_postgresql(connection):
        execute(connection, f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}(?)", (number,))


def lock_row(connection: Connection, table: Table, number: int) -> None:
    """Keep others from changing the row with this id until the transaction ends. SQLite has one writer anyway."""
    if is_postgresql(connection):
        execute(connection, f"SELECT id FROM {table.name} WHERE id = ? FOR UPDATE", (number,))  # noqa: S608  # a name
