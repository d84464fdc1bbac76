"""A question that many ask: each has an answer to what was sent after they asked, or the driver's own error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.store import asking
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


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer comes at once."""
    monkeypatch.setattr(asking, "_LOOKS", 0)


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


async def test_who_asks_while_an_answer_is_on_its_way_has_a_later_one_and_shares_it(driver: Any, far: None) -> None:
    await driver.execute("CREATE TEMPORARY SEQUENCE asked")
    async with asked(driver, b"SELECT nextval('asked')") as question:
        assert await asyncio.gather(*(question.answer() for _ in range(50))) == ["1", *["2"] * 49]
        assert await question.answer() == "3"


async def test_who_asks_in_one_turn_of_the_event_loop_shares_an_answer_that_comes_at_once(
    driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_LOOKS", 10**9)
    await driver.execute("CREATE TEMPORARY SEQUENCE asked")
    async with asked(driver, b"SELECT nextval('asked')") as question:
        for turn in ("1", "2"):
            assert await asyncio.gather(*(question.answer() for _ in range(50))) == [turn] * 50
        for later in ("3", "4"):
            await asyncio.sleep(0)
            assert await question.answer() == later


async def test_an_answer_that_never_comes_at_once_is_looked_for_ever_more_seldom(
    driver: Any, far: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[bool] = []
    look = Question._look

    def noted(question: Question, mine: asyncio.Future[str]) -> None:
        looked.append(not question._rest)  # reaches inside: a look leaves no other trace
        look(question, mine)

    monkeypatch.setattr(Question, "_look", noted)
    async with asked(driver, b"SELECT 'tide'") as question:
        assert [await question.answer() for _ in range(20)] == ["tide"] * 20
    assert [number for number, was in enumerate(looked) if was] == [0, 2, 6, 14]


async def test_who_asks_no_more_takes_nothing_from_the_others(driver: Any, far: None) -> None:
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
