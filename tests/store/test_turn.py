"""Is a plan the same on both databases, what is waited for and what is not?"""

from __future__ import annotations

import pytest

from bot.store.engine import Store
from bot.store.turn import Ask, Plan, Say, Tell, asked, run


def _kept(last: str) -> Plan[list[int]]:
    yield Say("CREATE TEMPORARY TABLE kept (one bigint)")
    yield Tell("INSERT INTO kept VALUES (?)", [(1,), (2,)])
    found = yield Ask("SELECT one FROM kept ORDER BY one")
    yield Say("INSERT INTO kept VALUES (?)", (3,))
    yield Say(last)
    return [row[0] for row in found]


async def test_a_question_sees_what_was_said_before_it(store: Store) -> None:
    async with store.begin() as conn:
        assert await run(conn, _kept("INSERT INTO kept VALUES (4)")) == [1, 2]
        assert await run(conn, _asked()) == 4


def _asked() -> Plan[int]:
    ((number,),) = yield Ask("SELECT count(*) FROM kept")
    return int(number)


async def test_questions_asked_together_are_answered_each_by_itself(store: Store) -> None:
    async with store.begin() as conn:
        await run(conn, _kept("INSERT INTO kept VALUES (4)"))
        largest, none, all_of_them = await run(conn, asked(*map(Ask, _QUESTIONS)))
    assert (largest, none, all_of_them) == ([(4,)], [], [(1,), (2,), (3,), (4,)])


_QUESTIONS = (
    "SELECT max(one) FROM kept",
    "SELECT one FROM kept WHERE one > 4",
    "SELECT one FROM kept ORDER BY one",
)


@pytest.mark.parametrize("wrong", ["INSERT INTO kept VALUES (5, 6)", "INSERT INTO nowhere VALUES (1)"])
async def test_an_error_of_what_nobody_waits_for_is_told_and_takes_all_back(store: Store, wrong: str) -> None:
    with pytest.raises(Exception, match=r"kept|nowhere|target columns"):
        async with store.begin() as conn:
            await run(conn, _kept(wrong))
    async with store.begin() as conn:
        assert await run(conn, _kept("INSERT INTO kept VALUES (4)")) == [1, 2]
