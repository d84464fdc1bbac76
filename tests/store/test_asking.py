"""A question that many ask: each has an answer to what was sent after they asked, or the driver's own error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.store.asking import Question
from tests.databases import fresh_database


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with fresh_database("postgresql", tmp_path) as url:
        yield url.replace("+psycopg", "", 1)


@pytest.fixture
async def driver(address: str) -> AsyncIterator[Any]:
    import psycopg

    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as found:
        yield found


@asynccontextmanager
async def asked(driver: Any, text: bytes) -> AsyncIterator[Question]:
    question = Question(driver, text)
    try:
        yield question
    finally:
        question.close()


async def test_the_answer_is_the_first_value(driver: Any) -> None:
    async with asked(driver, b"SELECT 'tide', 2 UNION ALL SELECT 'wave', 3") as question:
        assert [await question.answer() for _ in range(3)] == ["tide"] * 3
    async with asked(driver, b"SELECT repeat('x', 3000000)") as question:
        assert len(await question.answer()) == 3_000_000


async def test_who_asks_while_an_answer_is_on_its_way_has_a_later_one_and_shares_it(driver: Any) -> None:
    await driver.execute("CREATE TEMPORARY SEQUENCE asked")
    async with asked(driver, b"SELECT nextval('asked')") as question:
        assert await asyncio.gather(*(question.answer() for _ in range(50))) == ["1", *["2"] * 49]
        assert await question.answer() == "3"


async def test_who_asks_no_more_takes_nothing_from_the_others(driver: Any) -> None:
    async with asked(driver, b"SELECT 'tide'") as question:
        many = [asyncio.ensure_future(question.answer()) for _ in range(6)]
        await asyncio.sleep(0)
        many[0].cancel()
        many[3].cancel()
        found = await asyncio.gather(*many, return_exceptions=True)
        assert [str(one) for one in found if not isinstance(one, BaseException)] == ["tide"] * 4
        assert await question.answer() == "tide"


@pytest.mark.parametrize("text", [b"SELECT 1/0", b"SELECT pg_terminate_backend(pg_backend_pid())", b"ANALYZE"])
async def test_what_has_no_answer_is_the_drivers_own_error_for_everybody(driver: Any, text: bytes) -> None:
    import psycopg

    async with asked(driver, text) as question:
        found = await asyncio.gather(*(question.answer() for _ in range(3)), return_exceptions=True)
        assert [type(one) for one in found if isinstance(one, psycopg.OperationalError)] == [type(one) for one in found]
        with pytest.raises(psycopg.OperationalError):
            await question.answer()


async def test_a_connection_that_ends_meanwhile_is_noticed(driver: Any, address: str) -> None:
    import psycopg

    async with asked(driver, b"SELECT 'tide'") as question:
        assert await question.answer() == "tide"
        async with await psycopg.AsyncConnection.connect(address, autocommit=True) as other:
            await other.execute("SELECT pg_terminate_backend(%s, 5000)", [driver.info.backend_pid])
        with pytest.raises(psycopg.OperationalError):
            await question.answer()
