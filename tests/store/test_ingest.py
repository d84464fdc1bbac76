"""Deliveries are stored many a commit, once each, and answered only afterwards."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from isal import isal_zlib
from sqlalchemy import event, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.engine import Store, StoreUnavailableError
from bot.store.inbox import INBOX, Delivery, count, drop_bodies, read
from bot.store.ingest import LARGE, GroupWriter
from bot.store.jobs import JOB, NewJob, Waiting

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)


def _delivery(number: int, *jobs: NewJob, app: str = "7") -> Delivery:
    body = b'{"number": %d}' % number
    return Delivery(app, f"guid-{number}", "push", NOW, "opened", 11, 22, body, jobs)


async def test_a_delivery_is_kept_with_its_body_and_its_job(store: Store) -> None:
    assert await GroupWriter(store).accept(_delivery(1, NewJob("record", dedupe_key="a", priority=3)))
    async with store.read() as conn:
        row = (await conn.execute(select(JOB))).one()
        kept = await read(conn, (await conn.execute(select(INBOX.c.id))).scalar_one())
    assert (row.task, row.priority, row.installation_id, row.run_at, row.state) == ("record", 3, 11, NOW, "ready")
    assert kept is not None
    assert (kept.guid, kept.action, kept.repository_id, kept.body) == ("guid-1", "opened", 22, b'{"number": 1}')


async def test_many_at_once_are_each_stored_once_in_few_commits(store: Store) -> None:
    commits = 0

    async def seen(conn: AsyncConnection, jobs: Sequence[Waiting]) -> None:
        nonlocal commits
        commits += 1

    writer = GroupWriter(store, seen)
    given = [_delivery(number % 200, NewJob("record")) for number in range(600)]
    answers = await asyncio.gather(*(writer.accept(one) for one in given))
    assert answers.count(True) == 200
    assert commits <= 3
    async with store.read() as conn:
        assert await count(conn) == 200
        assert (await conn.execute(select(func.count()).select_from(JOB))).scalar_one() == 200


async def test_the_same_guid_of_two_apps_is_two_deliveries(store: Store) -> None:
    writer = GroupWriter(store)
    assert await writer.accept(_delivery(1))
    assert await writer.accept(_delivery(1, app="8"))
    assert not await writer.accept(_delivery(1))


async def test_text_and_numbers_that_a_database_refuses_do_not_stop_the_others(store: Store) -> None:
    writer = GroupWriter(store)
    odd = Delivery("7", "nul\0 half \ud800 end", "push", NOW, installation_id=2**63 - 1)
    assert await writer.accept(odd)
    assert not await writer.accept(odd)
    async with store.read() as conn:
        assert (await conn.execute(select(INBOX.c.guid))).scalar_one() == "nul\ufffd half \ufffd end"


def test_what_would_fail_a_whole_group_is_refused_before_it_joins_one() -> None:
    with pytest.raises(ValueError, match="64 bits"):
        Delivery("7", "big", "push", NOW, installation_id=2**63)
    with pytest.raises(ValueError, match="without its zone"):
        Delivery("7", "naive", "push", NOW.replace(tzinfo=None))


async def test_what_is_not_stored_is_not_acknowledged(store: Store) -> None:
    async def refuse(conn: AsyncConnection, jobs: Sequence[Waiting]) -> None:
        raise StoreUnavailableError("gone")

    writer = GroupWriter(store, refuse)
    answers = await asyncio.gather(
        *(writer.accept(_delivery(number, NewJob("record"))) for number in range(5)), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [StoreUnavailableError] * 5
    async with store.read() as conn:
        assert await count(conn) == 0


async def test_no_answer_comes_before_the_commit(store: Store) -> None:
    order: list[str] = []
    engine = store._writer  # reaches inside: only the engine tells when it commits
    assert engine is not None
    if store.dialect == "postgresql":
        event.listen(engine.sync_engine, "commit", lambda conn: order.append("commit"))
    else:  # there the driver's thread commits, past the engine
        held: Any = store._held
        driver = (await held.get_raw_connection()).driver_connection
        await driver.set_trace_callback(lambda sql: order.append("commit") if sql == "COMMIT" else None)
    await GroupWriter(store, committed=lambda: order.append("told")).accept(_delivery(1))
    order.append("answered")
    assert order == ["commit", "told", "answered"]


async def test_a_sender_that_goes_away_takes_nothing_with_it(store: Store) -> None:
    writer = GroupWriter(store)
    waiting = [asyncio.create_task(writer.accept(_delivery(number))) for number in range(4)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert [answers[0], answers[2], answers[3]] == [True, True, True]
    await writer.close()
    async with store.read() as conn:
        assert await count(conn) == 4


async def test_pruned_bodies_leave_the_door_shut(store: Store) -> None:
    writer = GroupWriter(store)
    await writer.accept(_delivery(1))
    async with store.begin() as conn:
        assert await drop_bodies(conn, datetime(2032, 1, 1, tzinfo=UTC)) == 1
    assert not await writer.accept(_delivery(1))


@pytest.mark.parametrize("number", [1, 1500])
async def test_a_group_of_any_size_fits_into_statements(store: Store, number: int) -> None:
    writer = GroupWriter(store)
    answers = await asyncio.gather(*(writer.accept(_delivery(n, NewJob("a"), NewJob("b"))) for n in range(number)))
    assert all(answers)
    async with store.read() as conn:
        assert (await conn.execute(select(func.count()).select_from(JOB))).scalar_one() == 2 * number


async def test_what_is_not_committed_in_time_is_not_acknowledged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.store.ingest.SECONDS", 0.05)
    writer = GroupWriter(store, _never)
    with pytest.raises(StoreUnavailableError, match="within"):
        await writer.accept(_delivery(1, NewJob("record")))
    monkeypatch.undo()
    assert await GroupWriter(store).accept(_delivery(1))


async def _never(conn: AsyncConnection, jobs: Sequence[Waiting]) -> None:
    await asyncio.Event().wait()


# --- what a group costs ----------------------------------------------------------------------------------------------


@pytest.fixture
async def turns(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The statements of each turn of SQLite's thread."""
    if store.dialect != "sqlite":
        pytest.skip("PostgreSQL has no thread of its own")
    await GroupWriter(store).accept(_delivery(0))
    held: Any = store._held  # reaches inside: only the driver sees what its thread is handed
    driver = (await held.get_raw_connection()).driver_connection
    told: list[list[str]] = []
    execute = driver._execute

    async def counted(function: Any, *arguments: Any) -> Any:
        told.append([])
        return await execute(function, *arguments)

    await driver.set_trace_callback(lambda sql: told[-1].append(sql.split()[0]))
    monkeypatch.setattr(driver, "_execute", counted)
    return told


