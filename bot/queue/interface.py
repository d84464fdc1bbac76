"""What a queue is to those who use it: defer in your own transaction, register tasks, run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypedDict, Unpack

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.queue import rows
from bot.store.jobs import Claim

Clock = Callable[[], datetime]
"""the time now, aware"""


class RetryLater(Exception):  # noqa: N818  # a request of the task, not a fault: it does not count as a failure
    """Raised by a task that has to wait: a rate limit, a replica that lags. The job runs again after `seconds`; None is
    a little longer each time, for what is out of order and may be for hours."""

    def __init__(self, seconds: float | None, reason: str = "") -> None:
        super().__init__(reason or f"again in {seconds or 0:g} s")
        self.seconds = seconds


class Park(Exception):  # noqa: N818  # a request of the task, not a fault
    """Raised by a task whose installation is suspended or whose token was revoked: set the job aside until revived."""


class LeaseLost(Exception):  # noqa: N818  # names what happened
    """Another worker has the job now: nothing of this attempt may take effect."""


class JobOptions(TypedDict, total=False):
    """How a job is to be run; see NewJob."""

    run_at: datetime | None
    serial_key: str | None
    priority: int
    dedupe_key: str | None
    installation_id: int | None


@dataclass(slots=True)
class Job:
    """One call of a task, as the task sees it."""

    claim: Claim
    clock: Clock = field(repr=False)
    finished: bool = False
    begun: datetime = field(init=False)
    """when it was taken in hand: whatever it asks, it asks later"""

    def __post_init__(self) -> None:
        self.begun = self.clock()

    @property
    def task(self) -> str:
        return self.claim.task

    @property
    def ref_id(self) -> str:
        """The row that the job is about."""
        return self.claim.ref_id

    @property
    def attempt(self) -> int:
        """The fencing number: it grows each time the job is taken in hand."""
        return self.claim.attempt

    async def finish(self, conn: AsyncConnection) -> None:
        """Mark the job done in the transaction of its effects, so that both happen or neither.

        Raises LeaseLost where the job belongs to another worker by now; let it roll the transaction back.
        """
        if not await rows.finish(conn, self.claim, self.clock()):
            raise LeaseLost(f"job {self.claim.id} ({self.claim.task}), attempt {self.claim.attempt}")
        self.finished = True


TaskFunction = Callable[[Job], Awaitable[None]]


@frozen
class Task:
    """A registered task. After `max_attempts` failures a job is a dead letter, and when it was put off as often for
    `max_age` and longer: time alone passes for jobs that nobody had in hand, too."""

    name: str
    function: TaskFunction
    time_out: timedelta
    max_attempts: int
    max_age: timedelta = timedelta(days=7)


class Queue(Protocol):
    """Both engines."""

    async def defer(
        self, conn: AsyncConnection, task: str, ref_id: str | int, **options: Unpack[JobOptions]
    ) -> int | None:
        """Add a job in the caller's transaction; its id, or None where one with its dedupe key waits already."""

    def register(self, task: str, function: TaskFunction, time_out: timedelta, max_attempts: int) -> None:
        """Say what to call for a task. Unregistered tasks are left for a worker that knows them."""

    async def run(self) -> None:
        """Work until `stop()`; then give the running jobs their grace, and hand back the leases of the rest."""

    def stop(self) -> None: ...

    async def drain(self) -> int:
        """Work until nothing is due any more; how many jobs were taken in hand."""
