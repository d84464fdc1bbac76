"""Which pictures of a record can a README show? SVG files with a description, for light and dark, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

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
from bot.render.images.options import PLAIN, PictureOptions, Theme
from bot.render.plain_text import plain_text

_WIDTH = 720
_HEAD = 32
"""pixels that a title above a picture takes"""
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


def _file(picture: Picture, theme: Theme = "auto") -> str:
    text = template("picture.svg").render(
        width=picture.width,
        height=picture.height,
        title=plain_text(picture.title),
        description=plain_text(picture.description, 1000),
        drawing=HtmlText(picture.drawing),
        style=HtmlText(_style()),
    )
    return text if theme == "auto" else in_scheme(text, theme)


def _titled_file(picture: Picture, options: PictureOptions) -> str:
    """The picture below the title that was asked for."""
    if options.title:
        head = f'<text x="12" y="24" class="t">{html_text(options.title, picture.width // 11)}</text>'
        drawing = f'{head}<g transform="translate(0 {_HEAD})">{picture.drawing}</g>'
        picture = replace(picture, title=options.title, height=picture.height + _HEAD, drawing=drawing)
    return _file(picture, options.theme)


def in_scheme(picture: str, scheme: Literal["light", "dark"]) -> str:
    """A picture made here, always in this colour scheme; as made it follows the reader's."""
    return picture.replace(_style(), _style_in(scheme), 1)


def _style_in(scheme: Literal["light", "dark"]) -> str:
    light, _, dark = _style().partition(_DARK)
    return light if scheme == "light" else light + dark.removesuffix("}")


def picture_styles() -> tuple[str, ...]:
    """The texts of the style elements of all pictures: that of each theme."""
    return _style(), _style_in("light"), _style_in("dark")


@cache
def _style() -> str:
    return "".join(line.strip() for line in source("picture.css").splitlines())


def render_heatmap(profile: Profile, options: PictureOptions = PLAIN) -> str:
    """Commits by day, one grid per calendar year, newest first."""
    maps = charts.year_maps(charts.by_year(profile.activity), profile.activity)
    width = options.width or _WIDTH
    pitch = (width - 72) / 54
    tall = 7 * pitch + 20
    months = "".join(
        f'<text class="s" x="{40 + 4.5 * pitch * index:g}" y="16">{name[:3]}</text>'
        for index, name in enumerate(MONTH_NAMES)
    )
    rows = [
        ("" if "years" in options.hide else f'<text x="0" y="{36 + index * tall:g}" class="s">{one.year}</text>')
        + f'<g class="h" transform="translate(46 {32 + index * tall:g}) scale({pitch:g})">'
        f'<path class="l0" d="{one.every_day}"/>'
        + "".join(f'<path class="l{level}" d="{path}"/>' for level, path in one.levels)
        + "</g>"
        for index, one in enumerate(maps)
    ]
    commits, days = sum(one.commits for one in maps), sum(one.days for one in maps)
    summary = f"{wording.quantity(commits, 'commit')} on {wording.quantity(days, 'day')}"
    drawing = "".join(["" if "months" in options.hide else months, *rows]) if rows else _empty_drawing()
    return _titled_file(
        Picture(
            width,
            round(len(maps) * tall) + 20 if maps else 44,
            f"Commits by day: {profile.contributor.display}",
            f"{summary}. "
            + " ".join(f"{one.year}: {one.commits} on {wording.quantity(one.days, 'day')}." for one in maps),
            drawing,
        ),
        options,
    )


def _empty_drawing() -> str:
    return '<text x="12" y="28" class="s">No commit has landed yet</text>'


