"""Which jobs wait, run or have ended? Both queue engines share these rows, so that they behave alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import fields
from sqlalchemy import Column, Connection, Index, Table, delete, func, or_, select, text, update

from bot.store.columns import METADATA, CleanText, Instant, WholeNumber, counters, moment_of
from bot.store.dialect import Row
from bot.store.inserts import insert_new
from bot.store.installations import INSTALLATION

_READY, _RUNNING = text("state = 'ready'"), text("state = 'running'")
_WAITING = text("state IN ('ready', 'parked')")
_STOPPED = text("state IN ('parked', 'dead')")
_HAS_KEY, _ENDED = text("state = 'ready' AND dedupe_key IS NOT NULL"), text("finished_at IS NOT NULL")

JOB = Table(
    "job",
    METADATA,
    Column("id", WholeNumber, primary_key=True),
    Column("task", CleanText, nullable=False),
    Column("ref_id", CleanText, nullable=False),
    Column("installation_id", WholeNumber),
    Column("serial_key", CleanText),
    Column("dedupe_key", CleanText),
    *counters("priority", "attempt", "failures"),
    Column("state", CleanText, nullable=False, server_default="ready"),
    Column("created_at", Instant, nullable=False),
    Column("run_at", Instant, nullable=False),
    Column("owner", CleanText),
    Column("lease_until", Instant),
    Column("finished_at", Instant),
    Column("last_error", CleanText),
    Column("refused_since", Instant),
)
# A job changes its state three times and each index that covers it is rewritten, so each index holds only the jobs that
# its query looks for. It is sorted as jobs are claimed, so that a claim reads the first row and not the backlog; with
# the installation, the backlog of one that has its share of the workers is passed without reading its rows.
Index(
    "ix_job_ready",
    JOB.c.priority.desc(),
    JOB.c.run_at,
    JOB.c.id,
    JOB.c.installation_id,
    sqlite_where=_READY,
    postgresql_where=_READY,
)
Index("ix_job_lease", JOB.c.lease_until, sqlite_where=_RUNNING, postgresql_where=_RUNNING)
# The database enforces two rules: one waiting job per dedupe key, one running job per serial key.
Index("uq_job_waiting", JOB.c.dedupe_key, unique=True, sqlite_where=_HAS_KEY, postgresql_where=_HAS_KEY)
Index("uq_job_serial", JOB.c.serial_key, unique=True, sqlite_where=_RUNNING, postgresql_where=_RUNNING)
Index("ix_job_next", JOB.c.serial_key, sqlite_where=_READY, postgresql_where=_READY)
Index("ix_job_installation", JOB.c.installation_id, sqlite_where=_WAITING, postgresql_where=_WAITING)
Index("ix_job_finished", JOB.c.finished_at, sqlite_where=_ENDED, postgresql_where=_ENDED)
Index("ix_job_stopped", JOB.c.state, sqlite_where=_STOPPED, postgresql_where=_STOPPED)

COLUMNS = ("task", "ref_id", "installation_id", "serial_key", "dedupe_key", "priority", "run_at", "created_at")
NORMAL = 0
DIGESTS = -5
"""priority of digests: landings go first"""
LATER = -10
"""priority of backfill and maintenance; higher numbers run first"""
LAST = -20
"""priority of what should find nothing else waiting"""


class NewJob(NamedTuple):
    """A job to be deferred. Jobs of one `serial_key` run one at a time; of one `dedupe_key` at most one waits."""

    task: str
    ref_id: str | int = ""
    run_at: datetime | None = None
    serial_key: str | None = None
    dedupe_key: str | None = None
    priority: int = NORMAL
    installation_id: int | None = None

    def row(self, now: datetime, installation_id: int | None = None) -> Row:
        """The values of its columns; `installation_id` if the job does not name its own."""
        keys = (self.installation_id or installation_id, self.serial_key, self.dedupe_key)
        return (self.task, str(self.ref_id), *keys, self.priority, self.run_at or now, now)


class Waiting(Struct, frozen=True):
    """A deferred job's row: what an engine needs to wake a worker for it."""

    id: int
    task: str
    serial_key: str | None
    priority: int
    run_at: datetime


class ClaimedJob(Struct, frozen=True):
    """A claimed job. `attempt` is the fencing token: a worker with an older one may no longer change anything."""

    id: int
    task: str
    ref_id: str
    serial_key: str | None
    attempt: int
    failures: int
    priority: int
    created_at: datetime
    refused_since: datetime | None = None
    """when GitHub first refused what the job asks for; None if it has not"""
    installation_id: int | None = None

    def requeued_job(self, run_at: datetime) -> Waiting:
        """The job put back."""
        return Waiting(self.id, self.task, self.serial_key, self.priority, run_at)


def add_jobs(connection: Connection, jobs: Sequence[NewJob], now: datetime) -> list[Waiting]:
    """Insert the jobs in the caller's transaction; return them without those whose duplicate is waiting already."""
    return add_job_rows(connection, [job.row(now) for job in jobs])


