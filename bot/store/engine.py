"""How is a transaction run? `Store.write` and `Store.read` run a function on a connection, in a thread of the store."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy.exc
from sqlalchemy import URL, Connection, Engine, make_url

from bot.store.lock import ProcessLock
from bot.store.opening import (
    PAGE_READERS,
    POOL,
    open_postgresql,
    open_sqlite,
    page_engine,
    snapshot_engine,
    sqlite_driver,
    sqlite_settings,
)
from bot.store.version import VersionQuery

Answer = TypeVar("Answer")
Given = ParamSpec("Given")
Work = Callable[Concatenate[Connection, Given], Answer]
"""what runs within one transaction"""


class StoreUnavailableError(Exception):
    """The database is unreachable, locked, full or read-only. Nothing was written, or the outcome is unknown."""


class StoreBrokenError(StoreUnavailableError):
    """The file is not the one that was opened, or is damaged; the message says what to do."""


class ReadTooLongError(StoreUnavailableError):
    """The read was stopped at the end of its page's time."""


_PAGE_END: contextvars.ContextVar[float | None] = contextvars.ContextVar("page_end", default=None)
_STEPS = 20_000
"""instructions of SQLite between two looks at the time, about a millisecond"""


@contextlib.contextmanager
def page_reads(seconds: float) -> Iterator[None]:
    """What is read inside the block is read for a page: in threads of its own, and stopped after these seconds."""
    token = _PAGE_END.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _PAGE_END.reset(token)


