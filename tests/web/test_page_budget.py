"""What may a page use, and what do its time and its answer reveal?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from sqlalchemy import Connection, event, text

from bot.store.engine import ReadTooLongError, Store, page_reads
from bot.web.page_budget import PageBudget, PageRefusedError
from tests.databases import ON_SQLITE, database_url, store
from tests.web.library import ADA_KEY, fill, publish, serve

__all__ = ["database_url", "store"]
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
REQUEST = make_mocked_request("GET", "/")


def _endless(connection: Connection) -> int:
    return int(connection.execute(text(ENDLESS)).scalar_one())


@ON_SQLITE
async def test_an_endless_read_of_a_page_is_stopped_and_the_connection_works_again(store: Store) -> None:
    with page_reads(0.1), pytest.raises(ReadTooLongError):
        await store.read(_endless)
    with page_reads(10):
        assert await store.read(lambda connection: connection.execute(text("SELECT 1")).scalar_one()) == 1


@ON_SQLITE
async def test_pages_that_read_for_long_hold_up_no_other_reader(store: Store) -> None:
    async def read_slowly() -> None:
        with page_reads(1.0), pytest.raises(ReadTooLongError):
            await store.read(_endless)

    slow = [asyncio.create_task(read_slowly()) for _ in range(6)]
    await asyncio.sleep(0.05)
    assert await store.read(lambda connection: connection.execute(text("SELECT 1")).scalar_one()) == 1
    assert not any(task.done() for task in slow)
    await asyncio.gather(*slow)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_postgresql_stops_a_pages_statement_itself(store: Store) -> None:
    with page_reads(10):
        assert await store.read(lambda one: one.execute(text("SHOW statement_timeout")).scalar_one()) == "10s"


async def _slow(_: web.Request) -> web.Response:
    await asyncio.sleep(60)
    raise AssertionError


async def _quick(_: web.Request) -> web.Response:
    return web.Response(body=b"x" * 100)


async def _refusal(budget: PageBudget, address: str | None, make: Any = _quick) -> int:
    try:
        await budget.answer(address, REQUEST, make)
    except PageRefusedError as refused:
        return refused.status
    return 0


async def test_a_page_that_takes_too_long_is_put_off() -> None:
    assert await _refusal(PageBudget(seconds=0.01), "a", _slow) == 429


async def test_a_page_that_is_too_large_is_refused() -> None:
    assert await _refusal(PageBudget(largest=99), "a") == 413
    assert await _refusal(PageBudget(largest=100), "a") == 0


async def test_one_address_cannot_use_up_all_pages() -> None:
    budget = PageBudget(at_once=4, of_one=2)
    making = [asyncio.create_task(_refusal(budget, "a", _slow)) for _ in range(2)]
    await asyncio.sleep(0)
    assert await _refusal(budget, "a") == 429
    assert await _refusal(budget, "b") == 0
    making += [asyncio.create_task(_refusal(budget, None, _slow)) for _ in range(2)]
    await asyncio.sleep(0)
    assert await _refusal(budget, "b") == 429
    for task in making:
        task.cancel()
    await asyncio.gather(*making, return_exceptions=True)
    assert await _refusal(budget, "a") == 0


@pytest.mark.parametrize("cookie", [b"\xff\xfe", b"__Host-almanac-session=\xe9", b"a=\xc3\xa9; b=c"])
async def test_odd_bytes_in_a_cookie_are_a_bad_request(store: Store, cookie: bytes) -> None:
    async with serve(store) as site:
        port = int(site.url.rsplit(":", 1)[1])
        for path in (b"/", b"/settings", b"/@nobody"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nCookie: " + cookie + b"\r\n\r\n")
            assert b" 400 " in await reader.readline()
            writer.close()


async def test_private_and_absent_people_cost_the_same_statements(store: Store) -> None:
    await fill(store)
    seen: list[str] = []
    with page_reads(10), store.snapshot() as connection:
        engine = connection.engine
    event.listen(engine, "before_cursor_execute", lambda connection, cursor, statement, *rest: seen.append(statement))

    async def statements(site: Any, path: str) -> list[str]:
        seen.clear()
        assert (await site.get(path))[0] == 404
        return [statement for statement in seen if not statement.startswith("SET")]

    async with serve(store) as site:
        absent = await statements(site, "/@nobody-here")
        private = await statements(site, "/@ada-example")
        assert len(absent) > 1
        assert private == absent
        assert await statements(site, "/organisations/acme") == await statements(site, "/organisations/nobody")
        await publish(store)
        assert (await site.get("/@ada-example"))[0] == 200
        assert ADA_KEY not in await site.text("/")
