"""In which variants can a text contain the name of a person?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from bot.narrative.languages import SOLID

_SHORTEST = 3
"""fewest letters of a part of a name that is searched for on its own"""
_SOLID_WORD = re.compile(f"[{SOLID}]{{2,}}")
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "æ": "ae"})


def is_solid(word: str) -> bool:
    """Whether the word can occur in a text directly next to other letters."""
    return _SOLID_WORD.fullmatch(word) is not None


def full_name_variants(name: str) -> Iterator[str]:
    """The full name, in any case: as it is, joined as in `jane.doe`, and without accents."""
    parts = _parts(name)
    for variant in (name, *(mark.join(parts) for mark in ("", ".", "_", "-") if len(parts) > 1)):
        yield from _word_variants(variant)


def name_part_variants(name: str) -> Iterator[str]:
    """The parts of the name that are searched for on their own, as written."""
    for part in _parts(name):
        if is_solid(part):
            yield from {part, part[:2], part[-2:]} if len(part) in (3, 4) else {part}
        elif len(part) >= _SHORTEST:
            yield from _word_variants(part)


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[^\w'’-]+", unicodedata.normalize("NFC", name)) if part]


def _word_variants(word: str) -> set[str]:
    """The word; if it has accents, also composed, decomposed, in other cases, without accents, and transcribed."""
    composed = unicodedata.normalize("NFC", word)
    decomposed = unicodedata.normalize("NFD", word)
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    if plain == word:
        return {word}
    cased = {composed.lower(), composed.upper(), composed.lower().translate(_TRANSCRIBED).title()}
    return {word, composed, decomposed, plain, *cased}
