"""How does a page show when work landed: heat maps by year, bars by month, and the table behind both?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from msgspec import Struct

from bot.metrics.registry import metrics_on
from bot.model.profile import MonthRecord, Profile
from bot.render import wording
from bot.render.escaping import HtmlText
from bot.render.images import charts

_DAYS_OF_A_PICTURE = 3
"""days with work from which a year makes a picture; with fewer, it would be one large nothing"""
_ROOM = 26_000
"""bytes of all maps, and of the table of months: enough for some fifteen years of work in every month"""
_MONTHS = 360
"""months above which there is less room, because the months themselves take more"""
_HALF_NAMES = {1: "First half of", 7: "Second half of"}


class YearPicture(Struct, frozen=True):
    """The days of one calendar year as a page shows them."""

    year: str
    row: str
    """the year's row of the heat map; HTML"""
    days: Mapping[str, str]
    """month -> its days with work, with the number of commits if there are several: `2, 9 (3), 28`"""


def year_pictures(years: charts.Days, activity: Mapping[str, int]) -> list[YearPicture]:
    """Every calendar year with work, newest first."""
    return [
        _year_picture(year, tuple(days), tuple([activity[day] for day in days]))
        for year, days in charts.every_year(years)
    ]


@lru_cache(maxsize=256)
def _year_picture(year: str, days: tuple[str, ...], commits: tuple[int, ...]) -> YearPicture:
    """Cached, because each landing renders the page again but changes only one of its years."""
    months = charts.by_month(days).items()
    worked = {month for month, _ in months}
    row = "".join([_half(year, charts.year_map(year, days, commits, weeks), weeks, worked) for weeks in charts.HALVES])
    day_labels = {
        day: f"{int(day[8:])} ({number})" if number != 1 else f"{int(day[8:])}"
        for day, number in zip(days, commits, strict=True)
    }
    words = {month: ", ".join([day_labels[day] for day in found]) for month, found in months}
    return YearPicture(year, f"<div class=yr><span>{year}</span>{row}</div>\n\n", words)


def _half(year: str, one: charts.YearMap, weeks: tuple[int, int], worked: Collection[str]) -> str:
    """Half a year below the names of its months; a month with work is a link, and wide enough for a finger."""
    begin, end = weeks
    first, mark = 7 if begin else 1, "" if one.days else " class=no"
    names = "".join([_month_name(f"{year}-{month:02d}", worked) for month in range(first, first + 6)])
    label = f"{_HALF_NAMES[first]} {year}: {wording.quantity(one.commits, 'commit')}"
    points = "".join([f'<path class=l{level} d="{path}"/>' for level, path in one.levels])
    return (
        f'<div{mark}><p>{names}</p><svg viewBox="{begin - 0.5:g} -.5 {end - begin} 7" role=img '
        f'aria-label="{label} on {wording.quantity(one.days, "day")}"><path class=l0 d="{one.every_day}"/>{points}'
        "</svg></div>"
    )


def _month_name(month: str, worked: Collection[str]) -> str:
    name = wording.short_month(month)[:3]
    return f"<a href=#m{month}>{name}</a>" if month in worked else f"<b>{name}</b>"


def first_screen_year(
    pictures: Sequence[YearPicture], years: charts.Days
) -> tuple[Sequence[YearPicture], Sequence[YearPicture]]:
    """The newest year with enough days of work to make a picture, if there is one, and the other years."""
    first = [one for one in pictures if len(years[one.year]) >= _DAYS_OF_A_PICTURE][:1]
    return first, [one for one in pictures if one not in first]


def map_rows(pictures: Iterable[YearPicture]) -> HtmlText:
    """The heat maps of these years."""
    return HtmlText("".join([one.row for one in pictures]))


def fitting_years(profile: Profile, pictures: Sequence[YearPicture]) -> Sequence[YearPicture]:
    """The newest years whose maps fit on a page together."""
    return pictures[: _count_fitting(profile, (one.row for one in pictures))]


def _count_fitting(profile: Profile, texts: Iterable[str]) -> int:
    """How many of these texts, from the first on, fit into the room of all maps, or of the table."""
    room = min(_ROOM, _ROOM * _MONTHS // max(1, len(profile.months)))
    return sum(size <= room for size in accumulate(map(len, texts)))


def unlisted_years(profile: Profile, rows: int, years: charts.Days, maps: int) -> str:
    """`2004`: the newest year of which some months have no row, or the days no map; empty if all is there."""
    left_out = [*(one.month[:4] for one in profile.months[rows:]), *sorted(years, reverse=True)[maps:]]
    return max(left_out, default="")


def month_rows(profile: Profile, pictures: Iterable[YearPicture]) -> list[str]:
    """The table behind every chart and total: one row per active month, newest first, as far as they fit."""
    days = {month: text for one in pictures for month, text in one.days.items()}
    columns = [(metric.key, metric.figure) for metric in metrics_on("table")]

    def cells(month: MonthRecord) -> str:
        number = month.numbers.get
        return "".join(["<td>" + figure(number(key)) for key, figure in columns])

    rows = [
        f"<tr><th scope=row><a href=#m{one.month}>{wording.short_month(one.month)}</a>"
        f"{cells(one)}<td>{days.get(one.month, '')}"
        for one in profile.months
    ]
    return rows[: _count_fitting(profile, rows)]


def month_columns() -> list[str]:
    """The headings of the numbers in that table."""
    return [metric.label for metric in metrics_on("table")]


def bars(profile: Profile) -> dict[str, Any]:
    """The monthly bars and the years of their axis."""
    span, path, peak = charts.month_bars(profile.months)
    return {
        "path": HtmlText(path),
        "peak": wording.quantity(peak, "commit"),
        "width": len(span),
        "years": sorted({month[:4] for month in span}),
        "says": f"Commits by month, {_years(span)}, at most {peak} in a month" if span else "",
        "ticks": HtmlText("".join(f"M{index} 0v40" for index, month in enumerate(span) if month[5:] == "01" and index)),
    }


def _years(span: list[str]) -> str:
    first, last = span[0][:4], span[-1][:4]
    return first if first == last else f"{first} to {last}"
