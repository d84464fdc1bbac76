"""Which writes does a reader of PostgreSQL see by now? One short question, asked by many at once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from queue import SimpleQueue

from sqlalchemy import URL, Connection, Engine

from bot.store.dialect import fetch
from bot.store.opening import version_engine

Asker = asyncio.Future[str]


class VersionQuery:
    """Asks on a connection and in a thread of its own: a page waits for no other read, and takes nothing from a pool.

    All who ask before a question is sent share its answer, so that each answer is to a question that was sent after
    its asker asked. A queue in place of an executor: each kept page waits for it (docs/decisions/0100).
    """

    def __init__(self, url: URL) -> None:
        self._url = url
        self._turn = threading.Lock()
        self._askers: list[Asker] = []
        self._wanted: SimpleQueue[bool] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._engine: Engine | None = None
        self._connection: Connection | None = None

    async def ask(self) -> str:
        """The transactions that are visible now, as PostgreSQL writes them. Raises the driver's errors."""
        asker: Asker = asyncio.get_running_loop().create_future()
        with self._turn:
            self._askers.append(asker)
            is_first = len(self._askers) == 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._answer_all, name="almanac-version", daemon=True)
                self._thread.start()
        if is_first:
            self._wanted.put(True)
        return await asker

    def _answer_all(self) -> None:
        while self._wanted.get():
            with self._turn:
                askers, self._askers = self._askers, []
            found: str | Exception
            try:
                found = self._query()
            except Exception as error:
                self._disconnect()
                found = error
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                askers[0].get_loop().call_soon_threadsafe(_answer, askers, found)

    def _query(self) -> str:
        if self._connection is None:
            self._engine = self._engine or version_engine(self._url)
            self._connection = self._engine.connect()
        ((found,),) = fetch(self._connection, "SELECT pg_current_snapshot()")
        return str(found)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.invalidate()
                connection.close()

    def close(self) -> None:
        """Wait for the last answer, and disconnect."""
        if self._thread is not None:
            self._wanted.put(False)
            self._thread.join()
        self._disconnect()
        if self._engine is not None:
            self._engine.dispose()


def _answer(askers: list[Asker], found: str | Exception) -> None:
    for asker in askers:
        if asker.done():
            continue
        if isinstance(found, str):
            asker.set_result(found)
        else:
            asker.set_exception(found)
