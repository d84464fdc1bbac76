"""Is a transaction that runs whole in the database's own thread one like any other?"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.engine import Store, StoreUnavailableError
from bot.store.jobs import NewJob, add_jobs
from bot.store.people import PERSON
from bot.store.turn import Ask, Plan, driver_of
from tests.store.conftest import NOW, cancelled_after

ABOUT: contextvars.ContextVar[str] = contextvars.ContextVar("ABOUT", default="nobody")


async def _see(conn: AsyncConnection, *keys: str) -> None:
    for key in keys:
        await conn.execute(insert(PERSON).values(key=key, name=key, bot=False))


async def _seen_by(key: str, conn: AsyncConnection) -> None:
    await _see(conn, key)


async def _seen(store: Store) -> list[str]:
    async with store.read() as conn:
        return list((await conn.execute(select(PERSON.c.key).order_by(PERSON.c.key))).scalars())


async def test_statements_of_every_kind_are_one_transaction_and_one_turn_of_the_thread(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[object] = []

    async def work(conn: AsyncConnection) -> int:
        await _see(conn, "a")
        await add_jobs(conn, [NewJob("task")], NOW)
        async with conn.begin_nested():
            await _see(conn, "b")
        return len((await conn.execute(select(PERSON.c.key))).all())

    await store.write(lambda conn: _see(conn, "c"))
    if store.dialect == "sqlite":
        held: Any = store._held  # reaches inside: only the driver sees what its thread is handed
        put = driver_of(held)._tx
        monkeypatch.setattr(driver_of(held), "_tx", _Counted(put, turns))
    assert await store.write(work) == 3
    assert len(turns) == (1 if store.dialect == "sqlite" else 0)
    assert await _seen(store) == ["a", "b", "c"]


class _Counted:
    """A queue that remembers what was put into it."""

    def __init__(self, queue: Any, told: list[object]) -> None:
        self._queue, self._told = queue, told

    def put_nowait(self, one: object) -> None:
        self._told.append(one)
        self._queue.put_nowait(one)


async def test_an_error_takes_all_of_it_back_and_the_next_one_writes(store: Store) -> None:
    async def broken(conn: AsyncConnection) -> None:
        await _see(conn, "a")
        raise LookupError("after a statement")

    async def refused(conn: AsyncConnection) -> None:
        await _see(conn, "b", "b")

    with pytest.raises(LookupError, match="after a statement"):
        await store.write(broken)
    with pytest.raises(Exception, match=r"(?i)unique"):
        await store.write(refused, lasting=False)
    await store.write(lambda conn: _see(conn, "c"))
    assert await _seen(store) == ["c"]


async def test_what_waits_for_anything_but_the_database_is_refused_whole(store: Store) -> None:
    async def patient(conn: AsyncConnection) -> None:
        await _see(conn, "a")
        await asyncio.sleep(0)

    if store.dialect == "postgresql":
        pytest.skip("PostgreSQL has no thread of its own")
    with pytest.raises(RuntimeError, match="can wait for the database alone"):
        await store.write(patient)
    await store.write(lambda conn: _see(conn, "b"))
    assert await _seen(store) == ["b"]


async def test_a_look_is_one_moment_and_one_turn_of_the_thread(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[object] = []

    async def twice(conn: AsyncConnection) -> list[int]:
        return [len((await conn.execute(select(PERSON.c.key))).all()) for _ in range(2)]

    await store.write(lambda conn: _see(conn, "a"))
    assert await store.look(twice) == [1, 1]
    await store.write(lambda conn: _see(conn, "b"))
    if store.dialect == "sqlite":
        looking: Any = store._looking  # reaches inside, as above
        monkeypatch.setattr(driver_of(looking), "_tx", _Counted(driver_of(looking)._tx, turns))
    assert await store.look(twice) == [2, 2], "each look sees what was written before it"
    assert len(turns) == (1 if store.dialect == "sqlite" else 0)


@pytest.mark.parametrize("apart", [False, True])
async def test_a_look_writes_nothing_and_the_next_one_is_whole(store: Store, *, apart: bool) -> None:
    with pytest.raises(Exception, match=r"(?i)read.?only"):
        await store.look(lambda conn: _see(conn, "a"), apart=apart)
    for turns in range(8):
        await cancelled_after(turns, store.look(_all_keys, apart=apart))
        assert await store.look(_all_keys, apart=apart) == []
    found = await asyncio.gather(*(store.look(_all_keys, apart=apart) for _ in range(20)))
    assert found == [[]] * 20


async def test_no_look_waits_for_one_that_is_apart(store: Store) -> None:
    if store.dialect == "postgresql":
        pytest.skip("PostgreSQL has no thread of its own")
    seen = threading.Event()

    async def long(conn: AsyncConnection) -> bool:
        await _all_keys(conn)
        return seen.wait(60)  # the database's thread waits, as for a long statement

    waiting = asyncio.ensure_future(store.look(long, apart=True))
    await asyncio.sleep(0)
    assert await store.look(_all_keys) == await store.look(_all_keys, apart=True) == []
    seen.set()
    assert await waiting


async def _all_keys(conn: AsyncConnection) -> list[str]:
    return list((await conn.execute(select(PERSON.c.key))).scalars())


async def test_whoever_is_cancelled_leaves_a_whole_transaction_or_none(store: Store) -> None:
    async def pair(number: int) -> None:
        await store.write(lambda conn: _see(conn, f"{number:02}-a", f"{number:02}-b"))

    for turns in range(12):
        await cancelled_after(turns, pair(turns))
        await store.write(partial(_seen_by, f"{turns:02}-c"))
    keys = await _seen(store)
    assert sum(key.endswith("c") for key in keys) == 12
    assert {key[:2] for key in keys if key.endswith("a")} == {key[:2] for key in keys if key.endswith("b")}


async def test_the_work_knows_what_its_caller_is_about(store: Store) -> None:
    async def who(conn: AsyncConnection) -> str:
        return ABOUT.get()

    ABOUT.set("delivery 7")
    assert await store.write(who) == "delivery 7"


async def test_only_what_need_not_last_does_not_wait_for_the_disk(store: Store) -> None:
    sql = {"sqlite": "PRAGMA synchronous", "postgresql": "SHOW synchronous_commit"}[store.dialect]
    waits, not_lasting = {"sqlite": (2, 1), "postgresql": ("on", "off")}[store.dialect]

    async def setting(conn: AsyncConnection) -> object:
        return (await conn.exec_driver_sql(sql)).scalar_one()

    async def broken(conn: AsyncConnection) -> None:
        raise LookupError

    for _ in range(2):  # a statement that the driver keeps is compiled once
        assert await store.write(setting, lasting=False) == not_lasting
        assert await store.write(setting) == waits
    with pytest.raises(LookupError):
        await store.write(broken, lasting=False)
    async with store.begin() as conn:
        assert await setting(conn) == waits


async def test_a_store_that_is_read_only_refuses_and_a_full_disk_is_told_as_unavailable(store: Store) -> None:
    full = {"sqlite": "PRAGMA max_page_count = 1", "postgresql": "SET TRANSACTION READ ONLY"}[store.dialect]

    async def too_much(conn: AsyncConnection) -> None:
        await conn.exec_driver_sql(full)
        await conn.execute(insert(PERSON).values(key="a", name="a" * 200_000, bot=False))

    with pytest.raises(StoreUnavailableError):
        await store.write(too_much)
    reader = await Store.open(store.url.render_as_string(hide_password=False), read_only=True)
    with pytest.raises(RuntimeError, match="opened to be read"):
        await reader.write(too_much)
    await reader.close()


async def test_a_transaction_cancelled_while_it_begins_leaves_nothing_behind(store: Store) -> None:
    """For any moment of the cancelling, the next transaction, with a savepoint in it, is whole."""

    async def work(key: str, conn: AsyncConnection) -> None:
        async with conn.begin_nested():
            await _see(conn, key)

    async def endless() -> None:
        async with store.begin() as conn:
            await _see(conn, "nobody")
            await asyncio.Event().wait()

    for turns in range(30):
        assert isinstance(await cancelled_after(turns, endless()), asyncio.CancelledError)
        await store.write(partial(work, f"{turns:02}"))
    assert await _seen(store) == [f"{turns:02}" for turns in range(30)]


async def test_a_transaction_behind_a_cancelled_plan_is_a_transaction(store: Store) -> None:
    """Its end is still on its way in the database's thread when the next one begins."""

    async def undone(key: str) -> None:
        async with store.begin() as conn:
            await _see(conn, key)
            raise LookupError

    for turns in range(20):
        await cancelled_after(turns, store.write_at_once(_slow_plan()))
        with pytest.raises(LookupError):
            await undone(f"{turns:02}")
    assert await _seen(store) == []


def _slow_plan() -> Plan[None]:
    yield Ask("SELECT COUNT(*) FROM person CROSS JOIN person AS other")
