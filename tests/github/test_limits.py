from __future__ import annotations

import asyncio
import contextlib
import itertools

import msgspec
import pytest

from bot.github.lane import Errand, Lane, errand_of
from bot.github.limits import Limited, RequestPace, exhausted_wait, limit_wait, retry_wait
from tests.github.conftest import TestClock

READ, QUESTION, EDIT = Errand(), Errand("graphql"), Errand(write="edit")
CONTENT, ISSUE, DIGEST = Errand(write="content"), Errand(write="issue"), Errand(write="content", urgent=False)


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
    for errand in (EDIT, READ, EDIT, EDIT):
        async with lane.turn(errand):
            pass
    assert time_passing.slept == [1.0, 1.0]


async def test_requests_of_one_installation_never_overlap(time_passing: TestClock) -> None:
    lane, inside, most = Lane(RequestPace(), time_passing.clock()), 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with lane.turn(READ):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(20)))
    assert most == 1


async def test_a_pause_longer_than_the_time_limit_is_reported_at_once(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(patience=90), time_passing.clock())
    await lane.pause("core", 600)
    with pytest.raises(Limited) as told:
        async with lane.turn(READ):
            raise AssertionError("a request started inside the pause")
    assert told.value.wait == 600
    assert time_passing.slept == []


async def test_a_short_pause_is_waited_out(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(patience=90), time_passing.clock())
    await lane.pause("core", 30)
    await lane.pause("core", 10)
    async with lane.turn(READ):
        assert time_passing.now == 1030


@pytest.mark.parametrize(
    ("method", "url", "write", "resource"),
    [
        ("GET", "/repositories/1/issues", None, "core"),
        ("POST", "/repositories/1/issues", "issue", "core"),
        ("POST", "/repositories/1/issues/3/comments", "content", "core"),
        ("PATCH", "/repositories/1/issues/comments/3", "edit", "core"),
        ("POST", "/app/installations/1/access_tokens", None, "core"),
        ("QUERY", "/graphql", None, "graphql"),
        ("POST", "/graphql", "content", "graphql"),
    ],
)
def test_a_request_is_what_github_limits_it_as(method: str, url: str, write: str | None, resource: str) -> None:
    found = errand_of(method, f"https://api.github.com{url}")
    assert (found.write, found.resource) == (write, resource)


async def test_a_limit_on_writes_stops_no_read_and_one_of_rest_stops_no_question(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(patience=9), time_passing.clock())
    await lane.pause("writes", 600)
    for errand in (READ, QUESTION):
        async with lane.turn(errand):
            assert time_passing.slept == []
    await lane.pause("core", 300)
    async with lane.turn(QUESTION):
        assert time_passing.slept == []
    for errand, expected in ((READ, 300), (EDIT, 600), (Errand("graphql", "content"), 600)):
        with pytest.raises(Limited) as told:
            async with lane.turn(errand):
                raise AssertionError("a request started inside the pause")
        assert told.value.wait == expected


async def test_reads_pass_a_write_that_waits(time_passing: TestClock) -> None:
    asleep, wake, order = asyncio.Event(), asyncio.Event(), []

    async def sleep(seconds: float) -> None:
        asleep.set()
        await wake.wait()
        time_passing.now += seconds

    lane = Lane(RequestPace(), msgspec.structs.replace(time_passing.clock(), sleep=sleep))

    async def take(errand: Errand) -> None:
        async with lane.turn(errand):
            order.append(errand)

    await take(EDIT)
    waiting = asyncio.create_task(take(EDIT))
    await asleep.wait()
    await take(READ)
    wake.set()
    await waiting
    assert order == [EDIT, READ, EDIT]


async def post_for_hours(lane: Lane, clock: TestClock, errand: Errand, hours: int) -> list[float]:
    """The times of as many posts as the lane allows."""
    posted, end = [], clock.now + hours * 3600
    while clock.now < end:
        try:
            async with lane.turn(errand):
                posted.append(clock.now)
        except Limited as limited:
            clock.now += limited.wait
    return posted


@pytest.mark.parametrize(("errand", "a_minute", "an_hour"), [(CONTENT, 61, 450), (ISSUE, 16, 120)])
async def test_posts_stay_below_githubs_limits_in_every_minute_and_hour(
    time_passing: TestClock, errand: Errand, a_minute: int, an_hour: int
) -> None:
    lane = Lane(RequestPace(patience=10), time_passing.clock())
    posted = await post_for_hours(lane, time_passing, errand, 5)
    assert max(sum(start <= one < start + 60 for one in posted) for start in posted) <= a_minute
    assert max(sum(start <= one < start + 3600 for one in posted) for start in posted) <= an_hour
    assert len(posted) >= 5 * (350 if errand is CONTENT else 99)


async def test_digests_leave_a_part_of_the_budget_to_landings(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(patience=5), time_passing.clock())
    digests = 0
    with contextlib.suppress(Limited):
        for _ in range(100):
            async with lane.turn(DIGEST):
                digests += 1
    before = time_passing.now
    for _ in range(60):
        async with lane.turn(CONTENT):
            pass
    assert digests < 60
    assert time_passing.now - before <= 60, "a second each: the pause between two writes and nothing else"


async def test_those_that_must_wait_long_come_back_one_after_the_other(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(patience=10), time_passing.clock())
    waits = []
    for _ in range(60):
        with contextlib.suppress(Limited):
            async with lane.turn(ISSUE):
                continue
    for _ in range(3):
        with pytest.raises(Limited) as told:
            async with lane.turn(ISSUE):
                pass
        waits.append(told.value.wait)
    assert [round(after - before) for before, after in itertools.pairwise(waits)] == [36, 36]


async def test_without_a_gap_nothing_is_paced(time_passing: TestClock) -> None:
    lane = Lane(RequestPace(write_gap=0), time_passing.clock())
    for _ in range(2000):
        async with lane.turn(ISSUE):
            pass
    assert time_passing.slept == []
