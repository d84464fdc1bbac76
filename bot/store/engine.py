"""How a transaction is had: `Store.begin()` to write, `Store.read()` for one consistent view."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Self

import sqlalchemy.exc
from sqlalchemy import URL, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.frozen import frozen
from bot.store.asking import Question
from bot.store.lock import ProcessLock
from bot.store.opening import not_lasting, postgresql, sqlite
from bot.store.turn import Answer, Plan, driver_of, run, whole_in_the_thread

Work = Callable[[AsyncConnection], Coroutine[Any, Any, Answer]]
"""what is done within one transaction"""
FIRST_SAFE_SQLITE = (3, 51, 3)
"""before it, two connections that write or checkpoint at once can corrupt the file: https://www.sqlite.org/wal.html"""


class StoreUnavailableError(Exception):
    """The database cannot be reached, is locked, full or read-only: nothing was written, or nobody knows."""


@frozen
class _Teller:
    """The connection that tells how far PostgreSQL's readers see."""

    conn: AsyncConnection
    question: Question


class Store:
    """The open database. On SQLite one connection writes, in one process, and others only read."""

    def __init__(self, writer: AsyncEngine | None, reader: AsyncEngine, lock: ProcessLock | None) -> None:
        self._writer, self._reader, self._lock = writer, reader, lock
        self._turn = asyncio.Lock()
        self._held: AsyncConnection | None = None
        self._opening = asyncio.Lock()
        self._looking: AsyncConnection | None = None
        self._written = 0
        self._teller: _Teller | None = None

    @classmethod
    async def open(cls, url: str, *, read_only: bool = False) -> Self:
        """Open the database at a SQLAlchemy URL (`sqlite+aiosqlite:` or `postgresql+psycopg:`).

        Raises StoreInUseError where another process writes to the SQLite file; `read_only` does not mind that.
        """
        target = make_url(url)
        if target.get_backend_name() == "postgresql":
            engine = postgresql(target)
            return cls(None if read_only else engine, engine, None)
        store = cls(*sqlite(target, read_only=read_only))
        if not read_only:
            # Now, so that the file is there for readers, and a folder that cannot be written is told at once.
            async with store.begin():
                pass
        return store

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._reader.dialect.name

    @property
    def url(self) -> URL:
        return self._reader.url

    @contextlib.asynccontextmanager
    async def begin(self, *, foreign_keys: bool = True) -> AsyncIterator[AsyncConnection]:
        """A write transaction: committed at the end of the block, rolled back on any error.

        Without `foreign_keys` SQLite does not act on references: rebuilding a table would delete its children.
        Raises StoreUnavailableError where the database, not the caller, is to blame.
        """
        if self._writer is None:
            raise RuntimeError("this store was opened to be read")
        with _told_as_unavailable():
            async with self._transaction(self._writer, foreign_keys=foreign_keys) as conn:
                yield conn

    async def write(self, work: Work[Answer], *, lasting: bool = True) -> Answer:
        """One transaction that waits for nothing but its database; what the work comes to. SQLite's thread is handed
        the whole of it (`bot/store/own_thread.py`).

        What is not `lasting` may be lost again with the power, all of it, and nothing before it: right for a job whose
        end is in the transaction of its effects, as it is done once more (docs/decisions/0082).
        Raises StoreUnavailableError as `begin` does.
        """
        if self._writer is None:
            raise RuntimeError("this store was opened to be read")
        with _told_as_unavailable():
            if self._lock is None:
                async with self._writer.begin() as conn:
                    if not lasting:
                        await run(conn, not_lasting())
                    return await work(conn)
            async with self._turn, self._counted():
                from bot.store.own_thread import written  # with SQLite's driver, which PostgreSQL does not need

                return await written(await self._writing_connection(self._writer), work, lasting=lasting)

    async def write_at_once(self, plan: Plan[Answer]) -> Answer:
        """One transaction that is one plan. SQLite's thread is handed the whole of it: where many threads want the
        processor, each time it is handed over costs more than the statements.

        Whoever is cancelled does not know whether it was written, as with a lost answer; it is whole or not there.
        """
        if self._writer is None:
            raise RuntimeError("this store was opened to be read")
        if self._lock is None:
            async with self.begin() as conn:
                return await run(conn, plan)
        with _told_as_unavailable():
            async with self._turn:
                conn = await self._writing_connection(self._writer)
                driver = driver_of(conn)
                answer: Answer = await driver._execute(whole_in_the_thread, driver._conn, plan)
                return answer

    @contextlib.asynccontextmanager
    async def _transaction(self, writer: AsyncEngine, *, foreign_keys: bool) -> AsyncIterator[AsyncConnection]:
        if self._lock is None:
            async with writer.begin() as conn:
                yield conn
            return
        async with self._turn, self._counted():
            conn = await self._writing_connection(writer)
            try:
                async with contextlib.nullcontext() if foreign_keys else _without_foreign_keys(conn), conn.begin():
                    yield conn
            except BaseException:
                await _to_the_end(self._given_back(conn))
                raise

    @contextlib.asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._written += 1

    async def version(self) -> str | None:
        """What stays equal as long as no write is seen by a reader; None where another process could write unseen.

        One process writes a SQLite file, so it counts; PostgreSQL tells which transactions a reader sees.
        """
        if self._writer is None:
            return None
        if self._lock is not None:
            return str(self._written)
        teller = self._teller
        try:
            if teller is None:
                teller = await self._new_teller()
            return await teller.question.answer()
        except Exception:
            # A kept page asks each time, and enters the block that tells of it where there is something to tell.
            with _told_as_unavailable():
                if teller is not None:
                    await self._end(teller)
                raise

    async def _new_teller(self) -> _Teller:
        """A connection of its own: taking one from the pool and giving it back costs more than the question."""
        async with self._turn:
            if self._teller is None:
                conn = await self._reader.connect()
                await conn.execution_options(isolation_level="AUTOCOMMIT")
                self._teller = _Teller(conn, Question(driver_of(conn), b"SELECT pg_current_snapshot()"))
            return self._teller

    async def _end(self, teller: _Teller) -> None:
        if self._teller is teller:
            self._teller = None
            teller.question.close()
            with contextlib.suppress(Exception):
                await teller.conn.invalidate()
                await teller.conn.close()

    async def _writing_connection(self, writer: AsyncEngine) -> AsyncConnection:
        """The one connection that writes; held open, as handing it back and forth costs more than a small insert."""
        if self._held is None or self._held.closed:
            self._held = await writer.connect()
        return self._held

    async def _given_back(self, conn: AsyncConnection) -> None:
        """After a failure: a statement that was cancelled, BEGIN even, may still be on its way in the driver's thread,
        where what it began is ended behind it, and SQLAlchemy's view of the connection is begun anew."""
        driver: Any = (await conn.get_raw_connection()).driver_connection
        await driver.rollback()
        self._held = None
        await conn.close()

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A view of one moment, whatever is written meanwhile."""
        with _told_as_unavailable():
            async with self._view() as conn:
                yield conn

    async def look(self, work: Work[Answer], *, apart: bool = False) -> Answer:
        """What the work finds in a view of one moment, where it waits for nothing but its database. SQLite's thread is
        handed the whole of it, as by `write`; one look waits for the other, so it is for what is soon read. For one
        that is `apart` no other waits: what strangers ask holds up no landing.
        """
        with _told_as_unavailable():
            if self.dialect == "postgresql":
                async with self._view() as conn:
                    return await work(conn)
            from bot.store.own_thread import looked  # with SQLite's driver, as above

            if apart:
                async with self._reader.connect() as conn:
                    return await looked(conn, work)
            return await looked(await self._looking_connection(), work)

    async def _looking_connection(self) -> AsyncConnection:
        async with self._opening:
            if self._looking is None or self._looking.closed:
                self._looking = await self._reader.connect()
            return self._looking

    @contextlib.asynccontextmanager
    async def _view(self) -> AsyncIterator[AsyncConnection]:
        async with self._reader.connect() as conn:
            if self.dialect == "postgresql":
                await conn.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            async with conn.begin():
                yield conn

    async def close(self) -> None:
        """Readers first, so that the writer is the last to leave and tidies the log."""
        if self._teller is not None:
            await self._end(self._teller)
        if self._looking is not None:
            await self._looking.close()
        await self._reader.dispose()
        if self._held is not None:
            await self._held.close()
        if self._writer is not None:
            await self._writer.dispose()
        if self._lock is not None:
            self._lock.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


@contextlib.contextmanager
def _told_as_unavailable() -> Iterator[None]:
    """One error for what SQLAlchemy and the drivers beneath it raise; some statements go past SQLAlchemy."""
    try:
        yield
    except (sqlalchemy.exc.OperationalError, sqlalchemy.exc.InterfaceError, sqlalchemy.exc.InternalError) as error:
        raise StoreUnavailableError(str(error.orig)) from error
    except (sqlalchemy.exc.TimeoutError, sqlite3.OperationalError) as error:
        raise StoreUnavailableError(str(error)) from error
    except Exception as error:
        if type(error).__module__.startswith("psycopg") and _is_operational(error):
            raise StoreUnavailableError(str(error)) from error
        raise


def _is_operational(error: Exception) -> bool:
    import psycopg

    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | psycopg.InternalError)


def sqlite_warning() -> str | None:
    """What to tell the operator of this SQLite; None where there is nothing."""
    if sqlite3.sqlite_version_info >= FIRST_SAFE_SQLITE:
        return None
    return (
        f"SQLite {sqlite3.sqlite_version} can corrupt a file that two connections write at once: "
        "never open the database for writing while the bot runs; back it up with VACUUM INTO"
    )


# --- one connection that writes, on SQLite ---------------------------------------------------------------------------


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Await it whatever cancels us: whoever comes next relies on it."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


@contextlib.asynccontextmanager
async def _without_foreign_keys(conn: AsyncConnection) -> AsyncIterator[None]:
    """The setting has no effect inside a transaction, so it is changed on the driver's own connection, around one."""
    driver = driver_of(conn)
    await driver.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        await driver.execute("PRAGMA foreign_keys = ON")
