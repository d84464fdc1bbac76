"""How does a page show when work landed: heat maps by year, bars by month, and the table behind both?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from bot.metrics.registry import metrics_on
from bot.model.profile import MonthRecord, Profile
from bot.render import wording
from bot.render.escaping import HtmlText
from bot.render.images import charts

_DAYS_OF_A_PICTURE = 5


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
    one = charts.year_map(year, days, commits)
    label = f"{year}: {wording.quantity(one.commits, 'commit')} on {wording.quantity(one.days, 'day')}"
    points = "".join([f'<path class=l{level} d="{path}"/>' for level, path in one.levels])
    row = (
        f'<div class=yr><span>{year}</span><svg viewBox="-.5 -.5 54 7" role=img aria-label="{label}">'
        f'<path class=l0 d="{one.every_day}"/>{points}</svg></div>\n\n'
    )
    day_labels = {
        day: f"{int(day[8:])} ({number})" if number != 1 else f"{int(day[8:])}"
        for day, number in zip(days, commits, strict=True)
    }
    months = charts.by_month(days).items()
    return YearPicture(year, row, {month: ", ".join([day_labels[day] for day in found]) for month, found in months})


def first_screen_year(
    pictures: Sequence[YearPicture], years: charts.Days
) -> tuple[Sequence[YearPicture], Sequence[YearPicture]]:
    """The newest year with enough days of work to make a picture, else the newest; and the other years."""
    full = [one for one in pictures if len(years[one.year]) >= _DAYS_OF_A_PICTURE]
    first = [*full[:1]] or [*pictures[:1]]
    return first, [one for one in pictures if one not in first]


def map_rows(pictures: Iterable[YearPicture]) -> HtmlText:
    """The heat maps of these years."""
    return HtmlText("".join([one.row for one in pictures]))


def month_rows(profile: Profile, pictures: Iterable[YearPicture]) -> HtmlText:
    """The table behind every chart and total: one row per active month, newest first."""
    days = {month: text for one in pictures for month, text in one.days.items()}
    columns = [(metric.key, metric.figure) for metric in metrics_on("table")]

    def cells(month: MonthRecord) -> str:
        number = month.numbers.get
        return "".join(["<td>" + figure(number(key)) for key, figure in columns])

    return HtmlText(
        "".join(
            [
                f"<tr><th scope=row><a href=#m{one.month}>{wording.short_month(one.month)}</a>"
                f"{cells(one)}<td>{days.get(one.month, '')}"
                for one in profile.months
            ]
        )
    )


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
