"""What may a reader choose about a picture: parts to hide, width, title and theme?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from msgspec import Struct

from bot.metrics.registry import metrics_on
from bot.render.images.colours import WITHOUT_COLOUR, language_colour
from bot.render.plain_text import plain_text

Theme = Literal["auto", "light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)
OPTION_NAMES = ("hide", "width", "title", "theme")
ADDRESS_OPTIONS = ("hide", "width", "theme")
"""those that an address may set: anybody can write one, so none puts words on somebody's picture"""
LONGEST_TITLE = 60
_WIDEST = 1200
_NARROWEST: Mapping[str, int] = MappingProxyType(
    {"svg": 320, "svg-badge": 60, "svg-heatmap": 360, "svg-months": 240, "svg-languages": 240}
)
PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "svg": ("title", "span", "chart", "languages", "border", *(one.key for one in metrics_on("card"))),
        "svg-badge": ("label", *(one.key for one in metrics_on("badge"))),
        "svg-heatmap": ("months", "years"),
        "svg-months": ("years", "peak"),
        "svg-languages": ("names",),
    }
)
"""the parts of each picture that can be hidden; of the card's and the bar's languages also each by its name"""
WITH_OPTIONS = tuple(PARTS)
"""the pictures that have options, as `RENDERERS` calls them"""


class PictureOptions(Struct, frozen=True):
    """How a picture is to look. The default is the picture as it always was."""

    hide: frozenset[str] = frozenset()
    """parts and languages"""
    width: int | None = None
    title: str = ""
    theme: Theme = "auto"
    """`auto` follows the reader's colour scheme"""


PLAIN = PictureOptions()


def read_options(form: str, given: Mapping[str, str]) -> PictureOptions:
    """The options of that picture from text by name. Raises ValueError, which says what is possible."""
    known = {name: value for name, value in given.items() if name in OPTION_NAMES}
    if not known:
        return PLAIN
    if form not in PARTS:
        raise ValueError("only the card, the badge, the heatmap, the months and the languages have options")
    return PictureOptions(
        _read_parts(form, known.get("hide", "")),
        _read_width(form, known["width"]) if "width" in known else None,
        _read_title(known.get("title", "")),
        _read_theme(known.get("theme", "auto")),
    )


def _read_parts(form: str, text: str) -> frozenset[str]:
    found = frozenset(part.strip() for part in text.split(",") if part.strip())
    for part in sorted(found.difference(PARTS[form])):
        if form not in ("svg", "svg-languages") or language_colour(part) == WITHOUT_COLOUR:
            languages = " or a language as GitHub names it" if form in ("svg", "svg-languages") else ""
            raise ValueError(f"hide: {plain_text(part, 40)!r} is none of {', '.join(PARTS[form])}{languages}")
    return found


def _read_width(form: str, text: str) -> int:
    least = _NARROWEST[form]
    width = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    if not least <= width <= _WIDEST:
        raise ValueError(f"width: it is a number of pixels from {least} to {_WIDEST}")
    return width


def _read_title(text: str) -> str:
    title = plain_text(text, LONGEST_TITLE + 1)
    if len(title) > LONGEST_TITLE:
        raise ValueError(f"title: it has at most {LONGEST_TITLE} characters")
    return title


def _read_theme(text: str) -> Theme:
    if text not in THEMES:
        raise ValueError(f"theme: {plain_text(text, 40)!r} is none of {', '.join(THEMES)}")
    return text
