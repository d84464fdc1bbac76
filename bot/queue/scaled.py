"""How does the queue run on many machines? procrastinate on PostgreSQL wakes workers; our own rows describe the jobs.

A procrastinate job carries one id. It is deferred in the transaction of the data and received by exactly one worker,
which claims our row with attempt, lease, failures and keys. A wake-up without effect is harmless, and one that is lost
with its worker is sent again by the sweep.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Self, Unpack

import procrastinate
from procrastinate import exceptions
from procrastinate.jobs import Job as WakeUp
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from sqlalchemy import Connection, text

from bot.queue import rows
from bot.queue.interface import JobOptions, Task, TaskFunction
from bot.queue.worker import Worker, utc_now
from bot.store.engine import StoreUnavailableError
from bot.store.jobs import ClaimedJob, NewJob, Waiting, add_jobs

log = logging.getLogger(__name__)

QUEUE = "almanac"
WAKE = "almanac.wake"
SWEEP_EVERY = 10.0
"""seconds; also the heartbeat of procrastinate's workers, which count as lost after missing three"""
BEFORE_AGAIN = 1.0
"""seconds before the next try after the database is lost"""
_RUNNABLE = text(
    "SELECT queueing_lock FROM procrastinate_jobs WHERE status = 'todo' AND queueing_lock = ANY(:locks)"
    " AND (scheduled_at IS NULL OR scheduled_at <= now())"
)
_CANCEL = text(
    "SELECT procrastinate_cancel_job_v1(id, false, true) FROM procrastinate_jobs"
    " WHERE status = 'todo' AND queueing_lock = ANY(:locks)"
)


