"""What happens to a claimed job? It runs within its time limit and is then done, put back, parked or given up."""

from __future__ import annotations

import asyncio
import logging
import random as random_numbers
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from bot.configuration.logs import log_context, scrub_secrets
from bot.queue import rows
from bot.queue.interface import Clock, Job, LeaseLost, Park, Refused, RetryLater, Task
from bot.store.engine import Store, StoreUnavailableError
from bot.store.jobs import LATER, ClaimedJob, Waiting

log = logging.getLogger(__name__)
PutBack = Callable[[Connection, Waiting], None]
_LONGEST_ERROR = 500
_LONGEST_ROUND = 500
"""installations; more would make the claim's statement long"""


def utc_now() -> datetime:
    return datetime.now(UTC)


class WorkerPace(Struct, frozen=True):
    """How a worker works. After two missed renewals the lease is still valid."""

    concurrency: int = 4
    """jobs at the same time, besides slow ones; one installation may have half as many in all"""
    slow_after: float = 10.0
    """seconds after which a job is slow: it probably waits for GitHub, and another one may start beside it"""
    lease: timedelta = timedelta(seconds=60)
    renew_every: float = 20.0
    poll_every: float = 1.0
    grace: float = 10.0
    """seconds that running jobs get after `stop()`; less than the supervisor's kill timeout"""

    @property
    def most(self) -> int:
        """How many jobs may run at the same time, slow ones included."""
        return 4 * self.concurrency

    @property
    def most_later(self) -> int:
        """How many jobs of backfills and maintenance may run at the same time: they may take hours."""
        return max(self.concurrency // 2, 1)

    @property
    def share(self) -> int:
        """How many jobs of one installation may run at the same time, so that others need not wait for them."""
        return max(self.concurrency // 2, 1)


@dataclass(slots=True)
class Worker:
    """The jobs of one process, with either engine."""

    store: Store
    clock: Clock = utc_now
    random: Callable[[], float] = random_numbers.random
    pace: WorkerPace = field(default_factory=WorkerPace)
    on_put_back: PutBack | None = None
    owner: str = field(default_factory=lambda: uuid.uuid4().hex)
    tasks: dict[str, Task] = field(default_factory=dict)
    running: dict[tuple[int, int], asyncio.Task[None]] = field(default_factory=dict)
    claimed: Counter[int] = field(default_factory=Counter)
    """the claimed jobs of each installation that have not ended"""
    later: int = 0
    """the claimed jobs of backfills and maintenance that have not ended"""
    served: frozenset[int] = frozenset()
    """the installations that had their turn in this round"""
    begun: dict[tuple[int, int], float] = field(default_factory=dict)
    """monotonic time at which each running job began"""
    on_ended: Callable[[str, str, float], None] | None = None
    """called after each attempt with its task, its outcome, and its duration in seconds"""
    beat: float | None = None
    """monotonic time of the last iteration of the loop that renews leases; None before it runs"""

    @property
    def is_alive(self) -> bool:
        """Whether leases are being renewed: two beats may be missed."""
        return self.beat is not None and time.monotonic() - self.beat < 3 * self.pace.renew_every + 1

    def lease(self) -> rows.Lease:
        now = self.clock()
        return rows.Lease(self.owner, now, now + self.pace.lease)

    def claim_fairly(
        self, connection: Connection, *, ahead: Sequence[ClaimedJob] = (), named: int | None = None
    ) -> ClaimedJob | None:
        """Claim the next job, or this one if that is as fair; None if no other job is due.

        Installations take turns in rounds, and one that has its share of the workers waits. So do backfills and
        maintenance if as many of them run as may. `ahead` are claims of the same transaction.
        """
        held, served, later = self.claimed.copy(), self.served, self.later
        for one in ahead:
            later += one.priority <= LATER
            if one.installation_id is not None:
                held[one.installation_id] += 1
                served = _with_turn(served, one.installation_id)
        busy = {one for one, jobs in held.items() if jobs >= self.pace.share}
        above = LATER if later >= self.pace.most_later else rows.ANY_PRIORITY
        turn, rest = rows.Wanted(self.tasks, above, busy | served), rows.Wanted(self.tasks, above, busy)
        lease, claim = self.lease(), None
        if named is not None:
            claim = rows.claim_one(connection, named, turn, lease)
        claim = claim or rows.claim(connection, turn, lease)
        return claim or (rows.claim(connection, rest, lease) if rest != turn else None)

    def count_claim(self, claim: ClaimedJob) -> None:
        """Count the job as its installation's until it ends."""
        self.later += claim.priority <= LATER
        if claim.installation_id is not None:
            self.claimed[claim.installation_id] += 1
            self.served = _with_turn(self.served, claim.installation_id)

    def free_slots(self, waiting: int = 0) -> int:
        """How many more jobs may start. `waiting` jobs are claimed and have not begun."""
        quick = sum(time.monotonic() - begun < self.pace.slow_after for begun in self.begun.values())
        return min(self.pace.concurrency - quick, self.pace.most - len(self.begun)) - waiting

    async def work(self, claim: ClaimedJob) -> None:
        """Run the job to its end. Cancelling this releases the lease."""
        job, key = Job(claim, self.clock), (claim.id, claim.attempt)
        task = self.tasks[claim.task]
        current = asyncio.current_task()
        if current is not None:
            self.running[key] = current
        begun, outcome = time.monotonic(), "error"
        self.begun[key] = begun
        try:
            with log_context(job=claim.id, task=claim.task, attempt=claim.attempt):
                outcome = await self._attempt(job, task)
        except asyncio.CancelledError:
            outcome = "handed back"
            await asyncio.shield(self._hand_back(claim))
            raise
        finally:
            self.running.pop(key, None)
            self.begun.pop(key, None)
            self.later -= claim.priority <= LATER
            if claim.installation_id is not None:
                self.claimed[claim.installation_id] -= 1
            if self.on_ended is not None:
                self.on_ended(claim.task, outcome, time.monotonic() - begun)

    async def _attempt(self, job: Job, task: Task) -> str:
        """Run one attempt; return its outcome in one or two words."""
        claim = job.claim
        if claim.failures >= task.max_attempts:
            await self._give_up(claim, f"its worker was lost {claim.failures} times")
            return "dead"
        try:
            async with asyncio.timeout(task.time_out.total_seconds()):
                await task.function(job)
        except RetryLater as later:
            return await self._put_off(claim, task, later)
        except Park as reason:
            await self._park(claim, str(reason))
            return "parked"
        except Refused as refused:
            return await self._doubt(claim, str(refused))
        except LeaseLost as lost:
            log.warning("lease lost", extra={"reason": str(lost)})
            return "lease lost"
        except Exception as error:
            return await self._fail(claim, task, error)
        if not job.finished:
            await self.store.write(rows.finish, claim, self.clock())
        return "done"

    async def _park(self, claim: ClaimedJob, reason: str) -> None:
        reason = scrub_secrets(reason)
        log.warning("job parked", extra={"reason": reason})
        await self.store.write(rows.park, claim, self.clock(), reason)

    async def _doubt(self, claim: ClaimedJob, reason: str) -> str:
        """Try again what GitHub refused; park it once it has refused for a day."""
        now = self.clock()
        since = claim.refused_since or now
        if now - since >= REFUSED_AT_MOST:
            await self._park(claim, reason)
            return "parked"
        wait = refusal_delay(now - since, self.random)
        log.warning("job refused, waits", extra={"wait_seconds": round(wait.total_seconds()), "reason": reason})
        await self._put_back(claim, now + wait, reason, {"refused_since": since})
        return "put off"

    async def _put_off(self, claim: ClaimedJob, task: Task, later: RetryLater) -> str:
        if claim.attempt >= task.max_attempts and self.clock() - claim.created_at > task.max_age:
            log.warning("job put off for too long", extra={"reason": str(later)})
            await self._give_up(claim, f"put off for more than {task.max_age.days} days: {later}")
            return "dead"
        wait = self._wait(claim, later)
        await self._put_back(claim, self.clock() + wait, str(later))
        return "put off"

    def _wait(self, claim: ClaimedJob, later: RetryLater) -> timedelta:
        if later.seconds is not None:
            return timedelta(seconds=max(later.seconds, 0))
        wait = retry_delay(claim.attempt, self.random)
        log.warning("job waits", extra={"wait_seconds": round(wait.total_seconds()), "reason": str(later)})
        return wait

    async def _fail(self, claim: ClaimedJob, task: Task, error: Exception) -> str:
        reason = scrub_secrets(f"{type(error).__name__}: {error}")[:_LONGEST_ERROR]
        failures = claim.failures + 1
        limits = {"failures": failures, "max_attempts": task.max_attempts}
        log.warning("job failed", extra=limits, exc_info=error)
        if failures >= task.max_attempts:
            await self._give_up(claim, reason)
            return "dead"
        wait = retry_delay(failures, self.random)
        await self._put_back(claim, self.clock() + wait, reason, {"failures": failures})
        return "failed"

    async def _give_up(self, claim: ClaimedJob, reason: str) -> None:
        reason = scrub_secrets(reason)
        await self.store.write(rows.give_up, claim, self.clock(), reason)

    async def _put_back(
        self, claim: ClaimedJob, run_at: datetime, error: str, more: Mapping[str, Any] = rows.NO_VALUES
    ) -> None:
        reason = scrub_secrets(error)

        def save(connection: Connection) -> None:
            mine = rows.return_to_queue(connection, claim, run_at, error=reason, more=more)
            if mine and self.on_put_back is not None:
                self.on_put_back(connection, claim.requeued_job(run_at))

        await self.store.write(save)

    async def _hand_back(self, claim: ClaimedJob) -> None:
        def save(connection: Connection) -> None:
            mine = rows.return_to_queue(connection, claim, None, error="handed back at shutdown")
            if mine and self.on_put_back is not None:
                self.on_put_back(connection, claim.requeued_job(self.clock()))

        await self.store.write(save)

    async def keep_leases(self) -> None:
        """Renew leases forever; cancel a job whose lease was lost, since it runs elsewhere."""
        while True:
            self.beat = time.monotonic()
            await asyncio.sleep(self.pace.renew_every)
            if self.running:
                try:
                    await self.renew()
                except StoreUnavailableError as error:
                    log.warning("leases not renewed", extra={"reason": str(error)})

    async def renew(self) -> None:
        """Renew all leases once."""
        held = set(self.running)
        mine = await self.store.write(rows.renew, self.lease(), held)
        for key in held - mine:
            if key in self.running:
                self.running[key].cancel()


def _with_turn(served: frozenset[int], installation: int) -> frozenset[int]:
    """The installations of the round, after this one's turn; its second turn begins the next round."""
    return (
        frozenset([installation])
        if installation in served or len(served) >= _LONGEST_ROUND
        else served | {installation}
    )


FIRST = timedelta(seconds=5)
LONGEST = timedelta(hours=1)
FIRST_DOUBT = timedelta(seconds=2)
REFUSED_AT_MOST = timedelta(days=1)
"""a job that GitHub has refused for so long is parked"""


def retry_delay(failures: int, random: Callable[[], float]) -> timedelta:
    """5 s, doubled with each failure, at most an hour; half of it fixed and half scaled by `random` in [0, 1).

    The jitter keeps jobs that failed together from retrying together.
    """
    doublings = min(max(failures - 1, 0), 20)
    full_delay = min(FIRST * (1 << doublings), LONGEST)
    return full_delay * (0.5 + random() / 2)


def refusal_delay(refused_for: timedelta, random: Callable[[], float]) -> timedelta:
    """As long again as GitHub has refused already: 2, 4, 8 s and so on, at most an hour, and up to a quarter more."""
    full_delay = min(max(refused_for, FIRST_DOUBT), LONGEST)
    return full_delay * (1 + random() / 4)
