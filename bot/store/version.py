"""Which writes does a reader of PostgreSQL see by now? One short question, asked by many at once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import URL, Connection, Engine

from bot.store.dialect import fetch
from bot.store.opening import version_engine


class VersionQuery:
    """Asks on a connection and in a thread of its own: a page waits for no other read, and takes nothing from a pool.

    Whoever asks before a question is sent shares its answer, so that each answer is to a question that was sent after
    its asker asked.
    """

    def __init__(self, url: URL) -> None:
        self._url = url
        self._turn = threading.Lock()
        self._thread = ThreadPoolExecutor(1, "almanac-version")
        self._engine: Engine | None = None
        self._connection: Connection | None = None
        self._unsent: asyncio.Future[str] | None = None

    async def ask(self) -> str:
        """The transactions that are visible now, as PostgreSQL writes them. Raises the driver's errors."""
        with self._turn:
            if self._unsent is None:
                self._unsent = asyncio.get_running_loop().run_in_executor(self._thread, self._send)
            mine = self._unsent
        return await asyncio.shield(mine)

    def _send(self) -> str:
        with self._turn:
            self._unsent = None
        try:
            if self._connection is None:
                self._engine = self._engine or version_engine(self._url)
                self._connection = self._engine.connect()
            ((found,),) = fetch(self._connection, "SELECT pg_current_snapshot()")
        except Exception:
            self._disconnect()
            raise
        return str(found)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.invalidate()
                connection.close()

    def close(self) -> None:
        """Wait for the last answer, and disconnect."""
        self._thread.shutdown()
        self._disconnect()
        if self._engine is not None:
            self._engine.dispose()
