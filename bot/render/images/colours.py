"""Which colour represents a language? GitHub Linguist's, or grey for a language without one."""

from __future__ import annotations

from functools import cache
from importlib import import_module

WITHOUT_COLOUR = "#8b8b8b"


@cache
def language_colour(language: str) -> str:
    """`#rrggbb` of a language as Linguist names it."""
    try:
        linguist = import_module("bot.landing.lines.linguist")
    except ImportError:
        return WITHOUT_COLOUR
    colour = linguist.colour(language)
    return str(colour) if colour else WITHOUT_COLOUR
