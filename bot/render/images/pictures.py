"""Which pictures of a record can a README show? SVG files with a description, for light and dark, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from bot.metrics.bugs import BUGS
from bot.metrics.feature_share import FEATURE_SHARE
from bot.metrics.features import FEATURES
from bot.metrics.metric import Metric
from bot.metrics.registry import metrics_on
from bot.metrics.unclear import UNCLEAR
from bot.model.profile import Number, Profile
from bot.narrative.words import MONTH_NAMES
from bot.render import wording
from bot.render.environment import source, template
from bot.render.escaping import HtmlText, html_text
from bot.render.images import charts
from bot.render.images.colours import language_colour
from bot.render.plain_text import plain_text

_WIDTH = 720
_PITCH = 12
_MOST_LANGUAGES = 6
_DARK = "@media (prefers-color-scheme:dark){"
_CARD_COLUMNS, _CARD_ROW = 4, 44
"""numbers side by side on the card, and pixels per row of them"""


class Picture(Struct, frozen=True):
    """One SVG file: size in pixels, title and description for screen readers, and the drawing."""

    width: int
    height: int
    title: str
    description: str
    drawing: str


def _file(picture: Picture) -> str:
    return template("picture.svg").render(
        width=picture.width,
        height=picture.height,
        title=plain_text(picture.title),
        description=plain_text(picture.description, 1000),
        drawing=HtmlText(picture.drawing),
        style=HtmlText(_style()),
    )


def in_scheme(picture: str, scheme: Literal["light", "dark"]) -> str:
    """A picture made here, always in this colour scheme; as made it follows the reader's."""
    light, _, dark = _style().partition(_DARK)
    return picture.replace(_style(), light if scheme == "light" else light + dark.removesuffix("}"), 1)


@cache
def _style() -> str:
    return "".join(line.strip() for line in source("picture.css").splitlines())


def render_heatmap(profile: Profile) -> str:
    """Commits by day, one grid per calendar year, newest first."""
    maps = charts.year_maps(charts.by_year(profile.activity), profile.activity)
    tall = 7 * _PITCH + 20
    months = "".join(
        f'<text class="s" x="{40 + 54 * index}" y="16">{name[:3]}</text>' for index, name in enumerate(MONTH_NAMES)
    )
    rows = [
        f'<text x="0" y="{36 + index * tall}" class="s">{one.year}</text>'
        f'<g class="h" transform="translate(46 {32 + index * tall}) scale({_PITCH})">'
        f'<path class="l0" d="{one.every_day}"/>'
        + "".join(f'<path class="l{level}" d="{path}"/>' for level, path in one.levels)
        + "</g>"
        for index, one in enumerate(maps)
    ]
    commits, days = sum(one.commits for one in maps), sum(one.days for one in maps)
    summary = f"{wording.quantity(commits, 'commit')} on {wording.quantity(days, 'day')}"
    return _file(
        Picture(
            _WIDTH,
            len(maps) * tall + 20 if maps else 44,
            f"Commits by day: {profile.contributor.display}",
            f"{summary}. "
            + " ".join(f"{one.year}: {one.commits} on {wording.quantity(one.days, 'day')}." for one in maps),
            months + "".join(rows) if rows else _empty_drawing(),
        )
    )


def _empty_drawing() -> str:
    return '<text x="12" y="28" class="s">No commit has landed yet</text>'


def render_months(profile: Profile) -> str:
    """Commits by month as bars, for complete calendar years."""
    span, path, peak = charts.month_bars(profile.months, 100)
    years = sorted({month[:4] for month in span})
    step = (_WIDTH - 24) / max(24, len(span))
    labels = "".join(
        f'<text class="s" x="{12 + 12 * index * step:.1f}" y="150">{year}</text>' for index, year in enumerate(years)
    )
    drawing = (
        f'<text class="s" x="12" y="20">{wording.quantity(peak, "commit")}</text>'
        f'<g transform="translate(12 32) scale({step:.4f} 1)"><path class="one" d="{path}"/></g>'
        f'<path class="rule" d="M12 132.5H{_WIDTH - 12}"/>{labels}'
    )
    summary = ", ".join(f"{wording.month_name(month.month)} {month.commits}" for month in profile.months)
    return _file(
        Picture(
            _WIDTH,
            164 if span else 44,
            f"Commits by month: {profile.contributor.display}",
            summary,
            drawing if span else _empty_drawing(),
        )
    )


