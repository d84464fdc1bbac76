"""What does every queue engine guarantee?"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from procrastinate.exceptions import ConnectorException
from procrastinate.manager import JobManager
from sqlalchemy import select, update

from bot.queue import rows
from bot.queue.interface import Job, LeaseLost, Park, RetryLater
from bot.queue.scaled import ScaledQueue
from bot.queue.worker import Worker, WorkerPace
from bot.store.engine import StoreUnavailableError
from bot.store.jobs import (
    JOB,
    LATER,
    NewJob,
    add_jobs,
    cancel_installation,
    in_states,
    park_installation,
    prune,
    unpark_installation,
)
from tests.queue.conftest import PACE, Bench, register


class Log:
    """A task that notes what it was called for."""

    def __init__(self) -> None:
        self.refs: list[str] = []

    async def __call__(self, job: Job) -> None:
        self.refs.append(job.ref_id)


async def test_a_job_runs_once_and_is_done(bench: Bench) -> None:
    queue, log = await bench.queue(), Log()
    register(queue, "note", log)
    await bench.defer(queue, "note", 42)
    assert await queue.drain() == 1
    assert await queue.drain() == 0
    assert log.refs == ["42"]
    assert await bench.counts() == {"done": 1}


async def test_a_job_of_a_transaction_that_fails_was_never_there(bench: Bench) -> None:
    queue, log = await bench.queue(), Log()
    register(queue, "note", log)

    async def fail() -> None:
        with bench.store.transaction() as conn:
            queue.defer(conn, "note", 1)
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    assert await queue.drain() == 0


async def test_a_postponed_post_is_abandoned_after_days_of_attempts_not_of_waiting(bench: Bench) -> None:
    queue, log = await bench.queue(), Log()

    async def out_of_order(job: Job) -> None:
        await log(job)
        raise RetryLater(None, "out of order")

    register(queue, "note", out_of_order)
    await bench.defer(queue, "note", 1)
    bench.clock.pass_by(9 * 86400)
    await queue.drain()
    assert await bench.counts() == {"ready": 1}, "time that passed while nobody worked does not count"
    for _ in range(24):
        bench.clock.pass_by(3600)
        await queue.drain()
    assert await bench.counts() == {"dead": 1}


async def test_one_job_per_dedupe_key_waits_even_while_another_runs(bench: Bench) -> None:
    queue = await bench.queue()
    numbers: list[int | None] = []

    async def again(job: Job) -> None:
        if len(numbers) < 3:
            numbers.append(await bench.defer(queue, "again", 2, dedupe_key="k"))

    register(queue, "again", again)
    numbers.append(await bench.defer(queue, "again", 1, dedupe_key="k"))
    numbers.append(await bench.defer(queue, "again", 1, dedupe_key="k"))
    assert await queue.drain() == 2
    assert [number is None for number in numbers] == [False, True, False]


async def test_a_job_put_back_yields_to_a_waiting_duplicate(bench: Bench) -> None:
    queue, refs = await bench.queue(), []

    async def later(job: Job) -> None:
        refs.append(job.ref_id)
        if job.ref_id == "1":
            await bench.defer(queue, "later", 2, dedupe_key="k")
            raise RetryLater(1)

    register(queue, "later", later)
    await bench.defer(queue, "later", 1, dedupe_key="k")
    await queue.drain()
    bench.clock.pass_by(5)
    await queue.drain()
    assert refs == ["1", "2"]
    assert await bench.counts() == {"done": 2}


async def test_a_job_waits_for_its_time(bench: Bench) -> None:
    queue, log = await bench.queue(), Log()
    register(queue, "note", log)
    await bench.defer(queue, "note", 1, run_at=bench.clock() + timedelta(seconds=60))
    assert await queue.drain() == 0
    bench.clock.pass_by(60)
    assert await queue.drain() == 1


async def test_higher_priority_goes_first_then_the_older(bench: Bench) -> None:
    queue, log = await bench.queue(WorkerPace(concurrency=1)), Log()
    register(queue, "note", log)
    for ref, priority in (("low", -10), ("first", 0), ("second", 0), ("high", 5)):
        await bench.defer(queue, "note", ref, priority=priority)
    await queue.drain()
    assert log.refs == ["high", "first", "second", "low"]


async def test_a_repositorys_history_waits_while_anything_live_is_ready(bench: Bench) -> None:
    queue, log = await bench.queue(WorkerPace(concurrency=1)), Log()
    register(queue, "note", log)
    for ref, priority in (("step 1", LATER), ("step 2", LATER), ("landed 1", 0), ("landed 2", 0)):
        await bench.defer(queue, "note", ref, priority=priority, serial_key=f"repository:{ref[-1]}")
    for _ in range(4):
        await queue.drain()
    assert log.refs[:2] == ["landed 1", "landed 2"]
    assert sorted(log.refs[2:]) == ["step 1", "step 2"]


async def test_a_failing_job_backs_off_and_ends_as_a_dead_letter(bench: Bench) -> None:
    queue, tries = await bench.queue(), []

    async def fail(job: Job) -> None:
        tries.append(bench.clock())
        raise ZeroDivisionError("by \0 nothing")

    register(queue, "fail", fail)
    await bench.defer(queue, "fail")
    for _ in range(20):
        await queue.drain()
        bench.clock.pass_by(1)
    waits = [round((after - before).total_seconds()) for before, after in itertools.pairwise(tries)]
    assert waits == [3, 5]
    with bench.store.snapshot() as conn:
        (letter,) = in_states(conn, ["dead"])
    assert "ZeroDivisionError" in str(letter.last_error)
    assert await bench.counts() == {"dead": 1}


async def test_waiting_for_a_limit_does_not_count_as_failing_and_ends_in_bounded_time(bench: Bench) -> None:
    queue, tries = await bench.queue(), 0

    async def limited(job: Job) -> None:
        nonlocal tries
        tries += 1
        raise RetryLater(3600, "primary limit")

    register(queue, "limited", limited)
    await bench.defer(queue, "limited")
    for _ in range(6):
        await queue.drain()
        bench.clock.pass_by(3600)
    assert (tries, await bench.counts()) == (6, {"ready": 1})
    bench.clock.pass_by(8 * 86400)
    await queue.drain()
    assert await bench.counts() == {"dead": 1}


async def test_a_parked_job_waits_until_its_installation_returns(bench: Bench) -> None:
    queue, suspended = await bench.queue(), True

    async def work(job: Job) -> None:
        if suspended:
            raise Park("suspended")

    register(queue, "work", work)
    for _ in range(2):
        await bench.defer(queue, "work", installation_id=9, dedupe_key="work")
        await queue.drain()
    assert await bench.counts() == {"parked": 2}
    suspended = False
    with bench.store.transaction() as conn:
        revived = unpark_installation(conn, 9, bench.clock())
        queue.announce(conn, revived)
    await queue.drain()
    assert len(revived) == 1, "one does the work of both"
    assert await bench.counts() == {"done": 2}


async def test_only_the_removed_installations_jobs_are_cancelled(bench: Bench) -> None:
    queue, log = await bench.queue(), Log()
    register(queue, "note", log)
    for installation in (8, 9, 9):
        await bench.defer(queue, "note", installation, installation_id=installation)
    with bench.store.transaction() as conn:
        assert park_installation(conn, 9) == 2
        assert cancel_installation(conn, 9, bench.clock()) == 2
    await queue.drain()
    assert log.refs == ["8"]
    assert await bench.counts() == {"cancelled": 2, "done": 1}


async def test_a_time_out_is_a_failure(bench: Bench) -> None:
    queue = await bench.queue()

    async def hang(job: Job) -> None:
        await asyncio.Event().wait()

    queue.register("hang", hang, timedelta(seconds=0.01), 1)
    await bench.defer(queue, "hang")
    await queue.drain()
    assert await bench.counts() == {"dead": 1}


async def test_an_unknown_task_is_left_for_a_worker_that_knows_it(bench: Bench) -> None:
    old, new, log = await bench.queue(), await bench.queue(), Log()
    register(old, "other", Log())
    register(new, "note", log)
    await bench.defer(new, "note")
    await old.drain()
    assert await bench.counts() == {"ready": 1}
    await new.drain()
    assert log.refs == ["1"]


async def test_jobs_of_one_serial_key_run_one_at_a_time_and_all_run(bench: Bench) -> None:
    queues = [await bench.queue(WorkerPace(concurrency=4, poll_every=0.05)) for _ in range(2)]
    now_running: dict[str, int] = {"a": 0, "b": 0}
    most: dict[str, int] = {"a": 0, "b": 0}
    together, both = asyncio.Event(), 0

    async def work(job: Job) -> None:
        nonlocal both
        key = job.ref_id
        now_running[key] += 1
        most[key] = max(most[key], now_running[key])
        both = max(both, sum(now_running.values()))
        if both == 2:
            together.set()
        with contextlib.suppress(TimeoutError):  # the first job waits for one of the other key, however slow its claim
            await asyncio.wait_for(together.wait(), 5)
        for _ in range(20):
            await asyncio.sleep(0)
        now_running[key] -= 1

    for queue in queues:
        register(queue, "work", work)
    for number in range(16):
        await bench.defer(queues[0], "work", "ab"[number % 2], serial_key="ab"[number % 2])
    for _ in range(5):
        await asyncio.gather(*(queue.drain() for queue in queues))
    assert await bench.counts() == {"done": 16}
    assert most == {"a": 1, "b": 1}
    assert both == 2


async def test_two_workers_never_take_the_same_job(bench: Bench) -> None:
    log = Log()
    queues = [await bench.queue(WorkerPace(concurrency=3)) for _ in range(3)]
    for queue in queues:
        register(queue, "note", log)
    for number in range(40):
        await bench.defer(queues[0], "note", number)
    await asyncio.gather(*(queue.drain() for queue in queues))
    assert sorted(map(int, log.refs)) == list(range(40))


async def _lose_a_worker(bench: Bench) -> None:
    """As after kill -9: the row says running, nobody runs it, and its wake-up is gone."""
    lost = {"state": "running", "attempt": JOB.c.attempt + 1, "owner": "gone"}
    with bench.store.transaction() as conn:
        conn.execute(update(JOB).values(**lost, lease_until=bench.clock() + timedelta(seconds=60)))
        if bench.engine.startswith("procrastinate"):
            conn.exec_driver_sql("DELETE FROM procrastinate_jobs")


async def test_a_job_of_a_lost_worker_returns_when_its_lease_ends(bench: Bench) -> None:
    queue, log = await bench.queue(), Log()
    register(queue, "note", log)
    await bench.defer(queue, "note", 7, serial_key="s")
    await _lose_a_worker(bench)
    await queue.drain()
    assert log.refs == []
    bench.clock.pass_by(61)
    await queue.drain()
    assert log.refs == ["7"]


async def test_jobs_of_a_lost_worker_are_claimed_by_any_other_worker(bench: Bench) -> None:
    first, other, log = await bench.queue(), await bench.queue(), Log()
    register(first, "note", log)
    register(other, "note", log)
    for ref in (7, 8):
        await bench.defer(first, "note", ref, serial_key=f"repository:{ref}")
    await _lose_a_worker(bench)
    bench.clock.pass_by(61)
    for _ in range(3):
        await other.drain()
    assert sorted(log.refs) == ["7", "8"]
    assert await bench.counts() == {"done": 2}


async def test_a_job_that_kills_its_workers_ends_as_a_dead_letter(bench: Bench) -> None:
    queue, log = await bench.queue(), Log()
    register(queue, "note", log, max_attempts=1)
    await bench.defer(queue, "note")
    await _lose_a_worker(bench)
    bench.clock.pass_by(61)
    await queue.drain()
    assert (log.refs, await bench.counts()) == ([], {"dead": 1})


async def test_a_stale_lease_owner_changes_nothing(bench: Bench) -> None:
    slow, fast = await bench.queue(WorkerPace(concurrency=1)), await bench.queue()
    told: list[str] = []

    async def paused(job: Job) -> None:
        bench.clock.pass_by(61)
        await fast.drain()
        try:
            with bench.store.transaction() as conn:
                job.finish(conn)
        except LeaseLost:
            told.append("lost")
            raise

    async def quick(job: Job) -> None:
        with bench.store.transaction() as conn:
            job.finish(conn)
        told.append(f"attempt {job.attempt}")

    register(slow, "work", paused)
    register(fast, "work", quick)
    await bench.defer(slow, "work")
    await slow.drain()
    assert told == ["attempt 2", "lost"]
    assert await bench.counts() == {"done": 1}


async def test_effects_and_the_end_of_the_job_are_one_transaction(bench: Bench) -> None:
    queue, tries = await bench.queue(), 0

    async def work(job: Job) -> None:
        nonlocal tries
        tries += 1
        with bench.store.transaction() as conn:
            queue.defer(conn, "unknown", "effect")
            job.finish(conn)
            if tries == 1:
                raise ConnectionError

    register(queue, "work", work)
    await bench.defer(queue, "work")
    await queue.drain()
    assert await bench.counts() == {"ready": 1}
    bench.clock.pass_by(10)
    await queue.drain()
    assert (tries, await bench.counts()) == (2, {"done": 1, "ready": 1})


async def test_a_running_worker_picks_up_what_is_deferred_and_stops_when_asked(bench: Bench) -> None:
    queue, ran = await bench.queue(), asyncio.Event()

    async def work(job: Job) -> None:
        ran.set()

    register(queue, "work", work)
    running = asyncio.create_task(queue.run())
    await bench.defer(queue, "work")
    queue.nudge()
    async with asyncio.timeout(10):
        await ran.wait()
        queue.stop()
        await running
    assert await bench.counts() == {"done": 1}


async def test_a_worker_continues_after_its_engine_lost_the_database(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, ran = await bench.queue(), asyncio.Event()
    if not isinstance(queue, ScaledQueue):
        pytest.skip("it has no engine but itself")
    monkeypatch.setattr("bot.queue.scaled.BEFORE_AGAIN", 0.0)
    fetch, lost = JobManager.fetch_job, [True]

    async def fetched(manager: JobManager, *given: Any, **more: Any) -> Any:
        if lost:
            lost.clear()
            raise ConnectorException from OSError("server closed the connection")
        return await fetch(manager, *given, **more)

    async def note(job: Job) -> None:
        ran.set()

    monkeypatch.setattr(JobManager, "fetch_job", fetched)
    register(queue, "note", note)
    running = asyncio.create_task(queue.run())
    async with asyncio.timeout(10):
        await bench.defer(queue, "note", 1)
        await ran.wait()
        queue.stop()
        await running
    assert not lost


async def test_a_job_deferred_in_the_databases_own_thread_wakes_a_worker_that_rests(bench: Bench) -> None:
    # The other engine may begin to listen only after the job was deferred, and finds it by looking.
    rest = 60.0 if bench.engine.startswith("embedded") else 1.0
    queue, ran = await bench.queue(WorkerPace(poll_every=rest, grace=1.0)), asyncio.Event()

    async def note(job: Job) -> None:
        ran.set()

    register(queue, "note", note)
    running = asyncio.create_task(queue.run())
    async with asyncio.timeout(10):
        await asyncio.sleep(0)
        await bench.store.write(queue.defer, "note", 1)
        await ran.wait()
        queue.stop()
        await running


async def test_a_job_that_outlives_the_grace_is_handed_back_at_shutdown(bench: Bench) -> None:
    queue, began = await bench.queue(replace(PACE, grace=0.05)), asyncio.Event()

    async def endless(job: Job) -> None:
        began.set()
        await asyncio.Event().wait()

    register(queue, "work", endless)
    running = asyncio.create_task(queue.run())
    await bench.defer(queue, "work")
    queue.nudge()
    async with asyncio.timeout(10):
        await began.wait()
        queue.stop()
        await running
    with bench.store.snapshot() as conn:
        row = conn.execute(select(JOB)).one()
    assert (row.state, row.failures, row.owner, row.lease_until) == ("ready", 0, None, None)
    successor, log = await bench.queue(), Log()
    register(successor, "work", log)
    await successor.drain()
    assert log.refs == ["1"]


async def test_a_long_job_keeps_its_lease_while_it_runs(bench: Bench) -> None:
    queue, began, end = await bench.queue(), asyncio.Event(), asyncio.Event()

    async def work(job: Job) -> None:
        began.set()
        await end.wait()

    register(queue, "work", work)
    running = asyncio.create_task(queue.run())
    await bench.defer(queue, "work")
    queue.nudge()
    async with asyncio.timeout(10):
        await began.wait()
        bench.clock.pass_by(50)
        renewed = None
        while renewed is None or renewed < bench.clock() + timedelta(seconds=60):
            renewed = await bench.store.read(lambda conn: conn.execute(select(JOB.c.lease_until)).scalar_one())
        end.set()
        queue.stop()
        await running
    assert await bench.counts() == {"done": 1}


async def test_a_job_whose_result_could_not_be_saved_returns_while_its_worker_continues(bench: Bench) -> None:
    queue, worker, me = await bench.queue(), Worker(bench.store, clock=bench.clock), asyncio.current_task()
    assert me is not None

    async def claimed() -> list[int]:
        with bench.store.transaction() as conn:
            claims = [rows.claim(conn, rows.Wanted(["note"]), worker.lease()) for _ in range(2)]
        return [one.id for one in claims if one is not None]

    for number in range(2):
        await bench.defer(queue, "note", number)
    lost, held = await claimed()
    bench.clock.pass_by(50)
    worker.running[held, 1] = me
    await worker.renew()
    bench.clock.pass_by(20)
    assert await claimed() == [lost]


async def test_leases_are_renewed_again_when_the_database_is_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, twice, tries = Worker(bench.store, pace=PACE), threading.Event(), 0

    def renew(*_: object) -> set[tuple[int, int]]:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise StoreUnavailableError("the server is being restarted")
        twice.set()
        return set(worker.running)

    monkeypatch.setattr("bot.queue.rows.renew", renew)
    keeper = asyncio.create_task(worker.keep_leases())
    worker.running[1, 1] = keeper
    async with asyncio.timeout(10):
        await asyncio.to_thread(twice.wait)
    assert worker.is_alive
    keeper.cancel()
    await asyncio.gather(keeper, return_exceptions=True)


async def test_old_finished_jobs_go_and_dead_letters_stay(bench: Bench) -> None:
    queue = await bench.queue()

    async def fail(job: Job) -> None:
        raise ValueError

    register(queue, "note", Log())
    register(queue, "fail", fail, max_attempts=1)
    await bench.defer(queue, "note")
    await bench.defer(queue, "fail")
    await queue.drain()
    with bench.store.transaction() as conn:
        assert prune(conn, bench.clock() + timedelta(days=1)) == 1
    assert await bench.counts() == {"dead": 1}


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_a_noisy_installation_delays_nobody_else(bench: Bench, concurrency: int) -> None:
    queue, order = await bench.queue(WorkerPace(concurrency=concurrency)), []

    async def note(job: Job) -> None:
        order.append(job.claim.installation_id)
        await asyncio.sleep(0)
        if len(order) >= 700:
            queue.stop()

    register(queue, "note", note)
    noisy = [NewJob("note", number, installation_id=1) for number in range(10_000)]
    quiet = [NewJob("note", number, installation_id=number) for number in range(2, 202)]
    with bench.store.transaction() as connection:
        announced = add_jobs(connection, [*noisy, *quiet], bench.clock())
        queue.announce(connection, announced)
    await queue.run()
    assert len(set(order[:650])) == 201, "all two hundred ran beside a part of the ten thousand"
    assert order[:650].count(1) >= 150, "and the noisy one went on"


async def test_slow_installations_hold_no_worker_that_another_one_needs(bench: Bench) -> None:
    """Three installations whose jobs hang, and work of five others that comes while they hang."""
    queue, done = await bench.queue(WorkerPace(concurrency=4, slow_after=0.1, poll_every=0.02)), []
    hanging = asyncio.Event()

    async def hang(job: Job) -> None:
        await hanging.wait()

    async def note(job: Job) -> None:
        done.append(job.claim.installation_id)
        if len(done) == 5:
            hanging.set()
            queue.stop()

    register(queue, "hang", hang)
    register(queue, "note", note)
    slow = [NewJob("hang", number, installation_id=1 + number % 3) for number in range(90)]
    with bench.store.transaction() as connection:
        queue.announce(connection, add_jobs(connection, slow, bench.clock()))
    running = asyncio.create_task(queue.run())
    await asyncio.sleep(0.3)
    quiet = [NewJob("note", number, installation_id=number) for number in range(10, 15)]
    with bench.store.transaction() as connection:
        queue.announce(connection, add_jobs(connection, quiet, bench.clock()))
    queue.nudge()
    async with asyncio.timeout(4):
        await running
    assert sorted(done) == [10, 11, 12, 13, 14]


async def test_two_noisy_installations_leave_a_turn_to_everybody_else(bench: Bench) -> None:
    queue, order = await bench.queue(WorkerPace(concurrency=2)), []

    async def note(job: Job) -> None:
        order.append(job.claim.installation_id)
        await asyncio.sleep(0)
        if len(order) >= 120:
            queue.stop()

    register(queue, "note", note)
    noisy = [NewJob("note", number, installation_id=1 + number % 2) for number in range(1000)]
    quiet = [NewJob("note", number, installation_id=number) for number in range(3, 53)]
    with bench.store.transaction() as connection:
        queue.announce(connection, add_jobs(connection, [*noisy, *quiet], bench.clock()))
    await queue.run()
    assert len(set(order[:60])) >= 50, "a round gives each one turn, whatever waits"


async def test_long_backfills_of_many_installations_leave_workers_to_landings(bench: Bench) -> None:
    """Ten installations whose backfills hang; only half of the workers may hold such jobs, however long they run."""
    queue = await bench.queue(WorkerPace(concurrency=4, slow_after=0.05, poll_every=0.02))
    ending, running, most = asyncio.Event(), 0, 0

    async def hang(job: Job) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await ending.wait()
        finally:
            running -= 1

    async def land(job: Job) -> None:
        if job.ref_id == "20":
            ending.set()
            queue.stop()

    register(queue, "hang", hang)
    register(queue, "land", land)
    backfills = [NewJob("hang", number, installation_id=1 + number % 10, priority=LATER) for number in range(40)]
    with bench.store.transaction() as connection:
        queue.announce(connection, add_jobs(connection, backfills, bench.clock()))
    working = asyncio.create_task(queue.run())
    await asyncio.sleep(0.5)
    landings = [NewJob("land", number, installation_id=number) for number in (1, 2, 20)]
    with bench.store.transaction() as connection:
        queue.announce(connection, add_jobs(connection, landings, bench.clock()))
    queue.nudge()
    async with asyncio.timeout(4):
        await working
    assert most == 2
