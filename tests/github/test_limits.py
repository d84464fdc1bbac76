from __future__ import annotations

import asyncio

import pytest

from bot.github.limits import Lane, Limited, RequestPace, exhausted_wait, limit_wait, retry_wait
from tests.github.conftest import TestClock


def wait(status: int, *, message: str = "", hits: int = 1, **headers: str) -> float | None:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return limit_wait(status, named, message=message, hits=hits, wall=1000.0)


@pytest.mark.parametrize("status", [403, 429])
def test_retry_after_comes_first(status: int) -> None:
    assert wait(status, retry_after="17", x_ratelimit_remaining="0", x_ratelimit_reset="9000") == 17


@pytest.mark.parametrize("status", [403, 429])
def test_an_exhausted_limit_waits_for_its_reset(status: int) -> None:
    assert wait(status, x_ratelimit_remaining="0", x_ratelimit_reset="1300") == 301


def test_the_reset_is_read_on_the_clock_of_the_server() -> None:
    date = "Thu, 01 Jan 1970 00:20:00 GMT"
    assert wait(403, x_ratelimit_remaining="0", x_ratelimit_reset="1300", date=date) == 101


def test_a_retry_after_may_be_a_date() -> None:
    assert wait(429, retry_after="Thu, 01 Jan 1970 00:17:00 GMT") == 20


def test_a_secondary_limit_waits_a_minute_and_then_doubles() -> None:
    words = "You have exceeded a secondary rate limit"
    assert [wait(403, message=words, hits=hits) for hits in (1, 2, 3)] == [60, 120, 240]
    assert wait(429) == 60


def test_a_plain_403_is_not_a_rate_limit() -> None:
    assert wait(403, message="Resource not accessible by integration", x_ratelimit_remaining="4999") is None


@pytest.mark.parametrize("status", [200, 404, 422, 500])
def test_other_statuses_are_not_rate_limits(status: int) -> None:
    assert wait(status, retry_after="17") is None


@pytest.mark.parametrize("value", ["", "soon", "-5", "1e9", "9" * 40, "²", "Thu, 99 Foo 1970"])
def test_a_non_numeric_header_is_ignored(value: str) -> None:
    assert wait(429, retry_after=value, x_ratelimit_remaining="0", x_ratelimit_reset=value) == 60


def test_no_header_makes_the_client_wait_for_days() -> None:
    assert wait(429, retry_after="999999999") == 3900
    assert exhausted_wait({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "999999999999"}, 0) == 3900


def test_retries_grow_and_are_bounded() -> None:
    assert [retry_wait(attempt, 0.0) for attempt in (1, 2, 3, 4)] == [0.5, 1, 2, 4]
    assert retry_wait(50, 0.999) <= 30


async def test_writes_of_one_installation_keep_a_second_apart(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(write_gap=1.0), time_passing.clock())
    for write in (True, False, True, True):
        async with lane.turn(write=write):
            pass
    assert time_passing.slept == [1.0, 1.0]


async def test_requests_of_one_installation_never_overlap(time_passing: TestClock) -> None:
    lane, inside, most = Lane(RequestPace(), time_passing.clock()), 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with lane.turn(write=False):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(20)))
    assert most == 1


async def test_a_pause_longer_than_the_time_limit_is_reported_at_once(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(patience=90), time_passing.clock())
    lane.pause(600)
    with pytest.raises(Limited) as told:
        async with lane.turn(write=False):
            raise AssertionError("a request started inside the pause")
    assert told.value.wait == 600
    assert time_passing.slept == []


async def test_a_short_pause_is_waited_out(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(patience=90), time_passing.clock())
    lane.pause(30)
    lane.pause(10)
    async with lane.turn(write=False):
        assert time_passing.now == 1030