@pytest.mark.parametrize("number", [1, 16])
async def test_a_group_is_one_turn_of_the_thread_and_five_statements(
    store: Store, turns: list[list[str]], number: int
) -> None:
    writer = GroupWriter(store)
    await asyncio.gather(*(writer.accept(_delivery(n + 1, NewJob("a"), NewJob("b"))) for n in range(number)))
    assert turns == [["BEGIN", "SELECT", "INSERT", "INSERT", "COMMIT"]]


async def test_many_that_wait_are_written_in_two_shares_so_that_disk_and_senders_take_turns(
    store: Store, turns: list[list[str]]
) -> None:
    writer = GroupWriter(store)
    await asyncio.gather(*(writer.accept(_delivery(n + 1, NewJob("a"))) for n in range(32)))
    assert len(turns) == 2


async def test_a_delivery_is_compressed_before_its_turn(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    there: set[int] = set()
    compress = isal_zlib.compress

    def seen(body: bytes, level: int) -> bytes:
        there.add(threading.get_ident())
        return compress(body, level)

    monkeypatch.setattr("bot.store.inbox.isal_zlib.compress", seen)
    await GroupWriter(store).accept(_delivery(1))
    assert there == {threading.get_ident()}
    await GroupWriter(store).accept(replace(_delivery(2), body=b"x" * (LARGE + 1)))
    assert len(there) == 2