def render_months(profile: Profile, options: PictureOptions = PLAIN) -> str:
    """Commits by month as bars, for complete calendar years."""
    span, path, peak = charts.month_bars(profile.months, 100)
    years = sorted({month[:4] for month in span})
    width = options.width or _WIDTH
    step = (width - 24) / max(24, len(span))
    labels = "".join(
        f'<text class="s" x="{12 + 12 * index * step:.1f}" y="150">{year}</text>' for index, year in enumerate(years)
    )
    most = "" if "peak" in options.hide else f'<text class="s" x="12" y="20">{wording.quantity(peak, "commit")}</text>'
    drawing = (
        f'{most}<g transform="translate(12 32) scale({step:.4f} 1)"><path class="one" d="{path}"/></g>'
        f'<path class="rule" d="M12 132.5H{width - 12}"/>{"" if "years" in options.hide else labels}'
    )
    summary = ", ".join(f"{wording.month_name(month.month)} {month.commits}" for month in profile.months)
    title, shape = f"Commits by month: {profile.contributor.display}", drawing if span else _empty_drawing()
    return _titled_file(Picture(width, 164 if span else 44, title, summary, shape), options)


def render_languages(profile: Profile, options: PictureOptions = PLAIN) -> str:
    """The language bar with its legend, largest first."""
    top, width = _top_languages(profile, options), options.width or _WIDTH
    bar = _bar([lines for _, lines, _ in top], [f'fill="{colour}"' for _, _, colour in top], width - 24)
    columns = max(1, (width - 12) // 236)
    total = sum(lines for _, lines, _ in top)
    legend = "".join(
        f'<g transform="translate({12 + index % columns * 236} {50 + index // columns * 22})">'
        f'<path d="M0 -9h10v10h-10z" fill="{colour}"/>'
        f'<text x="16">{html_text(name, 22)} <tspan class="s">{100 * lines / total:.1f} %</tspan></text></g>'
        for index, (name, lines, colour) in enumerate(top)
    )
    summary = ", ".join(f"{name} {100 * lines / total:.1f} %" for name, lines, _ in top)
    summary = ". ".join((summary, *map(wording.begin_sentence, wording.list_missing_parts(profile.method))))
    legend = "" if "names" in options.hide else legend
    height = 50 + 22 * -(-len(top) // columns) if legend or not top else 38
    drawing = f'<g transform="translate(12 14)">{bar}</g>{legend}' if top else _empty_drawing()
    title = f"Languages: {profile.contributor.display}"
    return _titled_file(Picture(width, height, title, summary, drawing), options)


def _top_languages(profile: Profile, options: PictureOptions) -> list[tuple[str, int, str]]:
    """(name, lines, colour) of the largest; the rest is one part called `other`."""
    rows = [
        (skill.name, skill.lines, language_colour(skill.name))
        for skill in profile.languages
        if skill.name not in options.hide
    ]
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


def render_card(profile: Profile, options: PictureOptions = PLAIN) -> str:
    """The profile card: name, totals that are not zero, bars by month, languages."""
    width = options.width or 480
    visible = [metric for metric in metrics_on("card") if metric.key not in options.hide]
    every = [(metric, profile.overall.numbers.get(metric.key)) for metric in visible]
    numbers = [pair for pair in every if pair[1]] or every[:1]
    blocks = (
        _card_title(profile, options, width),
        (
            "" if "span" in options.hide else f'<text x="20" y="20" class="s">{html_text(_card_span(profile))}</text>',
            20,
        ),
        _card_totals(numbers, (width - 32) // _CARD_COLUMNS),
        _card_months(profile, options, width),
        _card_languages(profile, options, width),
    )
    drawing, top = "", 20
    for block, tall in blocks:
        if block:
            drawing += f'<g transform="translate(0 {top})">{block}</g>'
            top += tall
    if "border" not in options.hide:
        drawing = f'<rect class="card" x=".5" y=".5" width="{width - 1}" height="{top + 13}" rx="4"/>{drawing}'
    summary = ", ".join(metric.quantity(number) for metric, number in numbers)
    title = f"Almanac: {options.title or profile.contributor.display}"
    return _file(Picture(width, top + 14, title, f"{summary}. {_card_span(profile)}.", drawing), options.theme)


Block = tuple[str, int]
"""a part of the card, drawn from its top, and its height in pixels; nothing where it is hidden or there is nothing"""


def _card_title(profile: Profile, options: PictureOptions, width: int) -> Block:
    text = html_text(options.title or profile.contributor.display, (width - 40) * 34 // 440)
    return ("" if "title" in options.hide else f'<text x="20" y="20" class="t">{text}</text>'), 20


def _card_totals(numbers: Sequence[tuple[Metric, Number]], column_width: int) -> Block:
    """The numbers, four per row."""
    cells = []
    for index, (metric, number) in enumerate(numbers):
        row, column = divmod(index, _CARD_COLUMNS)
        x, y = 20 + column_width * column, 32 + _CARD_ROW * row
        cells.append(
            f'<text x="{x}" y="{y}" class="n">{html_text(metric.figure(number))}</text>'
            f'<text x="{x}" y="{y + 18}" class="s">{html_text(metric.noun_for(number))}</text>'
        )
    return "".join(cells), 50 + _CARD_ROW * (max(0, len(numbers) - 1) // _CARD_COLUMNS)


def _card_months(profile: Profile, options: PictureOptions, width: int) -> Block:
    span, path, _ = charts.month_bars(profile.months, 36)
    if not span or "chart" in options.hide:
        return "", 0
    scale = f"scale({(width - 40) / max(24, len(span)):.4f} 1)"
    bars = f'<g transform="translate(20 18) {scale}"><path class="one" d="{path}"/></g>'
    return f'{bars}<path class="rule" d="M20 54.5H{width - 20}"/>', 54


def _card_languages(profile: Profile, options: PictureOptions, width: int) -> Block:
    languages = _top_languages(profile, options)
    if not languages or "languages" in options.hide:
        return "", 0
    colours = [f'fill="{colour}"' for _, _, colour in languages]
    named = html_text(", ".join(name for name, _, _ in languages[:4]), (width - 40) * 60 // 440)
    bar = _bar([lines for _, lines, _ in languages], colours, width - 40)
    return f'<g transform="translate(20 14)">{bar}</g><text x="20" y="42" class="s">{named}</text>', 42


def _card_span(profile: Profile) -> str:
    months = [month.month for month in profile.months]
    if not months:
        return "No work has landed yet"
    repositories = wording.quantity(len(profile.repositories), "repository", "repositories")
    count = profile.method.not_measured
    unmeasured = f" · lines of {wording.quantity(count, 'file')} not measured" if count else ""
    return f"{wording.span(min(months), max(months))} · {repositories}{unmeasured}"


def render_badge(profile: Profile, options: PictureOptions = PLAIN) -> str:
    """A one-line badge; as wide as its text, or wider."""
    numbers = profile.overall.numbers
    visible = [metric for metric in metrics_on("badge") if metric.key not in options.hide]
    said = [metric.quantity(number) for metric in visible if (number := numbers.get(metric.key))]
    right = wording.BULLET.join(said) or "no landed work"
    left = "" if "label" in options.hide else options.title or "almanac"
    left_width = 17 + round(6.4 * len(left)) if left else 0
    natural = 16 + round(6.4 * len(right))
    right_width = max(natural, (options.width or 0) - left_width)
    drawing = (
        (f'<path class="dark" d="M0 0h{left_width}v20H0z"/>' if left else "")
        + f'<path class="fill" d="M{left_width} 0h{right_width}v20h-{right_width}z"/>'
        + (_badge_text(html_text(left), 8, left_width - 16) if left else "")
        + _badge_text(html_text(right), left_width + 8 + (right_width - natural) // 2, natural - 16)
    )
    title = f"{options.title or 'almanac'}: {right}"
    return _file(Picture(left_width + right_width, 20, title, profile.contributor.display, drawing), options.theme)


def _badge_text(text: str, start: int, width: int) -> str:
    """Text stretched to the width, whatever the font."""
    return f'<text class="b" x="{start}" y="14" textLength="{width}" lengthAdjust="spacingAndGlyphs">{text}</text>'
