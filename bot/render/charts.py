"""Which shapes draw a person's activity? Path data alone: pages and standalone pictures frame it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from bot.model import MonthRecord

LEVELS = ((8, "8 or more"), (4, "4 to 7"), (2, "2 to 3"), (1, "1"))
"""(least commits, words) of a day's level, the strongest first; fixed, so that two pages compare"""
_LEVEL_OF = tuple(max(0, sum(commits >= least for least, _ in LEVELS) - 1) for commits in range(9))
COLUMNS = 54
"""weeks that a calendar year can touch"""


@dataclass(frozen=True, slots=True)
class YearMap:
    """One calendar year as a grid: x is the week, y the weekday (Monday 0), a day is a point of a stroked path."""

    year: str
    commits: int
    days: int
    every_day: str
    """path of seven lines; drawn with the dashes `0 1` it shows each day of the year"""
    levels: tuple[tuple[int, str], ...]
    """(level 1-4, path), only those that occur"""


def year_maps(activity: Mapping[str, int]) -> list[YearMap]:
    """A map for every calendar year from the first day with work to the last, newest first."""
    years: dict[str, list[tuple[str, int]]] = {}
    for day, commits in activity.items():
        years.setdefault(day[:4], []).append((day, commits))
    if not years:
        return []
    span = range(int(max(years)), int(min(years)) - 1, -1)
    return [_year_map(f"{year:04d}", years.get(f"{year:04d}", [])) for year in span]


def _year_map(year: str, rows: list[tuple[str, int]]) -> YearMap:
    every_day, places = _year_grid(int(year))
    points: tuple[list[str], ...] = ([], [], [], [])
    for day, commits in rows:
        points[_LEVEL_OF[min(commits, 8)]].append(places[day])
    return YearMap(
        year=year,
        commits=sum(commits for _, commits in rows),
        days=len(rows),
        every_day=every_day,
        levels=tuple((level + 1, "".join(path)) for level, path in enumerate(points) if path),
    )


@lru_cache(maxsize=64)
def _year_grid(year: int) -> tuple[str, dict[str, str]]:
    """(path of all days of the year as seven lines, path of each day as a point)."""
    start = date(year, 1, 1).toordinal()
    monday = start - date(year, 1, 1).weekday()
    days = {date.fromordinal(number): number - monday for number in range(start, date(year, 12, 31).toordinal() + 1)}
    weeks: dict[int, list[int]] = {weekday: [] for weekday in range(7)}
    for place in days.values():
        weeks[place % 7].append(place // 7)
    lines = "".join(f"M{row[0]} {weekday}H{row[-1]}.01" for weekday, row in weeks.items())
    return lines, {day.isoformat(): f"M{place // 7} {place % 7}h0" for day, place in days.items()}


def whole_years(months: Iterable[str]) -> list[str]:
    """All calendar months of the years from the first of `months` to the last, oldest first."""
    years = [int(month[:4]) for month in months]
    if not years:
        return []
    return [f"{year:04d}-{month:02d}" for year in range(min(years), max(years) + 1) for month in range(1, 13)]


def month_bars(months: Sequence[MonthRecord], height: int = 40) -> tuple[list[str], str, int]:
    """(every month shown, oldest first, path of one bar a month with work, commits of the highest bar)."""
    commits: dict[str, int] = {month.month: month.commits for month in months}
    span = whole_years(commits)
    peak = max(commits.values(), default=0)
    bars = []
    for place, month in enumerate(span):
        if number := commits.get(month, 0):
            tall = round(height * number / peak, 1)
            bars.append(f"M{place}.1 {height}v-{tall:g}h.8v{tall:g}z")
    return span, "".join(bars), peak


def shares(numbers: Sequence[int], width: int) -> list[tuple[float, float]]:
    """(start, length) of each number's part in a bar of `width`, in order; nothing where all are zero."""
    total = sum(numbers)
    placed, start = [], 0
    for number in numbers:
        if total:
            placed.append((round(start * width / total, 2), round(number * width / total, 2)))
        start += number
    return placed