class Store:
    """The open database. On SQLite one connection writes, in one thread of one process; the others only read."""

    def __init__(self, writer: Engine | None, reader: Engine, lock: ProcessLock | None) -> None:
        self._writer, self._reader, self._lock = writer, reader, lock
        self._turn = threading.RLock()
        self._held: Connection | None = None
        self._written = 0
        self._damage = ""
        self._versions = VersionQuery(reader.url)
        self._page_reader = page_engine(reader.url) if reader.dialect.name == "postgresql" else reader
        self._writing = ThreadPoolExecutor(POOL if lock is None else 1, "almanac-write")
        self._reading = ThreadPoolExecutor(POOL, "almanac-read")
        self._page_reading = ThreadPoolExecutor(PAGE_READERS, "almanac-page-read")

    @classmethod
    async def open(cls, url: str, *, read_only: bool = False) -> Self:
        """Open the database at a SQLAlchemy URL (`sqlite:` or `postgresql+psycopg:`).

        Raises StoreInUseError if another process writes to the SQLite file, unless the store is `read_only`.
        """
        target = make_url(url)
        if target.get_backend_name() == "postgresql":
            engine = open_postgresql(target)
            return cls(None if read_only else engine, snapshot_engine(engine), None)
        store = cls(*open_sqlite(target, read_only=read_only))
        if not read_only:
            # Write now, so that readers find the file and an unwritable folder is reported at once.
            await store.write(lambda _: None)
        return store

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._reader.dialect.name

    @property
    def ended_badly(self) -> bool:
        """Whether the last process that wrote to the SQLite file ended without closing it."""
        return self._lock is not None and self._lock.log_was_left

    def file_sizes(self) -> dict[str, int]:
        """The bytes of SQLite's database and log, by `stat` alone; nothing for PostgreSQL."""
        return self._lock.sizes() if self._lock is not None else {}

    def problem(self) -> str | None:
        """Why nothing is read or written until an operator acts; None if all is well. Asks nothing of the database."""
        return self._damage or (self._lock.problem() if self._lock is not None else None)

    def check_integrity(self) -> str | None:
        """Let SQLite check the file, in the caller's own thread; what is wrong and what to do, or None.

        From then on, a damaged file is neither read nor written.
        """
        if self.dialect != "sqlite":
            return None  # PostgreSQL checks its pages itself
        try:
            with self.snapshot() as connection:
                connection.exec_driver_sql("PRAGMA shrink_memory")  # read the file, not what this connection has cached
                found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA quick_check(3)")]
        except StoreBrokenError as error:
            found = [str(error)]
        if found != ["ok"]:
            self._damage = self._damage or _damage_text(found[0])
        return self.problem()

    def _check_file(self) -> None:
        problem = self.problem()
        if problem is not None:
            raise StoreBrokenError(problem)

    @contextlib.contextmanager
    def _noticing_damage(self) -> Iterator[None]:
        """Raise what `unavailable_errors` raises; after an error of a damaged file, every later block raises it too."""
        self._check_file()
        try:
            with unavailable_errors():
                yield
        except StoreBrokenError as error:
            self._damage = self._damage or str(error)
            raise

    @property
    def url(self) -> URL:
        return self._reader.url

    async def write(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        """Run the work in one write transaction, in a writer thread; return its result.

        A caller that is cancelled meanwhile cannot know whether the transaction was committed; it was written
        completely or not at all. Raises StoreUnavailableError if the database, not the caller, is to blame.
        """
        return await _run_in(self._writing, partial(self._write, work, *args, **kwargs))

    async def write_without_flush(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        """The same with a commit that does not wait for the disk.

        A power cut may undo the whole transaction, but nothing before it. Use it for a job that is marked as done in
        the transaction of its effects, because the job then simply runs again (docs/decisions/0082).
        """
        return await _run_in(self._writing, partial(self._write_without_flush, work, *args, **kwargs))

    async def read(self, work: Work[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        """Run the work on a consistent snapshot, in a reader thread; return its result."""
        threads = self._reading if _PAGE_END.get() is None else self._page_reading
        return await _run_in(threads, partial(self._read, work, *args, **kwargs))

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

        Without `foreign_keys` SQLite does not act on references: rebuilding a table would delete its children. Raises
        StoreUnavailableError as `write` does.
        """
        if self._writer is None:
            raise RuntimeError("this store was opened to be read")
        with self._noticing_damage():
            if self._lock is None:
                with self._writer.begin() as connection:
                    if not durable:
                        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                    yield connection
                return
            with self._turn:
                try:
                    connection = self._writing_connection(self._writer)
                    with sqlite_settings(connection, durable=durable, foreign_keys=foreign_keys), connection.begin():
                        yield connection
                finally:
                    self._written += 1

    def _writing_connection(self, writer: Engine) -> Connection:
        """The one connection that writes; it stays open, because a pool costs more than a small insert."""
        if self._held is None or self._held.closed:
            self._held = writer.connect()
        return self._held

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A consistent read-only view in the caller's own thread, unaffected by later writes."""
        end = _PAGE_END.get()
        if end is None:
            with self._noticing_damage(), self._reader.begin() as connection:
                yield connection
        else:
            with self._noticing_damage(), self._page_reader.begin() as connection, _stopped_at(connection, end):
                yield connection

    async def scrub(self, *, vacuum: bool = True) -> bool:
        """Leave no deleted content in SQLite's log nor, if `vacuum`, in its file; False if a reader needs the log.

        `secure_delete` overwrites deleted rows, but a page that was split keeps copies of the rows that moved. Nothing
        is written meanwhile. PostgreSQL does this itself, in its own time.
        """
        return self._lock is None or await _run_in(self._writing, partial(self._scrub, vacuum=vacuum))

    def _scrub(self, *, vacuum: bool) -> bool:
        if self._writer is None:
            raise RuntimeError("this store was opened to be read")
        with self._noticing_damage(), self._turn:
            sqlite: sqlite3.Connection = sqlite_driver(self._writing_connection(self._writer))
            if vacuum:
                sqlite.execute("VACUUM")
            busy, *_ = sqlite.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    async def version(self) -> str | None:
        """A value that stays equal as long as readers see no write; None if another process could write unnoticed.

        Only one process writes a SQLite file, so it counts its writes; PostgreSQL reports which transactions a reader
        sees.
        """
        if self._writer is None:
            return None
        if self._lock is not None:
            return str(self._written)
        with unavailable_errors():
            return await self._versions.ask()

    async def close(self) -> None:
        """Close the readers first, so that the writer closes last and checkpoints the log."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._reading.shutdown()
        self._page_reading.shutdown()
        self._writing.shutdown()
        self._versions.close()
        self._reader.dispose()
        self._page_reader.dispose()
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
    """Run the function in one of these threads with the caller's context, which log lines use; return its result."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(threads, context.run, function)


@contextlib.contextmanager
def unavailable_errors() -> Iterator[None]:
    """Raise one error for those of SQLAlchemy and the drivers below it; some statements bypass SQLAlchemy."""
    try:
        yield
    except (sqlalchemy.exc.OperationalError, sqlalchemy.exc.InterfaceError, sqlalchemy.exc.InternalError) as error:
        raise StoreUnavailableError(str(error.orig)) from error
    except (sqlalchemy.exc.TimeoutError, sqlite3.OperationalError) as error:
        raise StoreUnavailableError(str(error)) from error
    except (sqlalchemy.exc.DatabaseError, sqlite3.DatabaseError) as error:
        reason = str(getattr(error, "orig", error))
        if not any(words in reason for words in _DAMAGED):
            raise
        raise StoreBrokenError(_damage_text(reason)) from error
    except Exception as error:
        if type(error).__module__.startswith("psycopg") and _is_operational(error):
            raise StoreUnavailableError(str(error)) from error
        raise


_DAMAGED = ("malformed", "not a database")


def _damage_text(reason: str) -> str:
    if "not a database" in reason:
        return f"the database cannot be read ({reason}): use another file, or restore a back-up"
    return f"the database is damaged ({reason}): stop the bot and restore a back-up"


def _is_operational(error: Exception) -> bool:
    import psycopg

    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | psycopg.InternalError)


@contextlib.contextmanager
def _stopped_at(connection: Connection, end: float) -> Iterator[None]:
    """Stop the statements of the block at this monotonic time; raises ReadTooLongError."""
    sqlite = sqlite_driver(connection) if connection.dialect.name == "sqlite" else None
    if sqlite is not None:  # PostgreSQL has the limit itself
        sqlite.set_progress_handler(lambda: time.monotonic() >= end, _STEPS)
    try:
        yield
    except sqlalchemy.exc.OperationalError as error:
        if time.monotonic() >= end:
            raise ReadTooLongError("stopped at the end of its time") from error
        raise
    finally:
        if sqlite is not None:
            sqlite.set_progress_handler(None, 0)
