"""How does a whole transaction, with all that it awaits, run in the thread of SQLite's driver?

Each statement that is handed to that thread and back costs ten times the statement. A coroutine that awaits nothing but
its connection needs no event loop, though: where the thread itself asks, the driver answers at once, and the coroutine
comes to its end without a pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import aiosqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.turn import Answer, driver_of

_Work = Callable[[AsyncConnection], Coroutine[Any, Any, Answer]]
_ROWS_AT_ONCE = 64
"""what the driver fetches with one turn of its thread, where rows are streamed; its own default"""


class OwnThreadConnection(aiosqlite.Connection):
    """The driver's connection; what is asked of it in its own thread is done there and then."""

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() == self._thread.ident:
            return fn(*args, **kwargs)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]  # the driver's own

    def handed(self, function: Callable[[], Answer]) -> asyncio.Future[Answer]:
        """What the function gives in the driver's thread, behind what others asked of it."""
        future: asyncio.Future[Answer] = _Ending(loop=asyncio.get_running_loop())
        self._tx.put_nowait((future, function))
        return future


class _Ending(asyncio.Future[Answer]):
    """Waited for also by whoever is cancelled, and who is told so then: the connection is nobody else's before."""

    def cancel(self, msg: Any = None) -> bool:
        return False


def connected(address: str, *, uri: bool = False) -> OwnThreadConnection:
    """A connection to be awaited; its thread does not keep the process alive."""
    connection = OwnThreadConnection(lambda: sqlite3.connect(address, check_same_thread=False, uri=uri), _ROWS_AT_ONCE)
    connection._thread.daemon = True
    return connection


async def written(conn: AsyncConnection, work: _Work[Answer], *, lasting: bool) -> Answer:
    """What the work comes to, its transaction begun and ended in the driver's thread."""
    sqlite: sqlite3.Connection = driver_of(conn)._conn
    with_disk = contextlib.nullcontext if lasting else partial(_not_lasting, sqlite)
    return await _in_one_turn(conn, _whole(conn, work, "BEGIN IMMEDIATE", with_disk))


async def looked(conn: AsyncConnection, work: _Work[Answer]) -> Answer:
    """The same on a connection that only reads: all of the work sees one moment."""
    return await _in_one_turn(conn, _whole(conn, work, "BEGIN", contextlib.nullcontext))


async def _in_one_turn(conn: AsyncConnection, whole: Coroutine[Any, Any, Answer]) -> Answer:
    driver: OwnThreadConnection = driver_of(conn)
    return await driver.handed(partial(contextvars.copy_context().run, _to_its_end, whole))


async def _whole(
    conn: AsyncConnection,
    work: _Work[Answer],
    begin: str,
    around: Callable[[], contextlib.AbstractContextManager[None]],
) -> Answer:
    sqlite: sqlite3.Connection = driver_of(conn)._conn
    with around():
        sqlite.execute(begin)
        try:
            answer = await work(conn)
            # SQLAlchemy knows of the transaction where one of its own statements was among the work.
            if conn.in_transaction():
                await conn.commit()
            sqlite.commit()
        except BaseException:
            await conn.rollback()
            sqlite.rollback()
            raise
        return answer


@contextlib.contextmanager
def _not_lasting(sqlite: sqlite3.Connection) -> Iterator[None]:
    """Commits do not wait for the disk. As scripts: the setting takes effect where it is compiled, and a statement
    that the driver keeps is compiled once.
    """
    sqlite.executescript("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        sqlite.executescript("PRAGMA synchronous = FULL")


def _to_its_end(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        work.send(None)
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer
    work.close()
    raise RuntimeError("a transaction in the database's thread can wait for the database alone")
