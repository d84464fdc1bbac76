"""How are deliveries stored fast and safely? All that wait share one transaction, and each is answered after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from bot.store.engine import Store, StoreUnavailableError
from bot.store.inbox import Arrival, Delivery, arrival, store_and_list_jobs, store_arrivals
from bot.store.jobs import Waiting

LARGEST_GROUP = 512
"""deliveries in one transaction: beyond this the gain is small, and the first of the group waits longer"""
SMALLEST_SHARE = 16
"""up to this many waiting deliveries are stored as one group"""
LARGE = 1024 * 1024
"""bytes of a body above which it is compressed off the event loop"""
SECONDS = 4.0
"""limit for one group; deliveries that arrived meanwhile have waited as long, and GitHub gives up after 10 s"""

Announce = Callable[[Connection, Sequence[Waiting]], None]
"""called inside the transaction with the jobs it adds, for a queue engine with rows of its own"""

Pending = tuple[Arrival, "asyncio.Future[bool]"]


class GroupWriter:
    """Stores deliveries in groups. None is answered before its transaction is on disk."""

    def __init__(self, store: Store, announce: Announce | None = None, committed: Callable[[], None] | None = None):
        self._store, self._announce, self._committed = store, announce, committed
        self._pending: list[Pending] = []
        self._writing: asyncio.Task[None] | None = None

    async def accept(self, delivery: Delivery) -> bool:
        """Store the delivery and its jobs; False if it was stored before.

        Raises StoreUnavailableError if the database cannot be written: the sender may send it again.
        """
        large = len(delivery.body) > LARGE
        ready = await asyncio.to_thread(arrival, delivery) if large else arrival(delivery)
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._pending.append((ready, answer))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return await answer

    async def close(self) -> None:
        """Wait until every accepted delivery is stored or rejected."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write_all(self) -> None:
        while self._pending:
            share = min(max(len(self._pending) // 2, SMALLEST_SHARE), LARGEST_GROUP)
            group, self._pending = self._pending[:share], self._pending[share:]
            try:
                async with asyncio.timeout(SECONDS):
                    new = await self._store.write(self._stored, [one for one, _ in group])
            except TimeoutError:
                _answer_all(group, StoreUnavailableError(f"not committed within {SECONDS:g} s"))
            except BaseException as error:
                _answer_all(group, error)
                if not isinstance(error, Exception):
                    raise
            else:
                _answer_each(group, new)
                if self._committed is not None:
                    self._committed()

    def _stored(self, connection: Connection, group: Sequence[Arrival]) -> list[bool]:
        """Store the group; return which deliveries are new."""
        if self._announce is None:
            return store_arrivals(connection, group)
        new, added = store_and_list_jobs(connection, group)
        if added:
            self._announce(connection, added)
        return new


def _answer_each(group: Sequence[Pending], new: Sequence[bool]) -> None:
    for (_, answer), is_new in zip(group, new, strict=True):
        if not answer.done():
            answer.set_result(is_new)


def _answer_all(group: Sequence[Pending], error: BaseException) -> None:
    for _, answer in group:
        if not answer.done():
            answer.set_exception(error)
