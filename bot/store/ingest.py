"""How deliveries are stored fast and safely: all that wait share one transaction, and each is answered after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.border import clean_text
from bot.store.bulk import Row, insert_new
from bot.store.engine import Store
from bot.store.inbox import COLUMNS, INBOX, Delivery, packed, row_of
from bot.store.jobs import Waiting, add_rows

LARGEST_GROUP = 512
"""deliveries in one transaction: beyond it the gain is small, and the first of the group waits longer"""

Announce = Callable[[AsyncConnection, Sequence[Waiting]], Awaitable[None]]
"""called inside the transaction with the jobs it adds, for a queue engine that keeps rows of its own"""

Pending = tuple[Delivery, "asyncio.Future[bool]"]


class GroupWriter:
    """Stores deliveries, many a commit. Nothing is answered before its transaction is on disk."""

    def __init__(self, store: Store, announce: Announce | None = None, committed: Callable[[], None] | None = None):
        self._store, self._announce, self._committed = store, announce, committed
        self._pending: list[Pending] = []
        self._writing: asyncio.Task[None] | None = None

    async def accept(self, delivery: Delivery) -> bool:
        """Store the delivery and its jobs; False where it was stored before.

        Raises StoreUnavailableError when the database cannot be written: the sender may send it again.
        """
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._pending.append((delivery, answer))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return await answer

    async def close(self) -> None:
        """Wait until all that was taken is stored or refused."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write_all(self) -> None:
        while self._pending:
            group, self._pending = self._pending[:LARGEST_GROUP], self._pending[LARGEST_GROUP:]
            try:
                new = await self._write([delivery for delivery, _ in group])
            except BaseException as error:
                _answer_all(group, error)
                if not isinstance(error, Exception):
                    raise
            else:
                _answer_each(group, new)
                if self._committed is not None:
                    self._committed()

    async def _write(self, group: Sequence[Delivery]) -> list[bool]:
        """One transaction; which of the group were new."""
        bodies = await _packed(group)
        async with self._store.begin() as conn:
            rows = [row_of(one, body) for one, body in zip(group, bodies, strict=True)]
            found = await insert_new(conn, INBOX, COLUMNS, rows, returning=("app_id", "guid", "id"))
            ids = {(app_id, guid): inbox_id for app_id, guid, inbox_id in found}
            new, jobs = [], []
            for delivery in group:
                inbox_id = ids.pop((clean_text(delivery.app_id), clean_text(delivery.guid)), None)
                new.append(inbox_id is not None)
                if inbox_id is not None:
                    jobs += [job.row_about(inbox_id, delivery) for job in delivery.jobs]
            await self._add(conn, jobs)
        return new

    async def _add(self, conn: AsyncConnection, jobs: Sequence[Row]) -> None:
        added = await add_rows(conn, jobs)
        if self._announce is not None and added:
            await self._announce(conn, added)


async def _packed(group: Sequence[Delivery]) -> Sequence[bytes | None]:
    """Compressed in another thread: zlib lets go of the interpreter, and the loop goes on answering."""
    if not any(delivery.body for delivery in group):
        return [None] * len(group)
    return await asyncio.to_thread(lambda: [packed(delivery.body) for delivery in group])


def _answer_each(group: Sequence[Pending], new: Sequence[bool]) -> None:
    for (_, answer), is_new in zip(group, new, strict=True):
        if not answer.done():
            answer.set_result(is_new)


def _answer_all(group: Sequence[Pending], error: BaseException) -> None:
    for _, answer in group:
        if not answer.done():
            answer.set_exception(error)
