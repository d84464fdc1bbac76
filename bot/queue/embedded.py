"""How does the queue run without another service? Workers claim rows of the job table. One process on SQLite."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Unpack

from sqlalchemy import Connection

from bot.queue.interface import JobOptions, Task, TaskFunction
from bot.queue.worker import Worker
from bot.store.engine import StoreUnavailableError
from bot.store.jobs import ClaimedJob, NewJob, Waiting, add_jobs

log = logging.getLogger(__name__)


class EmbeddedQueue:
    """Claims jobs with UPDATE … RETURNING; also correct on PostgreSQL, where several processes may run it."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._awake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = False

    def defer(self, connection: Connection, task: str, ref_id: str | int, **options: Unpack[JobOptions]) -> int | None:
        """Add a job in the caller's transaction; return its id, or None if one with its dedupe key already waits."""
        added = add_jobs(connection, [NewJob(task, ref_id, **options)], self._worker.clock())
        if self._loop is not None:
            # A transaction may run in the database's own thread, where an asyncio event must not be set.
            self._loop.call_soon_threadsafe(self._awake.set)
        return added[0].id if added else None

    def announce(self, connection: Connection, jobs: Sequence[Waiting]) -> None:
        """Nothing to do inside the transaction: the rows are the queue."""

    def nudge(self) -> None:
        """Look for jobs now, after a commit."""
        self._awake.set()

    def register(self, task: str, function: TaskFunction, time_out: timedelta, max_attempts: int) -> None:
        self._worker.tasks[task] = Task(task, function, time_out, max_attempts)

    def stop(self) -> None:
        self._stopping = True
        self._awake.set()

    async def run(self) -> None:
        """Work until `stop()`."""
        self._stopping, self._loop = False, asyncio.get_running_loop()
        working: set[asyncio.Task[None]] = set()
        lease_keeper = asyncio.create_task(self._worker.keep_leases())
        try:
            while not self._stopping:
                self._awake.clear()
                free = self._worker.free_slots(waiting=len(working) - len(self._worker.begun))
                claims = await self._claims(free)
                for claim in claims:
                    task = asyncio.create_task(self._worker.work(claim))
                    working.add(task)
                    task.add_done_callback(working.discard)
                    task.add_done_callback(self._on_ended)
                # Unless every free slot was filled, no job is due or no slot is free: wait until something happens.
                if free <= 0 or len(claims) < free:
                    await self._rest()
        finally:
            await self._finish_running(working)
            lease_keeper.cancel()
            await asyncio.gather(lease_keeper, return_exceptions=True)

    def _on_ended(self, task: asyncio.Task[None]) -> None:
        self._awake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            # The job's lease will expire, and the job runs again.
            log.error("end of a job not written", exc_info=error)

    async def _claims(self, free: int) -> list[ClaimedJob]:
        """Claim as many jobs as there are free slots, in one transaction."""
        worker = self._worker
        if free <= 0 or not worker.tasks:
            return []

        def claim_ready(connection: Connection) -> list[ClaimedJob]:
            claims: list[ClaimedJob] = []
            while len(claims) < free and (claim := worker.claim_fairly(connection, ahead=claims)) is not None:
                claims.append(claim)
            return claims

        try:
            claims = await worker.store.write(claim_ready)
        except StoreUnavailableError as error:
            log.warning("jobs not claimed", extra={"reason": str(error)})
            return []
        for claim in claims:
            worker.count_claim(claim)
        return claims

    async def _rest(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._worker.pace.poll_every):
                await self._awake.wait()

    async def _finish_running(self, working: set[asyncio.Task[None]]) -> None:
        """Give running jobs the grace period to end; cancel the rest, which releases their leases."""
        if not working:
            return
        _, late = await asyncio.wait(working, timeout=self._worker.pace.grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def drain(self) -> int:
        """Work until no job is due; return the number of jobs claimed."""
        claimed = 0
        while claims := await self._claims(self._worker.pace.concurrency):
            claimed += len(claims)
            await asyncio.gather(*(self._worker.work(claim) for claim in claims))
        return claimed
