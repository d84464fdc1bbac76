"""What is a queue to its users? They defer in their own transaction, register tasks, and run it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypedDict, Unpack

from msgspec import Struct
from sqlalchemy import Connection

from bot.queue import rows
from bot.store.jobs import ClaimedJob

Clock = Callable[[], datetime]
"""the current time, with a time zone"""


class RetryLater(Exception):  # noqa: N818  # a request of the task, not a fault: it does not count as a failure
    """Raised by a task that has to wait: for a rate limit, or a replica that lags. The job runs again after `seconds`.

    None means an increasing delay, for an outage that may last hours.
    """

    def __init__(self, seconds: float | None, reason: str = "") -> None:
        super().__init__(reason or f"again in {seconds or 0:g} s")
        self.seconds = seconds


class Park(Exception):  # noqa: N818  # a request of the task, not a fault
    """Raised by a task whose installation is suspended or whose token was revoked: parks the job until revived."""


class Refused(Exception):  # noqa: N818  # names what happened
    """Raised by a task that GitHub refuses, perhaps only for now: its replicas lag, for tokens and for objects.

    The job is tried again for a day, and then parked.
    """


class LeaseLost(Exception):  # noqa: N818  # names what happened
    """Another worker has claimed the job: nothing of this attempt may take effect."""


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

    claim: ClaimedJob
    clock: Clock = field(repr=False)
    finished: bool = False
    begun: datetime = field(init=False)
    """when this attempt started: all its requests are later"""

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
        """The fencing number: it increases with each claim."""
        return self.claim.attempt

    @property
    def refused_for(self) -> timedelta:
        """How long GitHub has refused what this job asks for; zero at its first refusal."""
        since = self.claim.refused_since
        return timedelta(0) if since is None else self.clock() - since

    def doubt(self, reason: str, patience: timedelta) -> None:
        """Raise Refused unless GitHub has given this answer for as long as `patience`."""
        if self.refused_for < patience:
            raise Refused(reason)

    def finish(self, connection: Connection) -> None:
        """Mark the job done in the transaction of its effects, so that both happen or neither.

        Raises LeaseLost if another worker owns the job by now; let it roll the transaction back.
        """
        if not rows.finish(connection, self.claim, self.clock()):
            raise LeaseLost(f"job {self.claim.id} ({self.claim.task}), attempt {self.claim.attempt}")
        self.finished = True


TaskFunction = Callable[[Job], Awaitable[None]]


class Task(Struct, frozen=True):
    """A registered task. After `max_attempts` failures a job becomes a dead letter.

    So does a job that was put off as often and is older than `max_age`: age by itself does not count, because it also
    grows while nobody claims the job.
    """

    name: str
    function: TaskFunction
    time_out: timedelta
    max_attempts: int
    max_age: timedelta = timedelta(days=7)


class Queue(Protocol):
    """The interface of both engines."""

    def defer(self, connection: Connection, task: str, ref_id: str | int, **options: Unpack[JobOptions]) -> int | None:
        """Add a job in the caller's transaction; return its id, or None if one with its dedupe key already waits."""

    def register(self, task: str, function: TaskFunction, time_out: timedelta, max_attempts: int) -> None:
        """Register the function of a task. Unregistered tasks are left for a worker that knows them."""

    async def run(self) -> None:
        """Work until `stop()`; then give running jobs the grace period, and release the leases of the rest."""

    def stop(self) -> None: ...

    async def drain(self) -> int:
        """Work until no job is due; return the number of jobs claimed."""