class ScaledQueue:
    """The queue of several web and worker processes. Use as `async with ScaledQueue(worker) as queue`."""

    def __init__(self, worker: Worker) -> None:
        if worker.store.dialect != "postgresql":
            raise ValueError("procrastinate needs PostgreSQL")
        self._worker = worker
        worker.on_put_back = self._wake_again
        address = worker.store.url.set(drivername="postgresql").render_as_string(hide_password=False)
        connector = procrastinate.PsycopgConnector(conninfo=address, min_size=1, max_size=4)
        self._app = procrastinate.App(connector=connector)
        # Defers on the connection of the caller's transaction, so its own one is never opened.
        self._deferring = JobManager(procrastinate.SyncPsycopgConnector())
        self._app.task(name=WAKE, queue=QUEUE)(self._wake)
        self._running: asyncio.Task[None] | None = None
        self._stopping = False
        self._claiming = asyncio.Lock()
        self._ended = asyncio.Event()
        self._taken = 0

    async def __aenter__(self) -> Self:
        await self._app.open_async()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._app.close_async()

    def defer(self, connection: Connection, task: str, ref_id: str | int, **options: Unpack[JobOptions]) -> int | None:
        """Add a job in the caller's transaction; return its id, or None if one with its dedupe key already waits."""
        added = add_jobs(connection, [NewJob(task, ref_id, **options)], self._worker.clock())
        self.announce(connection, added)
        return added[0].id if added else None

    def announce(self, connection: Connection, jobs: Sequence[Waiting]) -> None:
        """Defer one wake-up per job in the transaction that adds the jobs: a rollback removes both."""
        if not jobs:
            return
        driver: Any = connection.connection.driver_connection
        if driver.autocommit:
            raise RuntimeError("jobs are deferred inside a transaction only")
        self._deferring.batch_defer_jobs([self._wake_up(job) for job in jobs], connection=driver)

    def _wake_up(self, job: Waiting) -> WakeUp:
        return WakeUp(
            id=None,
            queue=QUEUE,
            lock=None,
            queueing_lock=f"job:{job.id}",
            task_name=WAKE,
            task_kwargs={"job": job.id},
            priority=job.priority,
            scheduled_at=self._on_the_servers_clock(job.run_at),
        )

    def _on_the_servers_clock(self, run_at: datetime) -> datetime | None:
        """procrastinate compares with the server's time, but our clock may be injected: preserve the delay from now."""
        wait = run_at - self._worker.clock()
        return utc_now() + wait if wait > timedelta(0) else None

    def _wake_again(self, connection: Connection, job: Waiting) -> None:
        """Wake a job that was put back; an existing wake-up suffices, and its error must not fail the transaction."""
        with contextlib.suppress(exceptions.AlreadyEnqueued), connection.begin_nested():
            self.announce(connection, [job])

    def nudge(self) -> None:
        """Nothing to do: the database notifies the workers."""

    def register(self, task: str, function: TaskFunction, time_out: timedelta, max_attempts: int) -> None:
        self._worker.tasks[task] = Task(task, function, time_out, max_attempts)

    async def _wake(self, job: int) -> None:
        """procrastinate's task: runs the job if it is due, then whatever was waiting for its serial key.

        If its installation has its share of the workers, another one's job runs instead.
        """
        next_id: int | None = job
        while not self._stopping and (claim := await self._claim(next_id)) is not None:
            self._taken += 1
            await self._worker.work(claim)
            self._ended.set()
            next_id = await self._next_of(claim.serial_key)

    async def _claim(self, job: int | None) -> ClaimedJob | None:
        """Claim this job, or any other: the wake-up of a job that was passed over is gone."""
        worker = self._worker
        async with self._claiming:
            while worker.free_slots() <= 0 and not self._stopping:
                await self._until_one_ends()
            claim = await worker.store.write(worker.claim_fairly, named=job)
            if claim is not None:
                worker.count_claim(claim)
            return claim

    async def _until_one_ends(self) -> None:
        """Return when a job has ended, or after a moment: meanwhile one may have become slow."""
        self._ended.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._worker.pace.poll_every):
                await self._ended.wait()

    async def _next_of(self, serial_key: str | None) -> int | None:
        """The next job of this key; None, with a new wake-up for it, if a job of higher priority goes first."""
        if serial_key is None:
            return None
        tasks, now = self._worker.tasks, self._worker.clock()

        def read(connection: Connection) -> tuple[Waiting | None, bool]:
            following = rows.next_ready(connection, serial_key, tasks, now)
            return following, following is not None and rows.is_outranked(connection, following, tasks, now)

        following, outranked = await self._worker.store.read(read)
        if following is None or not outranked:
            return None if following is None else following.id
        await self._worker.store.write(self._wake_again, following)
        return None

    async def run(self) -> None:
        """Work until `stop()`."""
        self._stopping = False
        lease_keeper = asyncio.create_task(self._worker.keep_leases())
        sweeper = asyncio.create_task(self._sweep_for_ever())
        self._running = asyncio.create_task(self._work_for_ever())
        try:
            await self._running
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        finally:
            for side in (lease_keeper, sweeper):
                side.cancel()
            await asyncio.gather(lease_keeper, sweeper, return_exceptions=True)

    def stop(self) -> None:
        """procrastinate treats a cancelled run as a request to stop gracefully."""
        self._stopping = True
        if self._running is not None:
            self._running.cancel()

    async def _work_for_ever(self) -> None:
        """Restart procrastinate's worker, which gives up if the database is gone when it fetches a job."""
        while True:
            try:
                return await self._work(wait=True)
            except exceptions.ConnectorException as error:
                log.warning("queue waits for the database", extra={"reason": str(error.__cause__ or error)})
                await asyncio.sleep(BEFORE_AGAIN)

    async def _work(self, *, wait: bool) -> None:
        pace = self._worker.pace
        await self._app.run_worker_async(
            queues=[QUEUE],
            wait=wait,
            concurrency=pace.most if wait else pace.concurrency,
            install_signal_handlers=False,
            listen_notify=wait,
            fetch_job_polling_interval=pace.poll_every,
            # Without `wait` it stops as soon as no more jobs are due: running jobs may then take their time.
            shutdown_graceful_timeout=pace.grace if wait else None,  # type: ignore[arg-type]  # None is documented
            update_heartbeat_interval=SWEEP_EVERY,
            stalled_worker_timeout=3 * SWEEP_EVERY,
            delete_jobs="always",
        )

    async def drain(self) -> int:
        """Work until no job is due; return the number of jobs claimed."""
        before = self._taken
        while await self.sweep():
            seen = self._taken
            await self._work(wait=False)
            if self._taken == seen:
                break
        return self._taken - before

    # --- the sweep: recovers the jobs of lost workers ----------------------------------------------------------------

    async def _sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            try:
                await self.sweep()
            except (StoreUnavailableError, exceptions.ConnectorException) as error:
                log.warning("sweep waits for the database", extra={"reason": str(error)})

    async def sweep(self) -> int:
        """Send a wake-up for each due job without one that could run now; return the number of due jobs."""
        for stale in await self._app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=3 * SWEEP_EVERY):
            await self._app.job_manager.finish_job(stale, Status.FAILED, delete_job=True)

        return await self._worker.store.write(self._wake_due)

    def _wake_due(self, connection: Connection) -> int:
        due = rows.due_jobs(connection, self._worker.tasks, self._worker.clock())
        keys = [f"job:{job.id}" for job in due]
        awake = set(connection.execute(_RUNNABLE, {"locks": keys}).scalars())
        asleep = [job for job, key in zip(due, keys, strict=True) if key not in awake]
        # Remove wake-ups that are scheduled later than their job is due.
        connection.execute(_CANCEL, {"locks": [f"job:{job.id}" for job in asleep]})
        for job in asleep:
            self._wake_again(connection, job)
        return len(due)
