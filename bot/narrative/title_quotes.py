"""What do the changes of a person, or of everybody in a digest, quote, in which order, and under which themes?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from zoneinfo import ZoneInfo

from bot.model.change import Change
from bot.model.ids import PersonKey
from bot.narrative.entries import entries_of
from bot.narrative.highlights import rank
from bot.narrative.part_totals import TotalOf, no_total
from bot.narrative.project_texts import NO_TEXTS, ProjectTexts
from bot.narrative.quotes import Quotes
from bot.narrative.themes import themes_of


def quotes_of(
    changes: Sequence[Change],
    keys: Collection[PersonKey],
    zone: ZoneInfo,
    texts: ProjectTexts = NO_TEXTS,
    totals: TotalOf = no_total,
) -> Quotes:
    """The quotes of the changes that these keys authored; `totals` are everybody's changes, where they are known."""
    entries = entries_of(changes, keys, texts, zone=zone)
    themes = themes_of(changes, keys, texts, zone=zone, totals=totals)
    return Quotes(entries, themes, rank(entries, changes, keys))
