"""How is a transaction run? `Store.write` and `Store.read` run a function on a connection, in a thread of theirs."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy.exc
from sqlalchemy import URL, Connection, Engine, make_url

from bot.store.lock import ProcessLock
from bot.store.opening import POOL, open_postgresql, open_sqlite, snapshot_engine, sqlite_driver
from bot.store.version import VersionQuery

Answer = TypeVar("Answer")
Given = ParamSpec("Given")
Work = Callable[Concatenate[Connection, Given], Answer]
"""what is done within one transaction"""
FIRST_SAFE_SQLITE = (3, 51, 3)
"""before it, two connections that write or checkpoint at once can corrupt the file: https://www.sqlite.org/wal.html"""


class StoreUnavailableError(Exception):
    """The database cannot be reached, is locked, full or read-only: nothing was written, or nobody knows."""


class Store:
    """The open database. On SQLite one connection writes, in one thread of one process, and others only read."""

    def __init__(self, writer: Engine | None, reader: Engine, lock: ProcessLock | None) -> None:
        self._writer, self._reader, self._lock = writer, reader, lock
        self._turn = threading.RLock()
        self._held: Connection | None = None
        self._written = 0
        self._versions = VersionQuery(reader.url)
        self._writing = ThreadPoolExecutor(POOL if lock is None else 1, "almanac-write")
        self._reading = ThreadPoolExecutor(POOL, "almanac-read")

    @classmethod
    async def open(cls, url: str, *, read_only: bool = False) -> Self:
        """Open the database at a SQLAlchemy URL (`sqlite:` or `postgresql+psycopg:`).

        Raises StoreInUseError where another process writes to the SQLite file; `read_only` does not mind that.
        """
        target = make_url(url)
        if target.get_backend_name() == "postgresql":
            engine = open_postgresql(target)
            return cls(None if read_only else engine, snapshot_engine(engine), None)
        store = cls(*open_sqlite(target, read_only=read_only))
        if not read_only:
            # Now, so that readers find the file, and a folder that cannot be written is reported at once.
            await store.write(lambda _: None)
        return store

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._reader.dialect.name

    @property
    def url(self) -> URL:
        return self._reader.url

    async def write(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        """Run the work in one write transaction, in a thread that writes; what the work returns.

        Whoever is cancelled meanwhile does not know whether it was written; all of it was, or nothing.
        Raises StoreUnavailableError where the database, not the caller, is to blame.
        """
        return await _run_in(self._writing, partial(self._write, work, *args, **kwargs))

    async def write_without_flush(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        """The same with a commit that does not wait for the disk.

        A power cut may undo it, all of it, and nothing before it: right for a job whose end is in the transaction of
        its effects, as it is done once more (docs/decisions/0082).
        """
        return await _run_in(self._writing, partial(self._write_without_flush, work, *args, **kwargs))

    async def read(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        """Run the work on a view of one moment, in a thread that reads; what the work returns."""
        return await _run_in(self._reading, partial(self._read, work, *args, **kwargs))

    def _write(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        with self.transaction() as connection:
            return work(connection, *args, **kwargs)

    def _write_without_flush(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        with self.transaction(durable=False) as connection:
            return work(connection, *args, **kwargs)

    def _read(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        with self.snapshot() as connection:
            return work(connection, *args, **kwargs)

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True, foreign_keys: bool = True) -> Iterator[Connection]:
        """A write transaction in the caller's own thread: committed at the end of the block, rolled back on any error.

        Without `foreign_keys` SQLite does not act on references: rebuilding a table would delete its children.
        Raises StoreUnavailableError as `write` does.
        """
        if self._writer is None:
            raise RuntimeError("this store was opened to be read")
        with unavailable_errors():
            if self._lock is None:
                with self._writer.begin() as connection:
                    if not durable:
                        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                    yield connection
                return
            with self._turn:
                try:
                    connection = self._writing_connection(self._writer)
                    with _settings(connection, durable=durable, foreign_keys=foreign_keys), connection.begin():
                        yield connection
                finally:
                    self._written += 1

    def _writing_connection(self, writer: Engine) -> Connection:
        """The one connection that writes; kept open, as a pool costs more than a small insert."""
        if self._held is None or self._held.closed:
            self._held = writer.connect()
        return self._held

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A view of one moment in the caller's own thread, whatever is written meanwhile."""
        with unavailable_errors(), self._reader.begin() as connection:
            yield connection

    async def version(self) -> str | None:
        """What stays equal as long as no write is seen by a reader; None where another process could write unseen.

        One process writes a SQLite file, so it counts; PostgreSQL knows which transactions a reader sees.
        """
        if self._writer is None:
            return None
        if self._lock is not None:
            return str(self._written)
        with unavailable_errors():
            return await self._versions.ask()

    async def close(self) -> None:
        """Readers first, so that the writer is the last to leave and tidies the log."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._reading.shutdown()
        self._writing.shutdown()
        self._versions.close()
        self._reader.dispose()
        if self._held is not None:
            self._held.close()
        if self._writer is not None:
            self._writer.dispose()
        if self._lock is not None:
            self._lock.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


async def _run_in(threads: Executor, function: Callable[[], Answer]) -> Answer:
    """What the function returns, run in one of these threads with the caller's context, which log lines are made of."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(threads, context.run, function)


@contextlib.contextmanager
def unavailable_errors() -> Iterator[None]:
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


@contextlib.contextmanager
def _settings(connection: Connection, *, durable: bool, foreign_keys: bool) -> Iterator[None]:
    """SQLite's settings for one transaction. They have no effect inside one, so they are changed before and after it.

    As scripts: they take effect where they are compiled, and a statement that the driver caches is compiled once.
    """
    sqlite: sqlite3.Connection = sqlite_driver(connection)
    changed = ((durable, "synchronous", "FULL", "NORMAL"), (foreign_keys, "foreign_keys", "ON", "OFF"))
    others = [(name, usual, other) for is_usual, name, usual, other in changed if not is_usual]
    for name, _, other in others:
        sqlite.executescript(f"PRAGMA {name} = {other}")
    try:
        yield
    finally:
        for name, usual, _ in others:
            sqlite.executescript(f"PRAGMA {name} = {usual}")