def add_job_rows(connection: Connection, rows: Sequence[Row]) -> list[Waiting]:
    """The same for rows made by NewJob."""
    names = ("id", "task", "serial_key", "priority", "run_at")
    found = insert_new(connection, JOB, COLUMNS, rows, returning=names)
    return [Waiting(job_id, task, key, priority, moment_of(run_at)) for job_id, task, key, priority, run_at in found]


# --- requests of an operator and of installation events --------------------------------------------------------------


def park_installation(connection: Connection, installation_id: int) -> int:
    """Park the waiting jobs of a suspended installation; return rows changed. Running jobs notice it themselves."""
    return _move(connection, _waiting_for(installation_id), "ready", "parked")


def unpark_installation(connection: Connection, installation_id: int, now: datetime) -> list[Waiting]:
    """Make parked jobs ready again; of those with the same dedupe key only one."""
    parked = _waiting_for(installation_id) & (JOB.c.state == "parked")
    revived = revive(connection, parked, now)
    connection.execute(
        update(JOB).where(parked).values(state="done", last_error="its like is waiting", finished_at=now)
    )
    return revived


def cancel_installation(connection: Connection, installation_id: int, now: datetime) -> int:
    """Cancel the waiting jobs of a removed installation; return rows changed."""
    mine = _waiting_for(installation_id)
    return connection.execute(update(JOB).where(mine).values(state="cancelled", finished_at=now)).rowcount


def _waiting_for(installation_id: int) -> Any:
    """Repeats the condition of the index: SQLite uses a partial index only for such a query."""
    return (JOB.c.installation_id == installation_id) & _WAITING


def revive(connection: Connection, which: Any, now: datetime) -> list[Waiting]:
    """Make parked or dead jobs ready again, as if deferred now, except those whose duplicate is waiting."""
    revived = []
    for row in connection.execute(
        select(JOB).where(which, JOB.c.state.in_(("parked", "dead"))).order_by(JOB.c.id)
    ).all():
        if row.dedupe_key is not None and _waits_with_key(connection, row.dedupe_key):
            continue
        values = {"created_at": now, "run_at": now, "failures": 0, "finished_at": None, "refused_since": None}
        connection.execute(update(JOB).where(JOB.c.id == row.id).values(values | {"state": "ready"}))
        revived.append(Waiting(row.id, row.task, row.serial_key, row.priority, now))
    return revived


def retry_parked(connection: Connection, now: datetime, *, after: timedelta, at_most: timedelta) -> list[Waiting]:
    """Make jobs ready that have been parked for as long as `after`, so that each asks GitHub once more.

    They remember that GitHub refused them: another refusal parks them again at once. A job older than `at_most` becomes
    a dead letter. Jobs of installations that GitHub calls suspended wait for the installation.
    """
    suspended = select(INSTALLATION.c.id).where(INSTALLATION.c.suspended_at.is_not(None))
    mine = (JOB.c.state == "parked") & or_(JOB.c.installation_id.is_(None), JOB.c.installation_id.not_in(suspended))
    connection.execute(update(JOB).where(mine, JOB.c.created_at <= now - at_most).values(state="dead", finished_at=now))
    retried = []
    for row in connection.execute(select(JOB).where(mine, JOB.c.run_at <= now - after).order_by(JOB.c.id)).all():
        if row.dedupe_key is not None and _waits_with_key(connection, row.dedupe_key):
            continue
        connection.execute(update(JOB).where(JOB.c.id == row.id).values(state="ready", run_at=now))
        retried.append(Waiting(row.id, row.task, row.serial_key, row.priority, now))
    return retried


_UNKNOWN = "this version has no such task"


def park_unknown(
    connection: Connection, tasks: Collection[str], now: datetime, *, after: timedelta
) -> list[tuple[int, str]]:
    """Park jobs of unknown tasks that have been due for as long as `after`, when no other process knows them either.

    Return their numbers and tasks. Those parked earlier whose task is known now become ready again.
    """
    overdue = (JOB.c.state == "ready") & (JOB.c.run_at <= now - after) & JOB.c.task.not_in(tasks)
    parked = update(JOB).where(overdue).values(state="parked", last_error=_UNKNOWN)
    numbers = [(row.id, row.task) for row in connection.execute(parked.returning(JOB.c.id, JOB.c.task))]
    known_now = (JOB.c.state == "parked") & (JOB.c.last_error == _UNKNOWN) & JOB.c.task.in_(tasks)
    revive(connection, known_now, now)
    return numbers


def _waits_with_key(connection: Connection, dedupe_key: str) -> bool:
    same = select(JOB.c.id).where(JOB.c.dedupe_key == dedupe_key, JOB.c.state == "ready")
    return connection.execute(same.limit(1)).first() is not None


class JobRow(Struct, frozen=True):
    """A job as an operator sees it."""

    id: int
    task: str
    ref_id: str
    installation_id: int | None
    priority: int
    attempt: int
    failures: int
    state: str
    created_at: datetime
    run_at: datetime
    lease_until: datetime | None
    finished_at: datetime | None
    last_error: str | None


_SEEN = tuple(JOB.c[one.name] for one in fields(JobRow))


