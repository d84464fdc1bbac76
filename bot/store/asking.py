"""How is one short question asked of PostgreSQL again and again, by many at once, at the least cost?"""

from __future__ import annotations

import asyncio
from typing import Any

_LOOKS = 100
"""times that an answer is looked for before the event loop turns: 60 to 100 µs, in which a database on the same machine
answers. To sleep and be woken takes longer, and more of the processor."""
_LONGEST_REST = 50
"""questions in a row that are not looked for where the database is far or busy: after each look in vain twice as
many"""


class Question:
    """One question for one connection. Each answer is to a question that was sent after its asker asked, or in the same
    turn of the event loop: whatever runs in a turn was ready before any of it ran. All who ask while an answer is on
    its way share the next one.

    It goes past psycopg's cursors, which take four times the processor's time, and listens for the answer as long as
    it lives: to begin and end listening would cost as much as the rest.
    """

    def __init__(self, driver: Any, text: bytes) -> None:
        """`driver` is a psycopg connection in autocommit that nobody else uses until `close`."""
        self._server, self._text = driver.pgconn, text
        self._loop = asyncio.get_running_loop()
        self._asked: list[asyncio.Future[str]] = []
        self._waiting: list[asyncio.Future[str]] = []
        self._said: str | None = None
        """an answer of this turn"""
        self._rest = self._vain = 0
        self._error: Exception | None = None
        self._socket: int = self._server.socket
        self._loop.add_reader(self._socket, self._hear)

    async def answer(self) -> str:
        """The first value of the first row. Raises psycopg's errors; after any of them nothing is answered any more."""
        if self._error is not None:
            raise self._error
        if self._said is not None:
            return self._said
        mine: asyncio.Future[str] = self._loop.create_future()
        self._waiting.append(mine)
        if not self._asked:
            self._ask()
            self._look(mine)
        return await mine

    def close(self) -> None:
        """Listen no more. Before the connection is closed or given back."""
        if self._socket >= 0:
            self._loop.remove_reader(self._socket)
            self._socket = -1

    def _ask(self) -> None:
        from psycopg import OperationalError

        self._asked, self._waiting = self._waiting, []
        try:
            self._server.send_query(self._text)
            if self._server.flush():  # a line that the socket does not take at once: nobody reads at the other end
                raise OperationalError("PostgreSQL takes no question")
        except Exception as error:
            self._fail(error)

    def _look(self, mine: asyncio.Future[str]) -> None:
        """For an answer that comes at once."""
        if self._rest:
            self._rest -= 1
            return
        looks = _LOOKS
        while looks and not mine.done():
            self._hear()
            looks -= 1
        if not mine.done():
            self._rest = self._vain = min(2 * self._vain + 1, _LONGEST_REST)
        elif self._error is None:
            self._said, self._vain = mine.result(), 0
            self._loop.call_soon(self._turned)

    def _turned(self) -> None:
        """Whoever comes now may have come after the question was sent."""
        self._said = None

    def _hear(self) -> None:
        """Something has come: a part of the answer, all of it, or the end of the connection."""
        try:
            self._server.consume_input()
            if self._server.is_busy() or not self._asked:
                return
            said = _value(self._server)
        except Exception as error:
            self._fail(error)
            return
        answered, self._asked = self._asked, []
        for asker in answered:
            if not asker.done():
                asker.set_result(said)
        if self._waiting:
            self._ask()

    def _fail(self, error: Exception) -> None:
        self.close()
        self._error = error
        for asker in (*self._asked, *self._waiting):
            if not asker.done():
                asker.set_exception(error)
        self._asked, self._waiting = [], []


def _value(server: Any) -> str:
    from psycopg import OperationalError
    from psycopg.pq import ExecStatus

    result = server.get_result()
    while server.get_result() is not None:
        pass
    if result is None or result.status != ExecStatus.TUPLES_OK:
        raise OperationalError("PostgreSQL did not answer" if result is None else result.error_message.decode())
    return str(result.get_value(0, 0).decode())
