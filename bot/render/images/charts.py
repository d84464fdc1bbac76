"""Which shapes draw a person's activity? Only path data; pages and SVG files add the frame."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache

from msgspec import Struct

from bot.model.profile import MonthRecord

LEVELS = ((8, "8 or more"), (4, "4 to 7"), (2, "2 to 3"), (1, "1"))
"""(fewest commits, words) of a day's level, highest first; fixed, so that two pages can be compared"""
_LEVEL_OF = tuple(max(0, sum(commits >= least for least, _ in LEVELS) - 1) for commits in range(9))
WHOLE_YEAR, HALVES = (0, 54), ((0, 26), (26, 54))
"""weeks of a year's grid, and of its halves: the second begins with the week of 1 July, or the week after"""
Days = dict[str, list[str]]
"""year or month -> its days with work, oldest first"""


class YearMap(Struct, frozen=True):
    """One calendar year as a grid: x is the week, y the weekday (Monday is 0); a day is a point of a stroked path."""

    year: str
    commits: int
    days: int
    every_day: str
    """path of seven lines; with a dash pattern of `0 1` it shows each day of the year"""
    levels: tuple[tuple[int, str], ...]
    """(level from 1 to 4, path), only levels that occur"""


def by_year(activity: Mapping[str, int]) -> Days:
    """The days with work of each calendar year that has any, oldest first."""
    return _runs(sorted(activity), len("2026"))


def by_month(days: Sequence[str]) -> Days:
    """Days by calendar month, oldest first."""
    return _runs(days, len("2026-01"))


def _runs(days: Sequence[str], width: int) -> Days:
    """Sorted days, grouped by their first `width` characters."""
    found: Days = {}
    begin = 0
    while begin < len(days):
        start = days[begin][:width]
        end = bisect_left(days, start + "~", begin)
        found[start] = [*days[begin:end]]
        begin = end
    return found


def year_maps(years: Days, activity: Mapping[str, int]) -> list[YearMap]:
    """A map for every calendar year with work, newest first."""
    return [year_map(year, days, [activity[day] for day in days]) for year, days in every_year(years)]


def every_year(years: Days) -> list[tuple[str, list[str]]]:
    """(year, its days with work) for every calendar year with work, newest first: a long gap takes no room."""
    return sorted(years.items(), reverse=True)


def year_map(year: str, days: Sequence[str], commits: Sequence[int], weeks: tuple[int, int] = WHOLE_YEAR) -> YearMap:
    """The map of these weeks of one calendar year, from the year's days with work and the commits of each."""
    every_day, day_paths = _year_grid(int(year), *weeks)
    points: tuple[list[str], ...] = ([], [], [], [])
    put = [points[level].append for level in _LEVEL_OF]
    inside = [(day_paths[day], number) for day, number in zip(days, commits, strict=True) if day in day_paths]
    for path, number in inside:
        put[number if number < 8 else 8](path)
    return YearMap(
        year=year,
        commits=sum(number for _, number in inside),
        days=len(inside),
        every_day=every_day,
        levels=tuple((level + 1, "".join(path)) for level, path in enumerate(points) if path),
    )


@lru_cache(maxsize=128)
def _year_grid(year: int, begin: int, end: int) -> tuple[str, dict[str, str]]:
    """(path of all days of these weeks of the year as seven lines, path of each day as a point).

    A point has a small length, because printing may drop lines of zero length whatever their caps.
    """
    start = date(year, 1, 1).toordinal()
    monday = start - date(year, 1, 1).weekday()
    every = {date.fromordinal(number): number - monday for number in range(start, date(year, 12, 31).toordinal() + 1)}
    days = {day: position for day, position in every.items() if begin <= position // 7 < end}
    weeks: dict[int, list[int]] = {weekday: [] for weekday in range(7)}
    for position in days.values():
        weeks[position % 7].append(position // 7)
    lines = "".join(f"M{row[0]} {weekday}H{row[-1]}.01" for weekday, row in weeks.items())
    return lines, {day.isoformat(): f"M{position // 7} {position % 7}h.01" for day, position in days.items()}


def calendar_months(months: Iterable[str]) -> list[str]:
    """All calendar months of each year that has one of `months`, oldest first: a long gap takes no room."""
    years = sorted({month[:4] for month in months})
    return [f"{year}-{month:02d}" for year in years for month in range(1, 13)]


def month_bars(months: Sequence[MonthRecord], height: int = 40) -> tuple[list[str], str, int]:
    """(every month shown, oldest first; path with one bar per month with work; commits of the highest bar)."""
    commits: dict[str, int] = {month.month: month.commits for month in months}
    span = calendar_months(commits)
    peak = max(commits.values(), default=0)
    # Many bars are equally high, and formatting a number costs more than looking it up.
    high = {number: f"{round(height * number / peak, 1):g}" for number in set(commits.values()) if number}
    bars = [
        f"M{index}.1 {height}v-{tall}h.8v{tall}z"
        for index, month in enumerate(span)
        if (tall := high.get(commits.get(month, 0)))
    ]
    return span, "".join(bars), peak


def shares(numbers: Sequence[int], width: int) -> list[tuple[float, float]]:
    """(start, length) of each number's part in a bar of `width`, in order; empty if all are zero."""
    total = sum(numbers)
    spans, start = [], 0
    for number in numbers:
        if total:
            spans.append((round(start * width / total, 2), round(number * width / total, 2)))
        start += number
    return spans
