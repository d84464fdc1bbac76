"""Are deliveries stored in groups, once each, and acknowledged only afterwards?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from isal import isal_zlib
from msgspec.structs import replace
from sqlalchemy import Connection, event, func, select

from bot.store.engine import Store, StoreUnavailableError
from bot.store.inbox import INBOX, Delivery, count, drop_bodies, read
from bot.store.ingest import LARGE, GroupWriter
from bot.store.jobs import JOB, NewJob, Waiting
from bot.store.opening import sqlite_driver

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)


def _delivery(number: int, *jobs: NewJob, app: str = "7") -> Delivery:
    body = b'{"number": %d}' % number
    return Delivery(app, f"guid-{number}", "push", NOW, "opened", 11, 22, body, jobs)


async def test_a_delivery_is_stored_with_its_body_and_its_job(store: Store) -> None:
    assert await GroupWriter(store).accept(_delivery(1, NewJob("record", dedupe_key="a", priority=3)))
    with store.snapshot() as connection:
        row = connection.execute(select(JOB)).one()
        kept = read(connection, connection.execute(select(INBOX.c.id)).scalar_one())
    assert (row.task, row.priority, row.installation_id, row.run_at, row.state) == ("record", 3, 11, NOW, "ready")
    assert kept is not None
    assert (kept.guid, kept.action, kept.repository_id, kept.body) == ("guid-1", "opened", 22, b'{"number": 1}')


async def test_many_at_once_are_each_stored_once_in_few_commits(store: Store) -> None:
    commits = 0

    def seen(connection: Connection, jobs: Sequence[Waiting]) -> None:
        nonlocal commits
        commits += 1

    writer = GroupWriter(store, seen)
    given = [_delivery(number % 200, NewJob("record")) for number in range(600)]
    answers = await asyncio.gather(*(writer.accept(one) for one in given))
    assert answers.count(True) == 200
    assert commits <= 3
    with store.snapshot() as connection:
        assert count(connection) == 200
        assert connection.execute(select(func.count()).select_from(JOB)).scalar_one() == 200


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
    with store.snapshot() as connection:
        assert connection.execute(select(INBOX.c.guid)).scalar_one() == "nul\ufffd half \ufffd end"


def test_input_that_would_fail_a_group_is_refused_before_it_joins() -> None:
    with pytest.raises(ValueError, match="64 bits"):
        Delivery("7", "big", "push", NOW, installation_id=2**63)
    with pytest.raises(ValueError, match="without its zone"):
        Delivery("7", "naive", "push", NOW.replace(tzinfo=None))


async def test_an_unstored_delivery_is_not_acknowledged(store: Store) -> None:
    def refuse(connection: Connection, jobs: Sequence[Waiting]) -> None:
        raise StoreUnavailableError("gone")

    writer = GroupWriter(store, refuse)
    answers = await asyncio.gather(
        *(writer.accept(_delivery(number, NewJob("record"))) for number in range(5)), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [StoreUnavailableError] * 5
    with store.snapshot() as connection:
        assert count(connection) == 0


async def test_no_answer_comes_before_the_commit(store: Store) -> None:
    order: list[str] = []
    with store.transaction() as connection:
        event.listen(connection.engine, "commit", lambda _: order.append("commit"))
    order.clear()
    await GroupWriter(store, committed=lambda: order.append("told")).accept(_delivery(1))
    order.append("answered")
    assert order == ["commit", "told", "answered"]


async def test_a_disconnected_sender_loses_no_delivery(store: Store) -> None:
    writer = GroupWriter(store)
    waiting = [asyncio.create_task(writer.accept(_delivery(number))) for number in range(4)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert [answers[0], answers[2], answers[3]] == [True, True, True]
    await writer.close()
    with store.snapshot() as connection:
        assert count(connection) == 4


async def test_a_delivery_with_a_pruned_body_is_still_recognised(store: Store) -> None:
    writer = GroupWriter(store)
    await writer.accept(_delivery(1))
    with store.transaction() as connection:
        assert drop_bodies(connection, datetime(2032, 1, 1, tzinfo=UTC)) == 1
    assert not await writer.accept(_delivery(1))


@pytest.mark.parametrize("number", [1, 1500])
async def test_a_group_of_any_size_fits_into_sql_statements(store: Store, number: int) -> None:
    writer = GroupWriter(store)
    answers = await asyncio.gather(*(writer.accept(_delivery(n, NewJob("a"), NewJob("b"))) for n in range(number)))
    assert all(answers)
    with store.snapshot() as connection:
        assert connection.execute(select(func.count()).select_from(JOB)).scalar_one() == 2 * number


async def test_a_delivery_not_committed_in_time_is_not_acknowledged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.store.ingest.SECONDS", 0.05)
    end = threading.Event()
    writer = GroupWriter(store, lambda _connection, _jobs: end.wait(10))
    with pytest.raises(StoreUnavailableError, match="within"):
        await writer.accept(_delivery(1, NewJob("record")))
    end.set()
    monkeypatch.undo()
    await GroupWriter(store).accept(_delivery(1))
    with store.snapshot() as connection:
        assert count(connection) == 1


# --- what a group costs ----------------------------------------------------------------------------------------------


@pytest.fixture
async def turns(store: Store) -> list[list[str]]:
    """The statements of each transaction that writes."""
    if store.dialect != "sqlite":
        pytest.skip("SQLite's driver alone shows its statements")
    await GroupWriter(store).accept(_delivery(0))
    told: list[list[str]] = []

    def seen(sql: str) -> None:
        if sql.startswith("BEGIN"):
            told.append([])
        told[-1].append(sql.split()[0])

    with store.transaction() as connection:
        driver = sqlite_driver(connection)
    driver.set_trace_callback(seen)
    return told


@pytest.mark.parametrize("number", [1, 16])
async def test_a_group_is_one_transaction_of_five_statements(store: Store, turns: list[list[str]], number: int) -> None:
    writer = GroupWriter(store)
    await asyncio.gather(*(writer.accept(_delivery(n + 1, NewJob("a"), NewJob("b"))) for n in range(number)))
    assert turns == [["BEGIN", "SELECT", "INSERT", "INSERT", "COMMIT"]]


async def test_waiting_deliveries_are_written_in_two_groups_in_turn(store: Store, turns: list[list[str]]) -> None:
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