def render_languages(profile: Profile) -> str:
    """The language bar with its legend, largest first."""
    top = _top_languages(profile)
    bar = _bar([lines for _, lines, _ in top], [f'fill="{colour}"' for _, _, colour in top], _WIDTH - 24)
    total = sum(lines for _, lines, _ in top)
    legend = "".join(
        f'<g transform="translate({12 + index % 3 * 236} {50 + index // 3 * 22})">'
        f'<path d="M0 -9h10v10h-10z" fill="{colour}"/>'
        f'<text x="16">{html_text(name, 22)} <tspan class="s">{100 * lines / total:.1f} %</tspan></text></g>'
        for index, (name, lines, colour) in enumerate(top)
    )
    summary = ", ".join(f"{name} {100 * lines / total:.1f} %" for name, lines, _ in top)
    summary = ". ".join((summary, *map(wording.begin_sentence, wording.list_missing_parts(profile.method))))
    height = 50 + 22 * ((len(top) + 2) // 3)
    drawing = f'<g transform="translate(12 14)">{bar}</g>{legend}' if top else _empty_drawing()
    return _file(Picture(_WIDTH, height, f"Languages: {profile.contributor.display}", summary, drawing))


def _top_languages(profile: Profile) -> list[tuple[str, int, str]]:
    """(name, lines, colour) of the largest; the rest is one part called `other`."""
    rows = [(skill.name, skill.lines, language_colour(skill.name)) for skill in profile.languages]
    rest = sum(lines for _, lines, _ in rows[_MOST_LANGUAGES:])
    other = [("other", rest, "#8b8b8b")] if rest else []
    return [row for row in rows[:_MOST_LANGUAGES] if row[1]] + other


def _bar(numbers: Sequence[int], paints: Sequence[str], width: int) -> str:
    """A bar 10 pixels high, its parts side by side with a gap of one pixel."""
    return "".join(
        f'<path {paint} d="M{start:g} 0h{max(0.5, length - 1):g}v10h-{max(0.5, length - 1):g}z"/>'
        for paint, (start, length) in zip(paints, charts.shares(numbers, width), strict=False)
        if length
    )


def render_share(profile: Profile) -> str:
    """Features compared with bug fixes."""
    overall = profile.overall
    part = overall.numbers.get(FEATURE_SHARE.key)
    share = "" if part is None else FEATURE_SHARE.figure(part)
    counts = f"{FEATURES.quantity(overall.features)}, {BUGS.quantity(overall.bugs)}"
    counts += f", {UNCLEAR.quantity(overall.unclear)}" if overall.unclear else ""
    bar = _bar((overall.features, overall.bugs), ('class="one"', 'class="two"'), 336)
    drawing = (
        f'<text x="12" y="30" class="n">{share}</text><text x="348" y="30" class="s end">{counts}</text>'
        f'<g transform="translate(12 44)">{bar}</g>'
    )
    return _file(Picture(360, 68, f"Features and bug fixes: {profile.contributor.display}", counts, drawing))


def render_card(profile: Profile) -> str:
    """The profile card: name, totals, bars by month, languages."""
    numbers = [(metric, profile.overall.numbers.get(metric.key)) for metric in metrics_on("card")]
    totals, below = _card_totals(numbers)
    span, path, _ = charts.month_bars(profile.months, 36)
    bars = (
        f'<g transform="translate(20 {128 + below}) scale({440 / max(24, len(span)):.4f} 1)">'
        f'<path class="one" d="{path}"/></g>'
        if span
        else ""
    )
    languages = _top_languages(profile)
    colours = [f'fill="{colour}"' for _, _, colour in languages]
    named = ", ".join(name for name, _, _ in languages[:4])
    drawing = (
        f'<rect class="card" x=".5" y=".5" width="479" height="{219 + below}" rx="4"/>'
        f'<text x="20" y="40" class="t">{html_text(profile.contributor.display, 34)}</text>'
        f'<text x="20" y="60" class="s">{html_text(_card_span(profile))}</text>{totals}{bars}'
        f'<path class="rule" d="M20 {164.5 + below}H460"/><g transform="translate(20 {178 + below})">'
        f"{_bar([lines for _, lines, _ in languages], colours, 440)}</g>"
        f'<text x="20" y="{206 + below}" class="s">{html_text(named, 60)}</text>'
    )
    summary = ", ".join(metric.quantity(number) for metric, number in numbers)
    title = f"Almanac: {profile.contributor.display}"
    return _file(Picture(480, 220 + below, title, f"{summary}. {_card_span(profile)}.", drawing))


def _card_totals(numbers: Sequence[tuple[Metric, Number]]) -> tuple[str, int]:
    """The numbers, four per row, and the pixels by which rows after the first push down what is below."""
    cells = []
    for index, (metric, number) in enumerate(numbers):
        row, column = divmod(index, _CARD_COLUMNS)
        x, y = 20 + 112 * column, 92 + _CARD_ROW * row
        cells.append(
            f'<text x="{x}" y="{y}" class="n">{html_text(metric.figure(number))}</text>'
            f'<text x="{x}" y="{y + 18}" class="s">{html_text(metric.noun_for(number))}</text>'
        )
    return "".join(cells), _CARD_ROW * (max(0, len(numbers) - 1) // _CARD_COLUMNS)


def _card_span(profile: Profile) -> str:
    months = [month.month for month in profile.months]
    if not months:
        return "No work has landed yet"
    repositories = wording.quantity(len(profile.repositories), "repository", "repositories")
    count = profile.method.not_measured
    unmeasured = f" · lines of {wording.quantity(count, 'file')} not measured" if count else ""
    return f"{wording.span(min(months), max(months))} · {repositories}{unmeasured}"


def render_badge(profile: Profile) -> str:
    """A one-line badge."""
    numbers = profile.overall.numbers
    said = [metric.quantity(number) for metric in metrics_on("badge") if (number := numbers.get(metric.key))]
    right = wording.BULLET.join(said) or "no landed work"
    left_width, right_width = 62, 16 + round(6.4 * len(right))
    drawing = (
        f'<path class="dark" d="M0 0h{left_width}v20H0z"/>'
        f'<path class="fill" d="M{left_width} 0h{right_width}v20h-{right_width}z"/>'
        + _badge_text("almanac", 8, left_width - 16)
        + _badge_text(html_text(right), left_width + 8, right_width - 16)
    )
    return _file(Picture(left_width + right_width, 20, f"almanac: {right}", profile.contributor.display, drawing))


def _badge_text(text: str, start: int, width: int) -> str:
    """Text stretched to the width, whatever the font."""
    return f'<text class="b" x="{start}" y="14" textLength="{width}" lengthAdjust="spacingAndGlyphs">{text}</text>'
