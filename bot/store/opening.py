"""How is each of the two databases opened?"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection

from bot.store.lock import ProcessLock

BUSY_SECONDS = 5
"""how long a statement waits for another program's lock on the file; below the 10 s that GitHub waits for an answer"""
POOL = 10
"""connections for reading; on PostgreSQL as many for writing"""
PAGE_SECONDS = 10
"""limit for what is read for one page"""
PAGE_READERS = 4
"""threads that read for pages, so that no page holds up a job, a delivery or another page for long"""
_LOST_SERVER = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""when a thread stops waiting for a server that is gone, unless the URL says otherwise"""
LOG_PAGES = 4000
"""pages of 4 kB before SQLite's log is checkpointed: a page that many landings write is copied once"""

# --- PostgreSQL ------------------------------------------------------------------------------------------------------


def open_postgresql(url: URL) -> Engine:
    # Parameters are hidden because errors are logged, and failed statements contain people's names and texts.
    engine = create_engine(
        url,
        pool_size=POOL,
        max_overflow=POOL,
        pool_pre_ping=True,
        connect_args=_arguments(url),
        hide_parameters=True,
    )
    event.listen(engine, "connect", _settle_postgresql)
    return engine


def snapshot_engine(engine: Engine) -> Engine:
    """The same connections for readers: a consistent snapshot, read-only."""
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def page_engine(url: URL) -> Engine:
    """Connections that read for pages; the server stops each statement after a page's time."""
    engine = create_engine(
        url,
        pool_size=PAGE_READERS,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args=_arguments(url),
        hide_parameters=True,
    )
    event.listen(engine, "connect", _settle_page_reader)
    return snapshot_engine(engine)


def version_engine(url: URL) -> Engine:
    """A connection for one short query that is repeated often."""
    return create_engine(url, pool_size=1, max_overflow=0, isolation_level="AUTOCOMMIT", connect_args=_arguments(url))


def _arguments(url: URL) -> dict[str, int | None]:
    """Prepared statements break behind a pooler in transaction mode."""
    patience = {name: value for name, value in _LOST_SERVER.items() if name not in url.query}
    return {"prepare_threshold": None, **patience}


def _settle_postgresql(connection: DBAPIConnection, _record: object) -> None:
    """An answer to GitHub promises that the row is on disk, whatever the server's default is."""
    cursor = connection.cursor()
    cursor.execute("SET synchronous_commit = on")
    cursor.execute("SET TIME ZONE 'UTC'")
    cursor.close()
    connection.commit()


def _settle_page_reader(connection: DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("SET TIME ZONE 'UTC'")
    cursor.execute(f"SET statement_timeout = {PAGE_SECONDS * 1000}")
    cursor.close()
    connection.commit()


# --- SQLite ----------------------------------------------------------------------------------------------------------


def open_sqlite(url: URL, *, read_only: bool) -> tuple[Engine | None, Engine, ProcessLock | None]:
    """The writing engine and its lock, both None with `read_only`, and the reading engine."""
    path = Path(url.database or "")
    lock = writer = None
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = path.resolve() if path.is_symlink() else path  # one lock per file, whatever name opens it
        lock = ProcessLock(written)
        lock.take()
        writer = _sqlite_engine(url, lambda: sqlite3.connect(path, check_same_thread=False), size=1)
        _begin_ourselves(writer, "BEGIN IMMEDIATE", _settle_writer)
    # In such an address %, # and ? have a meaning, and another file would be opened.
    named = f"file:{quote(str(path))}?mode=ro"
    reader = _sqlite_engine(
        url, lambda: sqlite3.connect(named, check_same_thread=False, uri=True), size=POOL + PAGE_READERS
    )
    _begin_ourselves(reader, "BEGIN", _settle_reader)
    return writer, reader, lock


def _sqlite_engine(url: URL, connect: Callable[[], sqlite3.Connection], *, size: int) -> Engine:
    return create_engine(
        url,
        creator=connect,
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
        pool_reset_on_return=None,  # each block ends its own transaction
        hide_parameters=True,
    )


def _begin_ourselves(engine: Engine, begin: str, settle: Callable[[sqlite3.Connection, object], None]) -> None:
    """Begin transactions explicitly: the driver would begin late, and a read followed by a write would fail."""

    event.listen(engine, "connect", settle)
    event.listen(engine, "begin", lambda connection: sqlite_driver(connection).execute(begin))


def sqlite_driver(connection: Connection) -> sqlite3.Connection:
    """The driver's own connection."""
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


def _settle_writer(connection: sqlite3.Connection, _record: object) -> None:
    durable = ("journal_mode = WAL", "synchronous = FULL", f"wal_autocheckpoint = {LOG_PAGES}")
    _settle(connection, *durable, "foreign_keys = ON", "secure_delete = ON")


def _settle_reader(connection: sqlite3.Connection, _record: object) -> None:
    _settle(connection, "query_only = ON")


def _settle(connection: sqlite3.Connection, *pragmas: str) -> None:
    connection.isolation_level = None
    for pragma in (f"busy_timeout = {BUSY_SECONDS * 1000}", *pragmas):
        connection.execute(f"PRAGMA {pragma}")


@contextlib.contextmanager
def sqlite_settings(connection: Connection, *, durable: bool, foreign_keys: bool) -> Iterator[None]:
    """SQLite's settings for one transaction. They have no effect inside one, so they are changed before and after it.

    They run as scripts: they take effect when compiled, and the driver compiles a cached statement only once.
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
