"""How is each of the two databases opened?"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.store.lock import ProcessLock
from bot.store.turn import Plan, Say

BUSY_SECONDS = 5
"""how long a statement waits for another program's lock on the file; below the 10 s that GitHub waits for an answer"""
READERS = 5
"""one of them for what is soon read"""
LOG_PAGES = 4000
"""of 4 kB, until SQLite's log is brought into the file: a page that many landings write is brought there once"""


_SILENT = {"hide_parameters": True}
"""of an engine: what a failed statement was to write are people's names and texts, and errors are logged"""

# --- PostgreSQL ------------------------------------------------------------------------------------------------------


def postgresql(url: URL) -> AsyncEngine:
    # Prepared statements break behind a pooler that works by transactions.
    arguments = {"prepare_threshold": None}
    engine = create_async_engine(
        url, pool_size=10, max_overflow=10, pool_pre_ping=True, connect_args=arguments, **_SILENT
    )
    event.listen(engine.sync_engine, "connect", _settle_postgresql)
    return engine


def _settle_postgresql(connection: DBAPIConnection, _record: object) -> None:
    """An answer to GitHub promises that the row is on disk, whatever the server's default says."""
    cursor = connection.cursor()
    cursor.execute("SET synchronous_commit = on")
    cursor.execute("SET TIME ZONE 'UTC'")
    cursor.close()
    connection.commit()


def not_lasting() -> Plan[None]:
    """The commit of this transaction does not wait for the disk."""
    yield Say("SET LOCAL synchronous_commit = off")


# --- SQLite ----------------------------------------------------------------------------------------------------------


def sqlite(url: URL, *, read_only: bool) -> tuple[AsyncEngine | None, AsyncEngine, ProcessLock | None]:
    from bot.store.own_thread import connected  # with the driver, which PostgreSQL does not need

    path = Path(url.database or "")
    lock = writer = None
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = path.resolve() if path.is_symlink() else path  # one lock for a file, by whatever name it is opened
        lock = ProcessLock(written.with_name(written.name + ".lock"))
        lock.take()
        if not path.exists():
            path.touch(0o600)  # for its owner alone, as the files that SQLite puts beside it: it holds everything

        async def connect() -> Any:
            return await connected(str(path))

        writer = create_async_engine(url, pool_size=1, max_overflow=0, async_creator=connect, **_SILENT)
        _own_transactions(writer, "BEGIN IMMEDIATE")

    # In such an address %, # and ? would be more than letters of a name, and another file would be opened.
    named = f"file:{quote(str(path))}"

    async def connect_to_read() -> Any:
        return await connected(f"{named}?mode=ro", uri=True)

    look = url.set(database=named, query={"mode": "ro", "uri": "true"})
    reader = create_async_engine(look, pool_size=READERS, max_overflow=0, async_creator=connect_to_read, **_SILENT)
    _own_transactions(reader, "BEGIN")
    return writer, reader, lock


def _own_transactions(engine: AsyncEngine, begin: str) -> None:
    """Begin transactions ourselves: the driver would begin late, and a read followed by a write would fail."""
    event.listen(engine.sync_engine, "connect", _settle_writer if "IMMEDIATE" in begin else _settle_reader)
    # Past SQLAlchemy's cursors: one turn of the driver's thread in place of three.
    event.listen(
        engine.sync_engine, "begin", lambda conn: conn.connection.run_async(lambda driver: _begun(driver, begin))
    )


async def _begun(driver: Any, begin: str) -> None:
    """In the driver's own thread a whole transaction has begun already. Elsewhere what the driver says of itself may be
    about somebody's who was cancelled, and whose end is still on its way."""
    if threading.get_ident() != driver._thread.ident:
        await driver.execute(begin)


def _settle_writer(connection: Any, _record: object) -> None:
    durable = ("journal_mode = WAL", "synchronous = FULL", f"wal_autocheckpoint = {LOG_PAGES}")
    _settle(connection, *durable, "foreign_keys = ON", "secure_delete = ON")


def _settle_reader(connection: Any, _record: object) -> None:
    _settle(connection, "query_only = ON")


def _settle(connection: Any, *pragmas: str) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (f"busy_timeout = {BUSY_SECONDS * 1000}", *pragmas):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