def in_states(connection: Connection, states: Sequence[str], limit: int = 1000) -> list[JobRow]:
    """The jobs in these states, newest first."""
    query = select(*_SEEN).where(JOB.c.state.in_(states)).order_by(JOB.c.id.desc()).limit(limit)
    return [JobRow(**row) for row in connection.execute(query).mappings()]


def with_ids(connection: Connection, numbers: Sequence[int]) -> list[JobRow]:
    query = select(*_SEEN).where(JOB.c.id.in_(numbers)).order_by(JOB.c.id)
    return [JobRow(**row) for row in connection.execute(query).mappings()]


def revive_jobs(connection: Connection, numbers: Sequence[int], state: str | None, now: datetime) -> list[Waiting]:
    """Make these dead or parked jobs ready again, or all in `state`."""
    return revive(connection, JOB.c.id.in_(numbers) if state is None else JOB.c.state == state, now)


def cancel(connection: Connection, numbers: Sequence[int], now: datetime) -> int:
    """Cancel these jobs unless they are running or have ended; return rows changed."""
    mine = JOB.c.id.in_(numbers) & JOB.c.state.in_(("ready", "parked", "dead"))
    return connection.execute(update(JOB).where(mine).values(state="cancelled", finished_at=now)).rowcount


def is_waiting(connection: Connection, serial_key: str, task: str, part: str) -> bool:
    """Whether a job of this serial key and task is waiting whose arguments contain `part`."""
    mine = (JOB.c.serial_key == serial_key) & (JOB.c.state == "ready") & (JOB.c.task == task)
    query = select(JOB.c.id).where(mine, JOB.c.ref_id.contains(part, autoescape=True)).limit(1)
    return connection.execute(query).first() is not None


def unfinished_references(connection: Connection, tasks: Sequence[str], installation_id: int) -> set[str]:
    """The references of an installation's jobs of these tasks that wait or run."""
    mine = (JOB.c.installation_id == installation_id) & JOB.c.state.in_(("ready", "running")) & JOB.c.task.in_(tasks)
    return set(connection.execute(select(JOB.c.ref_id).where(mine)).scalars())


def dismiss(connection: Connection, tasks: Sequence[str], ref_id: str, now: datetime) -> None:
    """End the parked and dead jobs of these tasks with this reference: other jobs replace them."""
    mine = JOB.c.task.in_(tasks) & (JOB.c.ref_id == ref_id) & JOB.c.state.in_(("parked", "dead"))
    connection.execute(update(JOB).where(mine).values(state="cancelled", finished_at=now))


def counts(connection: Connection) -> dict[str, int]:
    """Jobs by state."""
    rows = connection.execute(select(JOB.c.state, func.count()).group_by(JOB.c.state).order_by(JOB.c.state))
    return {row[0]: row[1] for row in rows}


def prune(connection: Connection, before: datetime, *, limit: int | None = None) -> int:
    """Delete jobs that succeeded or were cancelled before then; dead letters stay. Return rows deleted."""
    old: Any = JOB.c.state.in_(("done", "cancelled")) & (JOB.c.finished_at < before)
    if limit is not None:
        old = JOB.c.id.in_(select(JOB.c.id).where(old).order_by(JOB.c.finished_at).limit(limit))
    return connection.execute(delete(JOB).where(old)).rowcount


def forget_account(connection: Connection, user: int) -> None:
    """Delete ended jobs that name this account: who pressed a button is deleted together with the login."""
    ended = JOB.c.state.in_(("done", "cancelled", "dead"))
    named = or_(JOB.c.serial_key == f"user:{user}", JOB.c.ref_id.endswith(f'"user":{user}}}'))
    connection.execute(delete(JOB).where(ended, named))


class QueueDepth(Struct, frozen=True):
    """How many jobs are `due`, `later`, `running`, `parked` and `dead`, and when the oldest due one became due."""

    jobs: dict[str, int]
    oldest: datetime | None


def depth(connection: Connection, now: datetime) -> QueueDepth:
    """The jobs that have not succeeded, from the indexes that hold only them."""
    due = JOB.c.run_at <= now
    waiting = select(due, func.count(), func.min(JOB.c.run_at)).where(_READY).group_by(due)
    found = {bool(is_due): (number, first) for is_due, number, first in connection.execute(waiting)}
    running = connection.execute(select(func.count()).select_from(JOB).where(_RUNNING)).scalar_one()
    stopped = connection.execute(select(JOB.c.state, func.count()).where(_STOPPED).group_by(JOB.c.state))
    numbers = {row[0]: row[1] for row in stopped}
    return QueueDepth(
        {
            "due": found.get(True, (0, None))[0],
            "later": found.get(False, (0, None))[0],
            "running": running,
            "parked": numbers.get("parked", 0),
            "dead": numbers.get("dead", 0),
        },
        found.get(True, (0, None))[1],
    )


def _move(connection: Connection, which: Any, old: str, new: str) -> int:
    return connection.execute(update(JOB).where(which, JOB.c.state == old).values(state=new)).rowcount


def free_all(connection: Connection, now: datetime) -> None:
    """End every lease; only for a process that is certainly the only one, as on SQLite at start."""
    connection.execute(update(JOB).where(JOB.c.state == "running").values(lease_until=now))
