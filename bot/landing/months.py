"""In which calendar month and on which day does a moment fall, in a given zone?"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.model.ids import Month


def local_time(epoch_seconds: int, zone: ZoneInfo) -> datetime:
    """The moment in that zone's local time."""
    return datetime.fromtimestamp(epoch_seconds, zone)


@lru_cache(maxsize=16_384)
def month_of(epoch_seconds: int, zone: ZoneInfo) -> Month:
    """`YYYY-MM` in that zone; cached, because it is needed many times for each landing."""
    return Month(day_of(epoch_seconds, zone)[:7])


@lru_cache(maxsize=16_384)
def day_of(epoch_seconds: int, zone: ZoneInfo) -> str:
    """`YYYY-MM-DD` in that zone."""
    return local_time(epoch_seconds, zone).date().isoformat()


def month_after(month: Month, months: int = 1) -> Month:
    """The month that many months later (earlier if negative)."""
    year, number = parse_month(month)
    count = year * 12 + number - 1 + months
    return Month(f"{count // 12:04d}-{count % 12 + 1:02d}")


def parse_month(month: str) -> tuple[int, int]:
    """(year, month number). Raises ValueError for anything but `YYYY-MM`."""
    year, dash, number = month.partition("-")
    plain = len(year) == 4 and len(number) == 2 and (year + number).isascii() and (year + number).isdecimal()
    if not dash or not plain or not 1 <= int(number) <= 12 or int(year) < 1:
        raise ValueError(f"{month!r} is not a month; write it as 2025-06")
    return int(year), int(number)


def months_between(first: Month, last: Month) -> tuple[Month, ...]:
    """Every month from the first to the last, both included; none where the last is before the first."""
    (year, number), (until_year, until_number) = parse_month(first), parse_month(last)
    count = (until_year - year) * 12 + until_number - number + 1
    return tuple(month_after(first, step) for step in range(max(count, 0)))


def closed_months(first: Month, now: int, zone: ZoneInfo) -> tuple[Month, ...]:
    """Every month from the first on that is over in that zone at `now` (epoch seconds)."""
    return months_between(first, month_after(month_of(now, zone), -1))


def month_start(month: Month, zone: ZoneInfo) -> int:
    """Epoch seconds of the first moment of the month in that zone.

    A clock change may skip or repeat midnight, and a whole day may be skipped, so this is a search: `month_of` gives
    this month at the result and an earlier one a second before.
    """
    year, number = parse_month(month)
    middle = int(datetime(year, number, 1, tzinfo=UTC).timestamp())
    low, high = middle - 172_800, middle + 172_800
    while low < high:
        between = (low + high) // 2
        if month_of(between, zone) < month:
            low = between + 1
        else:
            high = between
    return low
