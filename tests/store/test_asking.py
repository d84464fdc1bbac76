"""A short question past the driver's cursors: its answer, or the error that anybody else would get."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.store.asking import ask
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


async def test_the_answer_is_the_first_value(driver: Any) -> None:
    assert await ask(driver, b"SELECT 'tide', 2 UNION ALL SELECT 'wave', 3") == "tide"
    long = await ask(driver, b"SELECT repeat('x', 3000000)")
    assert len(long) == 3_000_000


async def test_many_ask_at_once_and_each_has_its_own_answer(driver: Any) -> None:
    found = await asyncio.gather(*(ask(driver, f"SELECT {number}".encode()) for number in range(50)))
    assert found == [str(number) for number in range(50)]


@pytest.mark.parametrize("question", [b"SELECT 1/0", b"SELECT pg_terminate_backend(pg_backend_pid())", b"ANALYZE"])
async def test_what_has_no_answer_is_the_drivers_own_error(driver: Any, question: bytes) -> None:
    import psycopg

    with pytest.raises(psycopg.OperationalError):
        await ask(driver, question)
