"""How long must a request to GitHub wait?

The order is GitHub's own: `retry-after`, then `x-ratelimit-reset` once nothing remains, then at least a minute,
doubling.
https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime

from gidgethub import GitHubException
from msgspec import Struct

_FIRST_SECONDARY_WAIT = 60.0
_LONGEST_WAIT = 3900.0
"""a primary window is an hour, so a header that claims more than this is ignored"""
_LONGEST_RETRY = 30.0
_QUERY_LIMITS = ("RATE_LIMITED", "RATE_LIMIT")
_SECONDARY_WORDS = ("secondary rate limit", "abuse detection", "rate limit exceeded")


class Limited(GitHubException):
    """GitHub demands a longer pause than a request waits for; try again after `wait` seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"limited for {wait:.0f} s")
        self.wait = wait


class Clock(Struct, frozen=True):
    """What a test replaces: a monotonic clock, the wall clock, sleep (all in seconds) and randomness."""

    steady: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """0 <= x < 1, for jitter"""


class RequestPace(Struct, frozen=True):
    """How a client behaves over time, in seconds and attempts."""

    write_gap: float = 1.0
    """between two writes of one installation; with 0 there are no hourly budgets either"""
    patience: float = 90.0
    """longest pause to sleep through; a longer one raises `Limited`"""
    attempts: int = 4
    """for one request, when GitHub or the network fails"""


def limit_wait(status: int, headers: Mapping[str, str], *, message: str, hits: int, wall: float) -> float | None:
    """Seconds to wait after a refused request, or None if the refusal was not a rate limit.

    `hits` counts the limits hit in a row (from 1); `wall` is epoch seconds, used if the answer carries no date.
    """
    if status not in (403, 429):
        return None
    asked = _retry_after(headers, wall)
    if asked is None:
        asked = exhausted_wait(headers, wall)
    if asked is None and (status == 429 or any(words in message.lower() for words in _SECONDARY_WORDS)):
        asked = _FIRST_SECONDARY_WAIT * 2 ** min(hits - 1, 6)
    return None if asked is None else min(max(asked, 1.0), _LONGEST_WAIT)


def is_query_limit(answer: object) -> bool:
    """True for GraphQL's rate-limit answer, which has status 200.

    Neither its type nor its headers are reliable: both types have been seen, and the secondary limit has only a
    message.
    https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
    """
    errors = answer.get("errors") if isinstance(answer, Mapping) else None
    return any(_mentions_limit(error) for error in (errors if isinstance(errors, list) else ()))


def _mentions_limit(error: object) -> bool:
    if not isinstance(error, Mapping):
        return False
    words = str(error.get("message", "")).lower()
    return error.get("type") in _QUERY_LIMITS or any(known in words for known in _SECONDARY_WORDS)


def exhausted_wait(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds until the primary limit resets, or None unless the headers say that nothing remains."""
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining", "").strip() != "0" or not _is_count(reset):
        return None
    return min(max(int(reset) - _server_time(headers, wall), 0.0) + 1.0, _LONGEST_WAIT)


def retry_wait(attempt: int, chance: float) -> float:
    """Seconds before attempt `attempt + 1` after a failure of GitHub or the network: exponential, with jitter."""
    return min(_LONGEST_RETRY, 2.0 ** (attempt - 1)) * (0.5 + chance / 2)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12


def _retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    value = headers.get("retry-after", "").strip()
    if _is_count(value):
        return float(value)
    date = _http_date(value)
    return None if date is None else max(date - _server_time(headers, wall), 0.0)


def _server_time(headers: Mapping[str, str], wall: float) -> float:
    """GitHub's own clock if the answer has a date: resets are epoch seconds of that clock, not of ours."""
    date = _http_date(headers.get("date", ""))
    return wall if date is None else date


def _http_date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
