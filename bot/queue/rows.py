"""How does a job change its state? One statement for each transition, the same on both databases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.dml import ReturningUpdate

from bot.store.jobs import JOB, ClaimedJob, Waiting

_CLAIM_COLUMNS = (
    JOB.c.id,
    JOB.c.task,
    JOB.c.ref_id,
    JOB.c.serial_key,
    JOB.c.attempt,
    JOB.c.failures,
    JOB.c.priority,
    JOB.c.created_at,
    JOB.c.refused_since,
    JOB.c.installation_id,
)
NO_VALUES: Mapping[str, Any] = MappingProxyType({})
_NOW = bindparam("now", type_=JOB.c.run_at.type)
_TASKS = bindparam("tasks", type_=JOB.c.task.type, expanding=True)
_ABOVE = bindparam("above", type_=JOB.c.priority.type)
_PASSED_OVER = bindparam("passed_over", type_=JOB.c.installation_id.type, expanding=True)


class Lease(Struct, frozen=True):
    """Who claims a job, when, and until when, unless the lease is renewed."""

    owner: str
    now: datetime
    until: datetime


ANY_PRIORITY = -1000
"""below every priority"""


class Wanted(Struct, frozen=True):
    """Which ready jobs may be claimed: of these tasks, above this priority, and not of these installations."""

    tasks: Collection[str]
    above: int = ANY_PRIORITY
    passed_over: Collection[int] = ()

    def values(self) -> dict[str, Any]:
        """The values of its statement."""
        given: dict[str, Any] = {"tasks": list(self.tasks), "above": self.above}
        return given | ({"passed_over": sorted(self.passed_over)} if self.passed_over else {})


def claim(connection: Connection, wanted: Wanted, lease: Lease) -> ClaimedJob | None:
    """Claim the first job that is due: one with an expired lease, else the oldest ready one of the highest priority.

    None if nothing is due, or if another worker was faster with a job of the same serial key.
    """
    return _claim(connection, _claim_first_statement(fair=bool(wanted.passed_over)), wanted, lease)


def claim_one(connection: Connection, job_id: int, wanted: Wanted, lease: Lease) -> ClaimedJob | None:
    """Claim this job if it is due, no other job of its serial key runs, and it is wanted or its lease has expired."""
    return _claim(connection, _claim_named_statement(fair=bool(wanted.passed_over)), wanted, lease, wanted=job_id)


def _claim(
    connection: Connection, statement: ReturningUpdate[Any], which: Wanted, lease: Lease, **given: Any
) -> ClaimedJob | None:
    values = which.values() | {"now": lease.now, "taker": lease.owner, "until": lease.until}
    try:
        with connection.begin_nested():
            row = connection.execute(statement, values | given).one_or_none()
    except IntegrityError:
        return None
    return None if row is None else ClaimedJob(**row._mapping)


# Statements are built once: workers run them again and again, and building one takes longer than running it.
@cache
def _claim_first_statement(*, fair: bool) -> ReturningUpdate[Any]:
    ready = _ready_jobs(fair=fair).scalar_subquery()
    return _claim_statement(JOB.c.id == func.coalesce(_expired_jobs().scalar_subquery(), ready))


@cache
def _claim_named_statement(*, fair: bool) -> ReturningUpdate[Any]:
    other = JOB.alias("other")
    busy = select(other.c.id).where(other.c.serial_key == JOB.c.serial_key, other.c.state == "running")
    ready = and_(JOB.c.state == "ready", JOB.c.run_at <= _NOW, JOB.c.priority > _ABOVE, ~busy.exists())
    if fair:
        ready &= JOB.c.installation_id.is_(None) | JOB.c.installation_id.not_in(_PASSED_OVER)
    due = or_(
        ready,
        and_(JOB.c.state == "running", JOB.c.lease_until <= _NOW),
    )
    return _claim_statement((JOB.c.id == bindparam("wanted", type_=JOB.c.id.type)) & JOB.c.task.in_(_TASKS) & due)


def _claim_statement(which: ColumnElement[bool]) -> ReturningUpdate[Any]:
    # A job that still has an owner lost its worker. That counts as a failure, or a job that crashes workers would
    # return forever.
    lost = JOB.c.owner.is_not(None)
    values = {
        "failures": JOB.c.failures + case((lost, 1), else_=0),
        "attempt": JOB.c.attempt + 1,
        "state": "running",
        "owner": bindparam("taker", type_=JOB.c.owner.type),
        "lease_until": bindparam("until", type_=JOB.c.lease_until.type),
    }
    return update(JOB).where(which).values(values).returning(*_CLAIM_COLUMNS)


def _expired_jobs() -> Select[Any]:
    lost = JOB.alias("lost")
    late = (lost.c.state == "running") & (lost.c.lease_until <= _NOW) & lost.c.task.in_(_TASKS)
    query = select(lost.c.id).where(late).order_by(lost.c.lease_until, lost.c.id).limit(1)
    # SQLite's compiler drops the lock; only one connection writes there, so none is needed.
    return query.with_for_update(skip_locked=True)


def _ready_jobs(*, fair: bool) -> Select[Any]:
    mine, other = JOB.alias("mine"), JOB.alias("other")
    busy = select(other.c.id).where(other.c.serial_key == mine.c.serial_key, other.c.state == "running")
    due = (mine.c.state == "ready") & (mine.c.run_at <= _NOW) & mine.c.task.in_(_TASKS) & ~busy.exists()
    due &= mine.c.priority > _ABOVE
    if fair:
        due &= mine.c.installation_id.is_(None) | mine.c.installation_id.not_in(_PASSED_OVER)
    order = (mine.c.priority.desc(), mine.c.run_at, mine.c.id)
    return select(mine.c.id).where(due).order_by(*order).limit(1).with_for_update(skip_locked=True)


def finish(connection: Connection, claim: ClaimedJob, now: datetime) -> bool:
    """Mark the job done. False if the lease was lost."""
    return _end(connection, claim, state="done", finished_at=now, last_error=None)


def give_up(connection: Connection, claim: ClaimedJob, now: datetime, error: str) -> bool:
    """Make the job a dead letter. False if the lease was lost."""
    return _end(connection, claim, state="dead", finished_at=now, last_error=error)


def park(connection: Connection, claim: ClaimedJob, now: datetime, reason: str) -> bool:
    """Park the job; from `now` on it waits to be looked at again. False if the lease was lost."""
    return _end(connection, claim, state="parked", run_at=now, last_error=reason)


def return_to_queue(
    connection: Connection,
    claim: ClaimedJob,
    run_at: datetime | None,
    *,
    error: str,
    more: Mapping[str, Any] = NO_VALUES,
) -> bool:
    """Make the job ready again at `run_at` (None: the original time). False if the lease was lost.

    `more` are other columns to set. If an equal job is waiting by now, that one does the work and this one is done.
    """
    values: dict[str, Any] = {"state": "ready", "last_error": error, **more}
    if run_at is not None:
        values["run_at"] = run_at
    try:
        with connection.begin_nested():
            return _end(connection, claim, **values)
    except IntegrityError:
        return _end(
            connection, claim, state="done", last_error="its like is waiting", finished_at=run_at or claim.created_at
        )


def _end(connection: Connection, claim: ClaimedJob, **values: Any) -> bool:
    mine = (JOB.c.id == claim.id) & (JOB.c.state == "running") & (JOB.c.attempt == claim.attempt)
    done = connection.execute(update(JOB).where(mine).values(**values, owner=None, lease_until=None))
    return done.rowcount == 1


def renew(connection: Connection, lease: Lease, held: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """Renew the leases of the jobs this worker is running; return the (id, attempt) of those that are still its own.

    Other leases of its own are not renewed: if the end of a job could not be written, its lease expires and it runs
    again.
    """
    mine = (JOB.c.owner == lease.owner) & (JOB.c.state == "running") & JOB.c.id.in_([number for number, _ in held])
    statement = update(JOB).where(mine).values(lease_until=lease.until).returning(JOB.c.id, JOB.c.attempt)
    return {(row.id, row.attempt) for row in connection.execute(statement)}


def next_ready(connection: Connection, serial_key: str, tasks: Collection[str], now: datetime) -> Waiting | None:
    """The first ready job of this serial key, or None."""
    ready = (JOB.c.state == "ready") & (JOB.c.run_at <= now) & (JOB.c.serial_key == serial_key)
    query = select(JOB).where(ready, JOB.c.task.in_(tasks))
    row = connection.execute(query.order_by(JOB.c.priority.desc(), JOB.c.run_at, JOB.c.id).limit(1)).first()
    return None if row is None else Waiting(row.id, row.task, row.serial_key, row.priority, row.run_at)


def is_outranked(connection: Connection, job: Waiting, tasks: Collection[str], now: datetime) -> bool:
    """Whether a job of higher priority is ready, whatever its serial key."""
    above = (JOB.c.state == "ready") & (JOB.c.run_at <= now) & (JOB.c.priority > job.priority)
    return connection.execute(select(JOB.c.id).where(above, JOB.c.task.in_(tasks)).limit(1)).first() is not None


def due_jobs(connection: Connection, tasks: Collection[str], now: datetime, limit: int = 1000) -> Sequence[Waiting]:
    """The jobs that could be claimed now, in order."""
    late = (JOB.c.state == "running") & (JOB.c.lease_until <= now)
    ready = (JOB.c.state == "ready") & (JOB.c.run_at <= now)
    query = select(JOB).where(or_(late, ready), JOB.c.task.in_(tasks))
    rows = connection.execute(query.order_by(JOB.c.priority.desc(), JOB.c.run_at, JOB.c.id).limit(limit))
    return [Waiting(row.id, row.task, row.serial_key, row.priority, row.run_at) for row in rows]
