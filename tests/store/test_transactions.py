"""Do `Store.write` and `Store.read` run their work as one transaction, whatever happens?"""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest
from sqlalchemy import Connection, insert, select

from bot.store.dialect import execute, execute_many, fetch
from bot.store.engine import Store, StoreUnavailableError
from bot.store.jobs import NewJob, add_jobs
from bot.store.people import PERSON
from tests.store.conftest import NOW, cancelled_after

ABOUT: contextvars.ContextVar[str] = contextvars.ContextVar("ABOUT", default="nobody")


def _see(connection: Connection, *keys: str) -> None:
    for key in keys:
        connection.execute(insert(PERSON).values(key=key, name=key, bot=False))


def _keys(connection: Connection) -> list[str]:
    return list(connection.execute(select(PERSON.c.key).order_by(PERSON.c.key)).scalars())


async def test_statements_of_every_kind_are_one_transaction(store: Store) -> None:
    def work(connection: Connection) -> int:
        _see(connection, "a")
        add_jobs(connection, [NewJob("task")], NOW)
        with connection.begin_nested():
            _see(connection, "b")
        return len(_keys(connection))

    await store.write(_see, "c")
    assert await store.write(work) == 3
    assert await store.read(_keys) == ["a", "b", "c"]


async def test_an_error_rolls_all_of_it_back_and_the_next_one_writes(store: Store) -> None:
    def broken(connection: Connection) -> None:
        _see(connection, "a")
        raise LookupError("after a statement")

    with pytest.raises(LookupError, match="after a statement"):
        await store.write(broken)
    with pytest.raises(Exception, match=r"(?i)unique"):
        await store.write_without_flush(_see, "b", "b")
    await store.write(_see, "c")
    assert await store.read(_keys) == ["c"]


async def test_a_read_sees_one_snapshot_with_all_earlier_writes(store: Store) -> None:
    written, seen_once = threading.Event(), threading.Event()

    def twice(connection: Connection) -> list[list[str]]:
        first = _keys(connection)
        seen_once.set()
        assert written.wait(10)
        return [first, _keys(connection)]

    await store.write(_see, "a")
    reading = asyncio.create_task(store.read(twice))
    await asyncio.to_thread(seen_once.wait, 10)
    await store.write(_see, "b")
    written.set()
    assert await reading == [["a"], ["a"]]
    assert await store.read(_keys) == ["a", "b"]


async def test_a_read_writes_nothing_and_the_next_read_is_complete(store: Store) -> None:
    with pytest.raises(Exception, match=r"(?i)read.?only"):
        await store.read(_see, "a")
    for turns in range(8):
        await cancelled_after(turns, store.read(_keys))
        assert await store.read(_keys) == []
    found = await asyncio.gather(*(store.read(_keys) for _ in range(20)))
    assert found == [[]] * 20


async def test_neither_a_read_nor_a_write_waits_for_a_long_read(store: Store) -> None:
    seen = threading.Event()

    def long(connection: Connection) -> bool:
        _keys(connection)
        return seen.wait(60)

    waiting = asyncio.create_task(store.read(long))
    await asyncio.sleep(0)
    await store.write(_see, "a")
    assert await store.read(_keys) == ["a"]
    seen.set()
    assert await waiting


async def test_a_cancelled_caller_leaves_a_complete_transaction_or_none(store: Store) -> None:
    for turns in range(12):
        await cancelled_after(turns, store.write(_see, f"{turns:02}-a", f"{turns:02}-b"))
        await store.write(_see, f"{turns:02}-c")
    keys = await store.read(_keys)
    assert sum(key.endswith("c") for key in keys) == 12
    assert {key[:2] for key in keys if key.endswith("a")} == {key[:2] for key in keys if key.endswith("b")}


async def test_a_write_cancelled_while_it_runs_ends_before_the_next_one_begins(store: Store) -> None:
    begun, end, order = threading.Event(), threading.Event(), list[str]()

    def slow(connection: Connection) -> None:
        begun.set()
        assert end.wait(10)
        _see(connection, "a")
        order.append("a")

    def quick(connection: Connection) -> None:
        with connection.begin_nested():
            _see(connection, "b")
        order.append("b")

    cancelled = asyncio.create_task(store.write(slow))
    await asyncio.to_thread(begun.wait, 10)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    if store.dialect == "sqlite":
        next_one = asyncio.create_task(store.write(quick))
        await asyncio.sleep(0)
        end.set()
        await next_one
        assert order == ["a", "b"]
    end.set()


async def test_work_in_threads_keeps_the_callers_logging_context(store: Store) -> None:
    ABOUT.set("delivery 7")
    assert await store.write(lambda _: ABOUT.get()) == "delivery 7"
    assert await store.read(lambda _: ABOUT.get()) == "delivery 7"


async def test_only_opted_in_writes_do_not_wait_for_the_disk(store: Store) -> None:
    sql = {"sqlite": "PRAGMA synchronous", "postgresql": "SHOW synchronous_commit"}[store.dialect]
    waits, does_not = {"sqlite": (2, 1), "postgresql": ("on", "off")}[store.dialect]

    def setting(connection: Connection) -> object:
        return connection.exec_driver_sql(sql).scalar_one()

    def broken(connection: Connection) -> None:
        raise LookupError

    for _ in range(2):  # a statement that the driver caches is compiled once
        assert await store.write_without_flush(setting) == does_not
        assert await store.write(setting) == waits
    with pytest.raises(LookupError):
        await store.write_without_flush(broken)
    with store.transaction() as connection:
        assert setting(connection) == waits


async def test_a_full_disk_is_reported_as_unavailable_and_reading_stores_refuse(store: Store) -> None:
    full = {"sqlite": "PRAGMA max_page_count = 1", "postgresql": "SET TRANSACTION READ ONLY"}[store.dialect]

    def too_much(connection: Connection) -> None:
        connection.exec_driver_sql(full)
        connection.execute(insert(PERSON).values(key="a", name="a" * 200_000, bot=False))

    with pytest.raises(StoreUnavailableError):
        await store.write(too_much)
    reader = await Store.open(store.url.render_as_string(hide_password=False), read_only=True)
    with pytest.raises(RuntimeError, match="opened to be read"):
        await reader.write(too_much)
    await reader.close()


def _kept(connection: Connection, last: str) -> list[tuple[int]]:
    execute(connection, "CREATE TEMPORARY TABLE kept (one bigint)")
    execute_many(connection, "INSERT INTO kept VALUES (?)", [(1,), (2,)])
    execute(connection, last)
    return fetch(connection, "SELECT one FROM kept WHERE one > ? ORDER BY one", (1,))


@pytest.mark.parametrize("wrong", ["INSERT INTO kept VALUES (5, 6)", "INSERT INTO nowhere VALUES (1)"])
async def test_statements_as_text_are_in_the_transaction_too(store: Store, wrong: str) -> None:
    with pytest.raises(Exception, match=r"kept|nowhere|target columns"):
        await store.write(_kept, wrong)
    assert await store.write(_kept, "INSERT INTO kept VALUES (3)") == [(2,), (3,)]
