"""How deliveries are stored fast and safely: all that wait share one transaction, and each is answered after it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.border import clean_text
from bot.store.bulk import Row, inserting, inserting_quietly
from bot.store.engine import Store
from bot.store.inbox import COLUMNS, INBOX, Delivery, packed, row_of
from bot.store.jobs import COLUMNS as JOB_COLUMNS
from bot.store.jobs import JOB, Waiting, adding
from bot.store.turn import Ask, Plan, Spelling, run, spelling_of

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
        if self._store.dialect == "sqlite" and self._announce is None:
            return await self._store.write_at_once(_storing_quietly(group))
        async with self._store.begin() as conn:
            new, added = await run(conn, _storing(spelling_of(conn), group))
            if self._announce is not None and added:
                await self._announce(conn, added)
        return new


def _storing(spelling: Spelling, group: Sequence[Delivery]) -> Plan[tuple[list[bool], list[Waiting]]]:
    """Which of the group are new, and the jobs they add. Compressing is part of it: on SQLite it is off the loop."""
    rows = [row_of(one, packed(one.body)) for one in group]
    found = yield from inserting(spelling, INBOX, COLUMNS, rows, returning=("app_id", "guid", "id"))
    ids = {(app_id, guid): inbox_id for app_id, guid, inbox_id in found}
    numbers = [ids.pop((clean_text(one.app_id), clean_text(one.guid)), None) for one in group]
    added = yield from adding(spelling, _jobs_of(group, numbers))
    return [number is not None for number in numbers], added


def _storing_quietly(group: Sequence[Delivery]) -> Plan[list[bool]]:
    """The same on SQLite for a queue that needs no word of the jobs: few statements that give few rows.

    The driver lets go of Python for each row it is asked for, and waits for the event loop to get it back. So the ids
    are given here, which the one writer of the file may do, and what came back is told in one row.
    """
    ((last,),) = yield Ask("SELECT coalesce(max(id), 0) FROM inbox")
    rows = [(last + place, *row_of(one, packed(one.body))) for place, one in enumerate(group, 1)]
    yield from inserting_quietly(INBOX, ("id", *COLUMNS), rows)
    ((stored,),) = yield Ask("SELECT json_group_array(id) FROM inbox WHERE id > ?", (last,))
    kept = frozenset(json.loads(stored))
    numbers = [row[0] if row[0] in kept else None for row in rows]
    yield from inserting_quietly(JOB, JOB_COLUMNS, _jobs_of(group, numbers))
    return [number is not None for number in numbers]


def _jobs_of(group: Sequence[Delivery], numbers: Sequence[int | None]) -> list[Row]:
    """The jobs of those deliveries that got a number."""
    stored = ((one, number) for one, number in zip(group, numbers, strict=True) if number is not None)
    return [job.row_about(number, one) for one, number in stored for job in one.jobs]


def _answer_each(group: Sequence[Pending], new: Sequence[bool]) -> None:
    for (_, answer), is_new in zip(group, new, strict=True):
        if not answer.done():
            answer.set_result(is_new)


def _answer_all(group: Sequence[Pending], error: BaseException) -> None:
    for _, answer in group:
        if not answer.done():
            answer.set_exception(error)
