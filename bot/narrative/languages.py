"""Which language is a title written in: the one whose verbs are known, or another?"""

from __future__ import annotations

import re

from bot.narrative.words import word_set

SOLID = "\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af"
"""letters, as ranges of a pattern, that are written without blanks, or with endings that join the word"""
_SOLID_LETTER = re.compile(f"[{SOLID}]")

_SHARE = 5
"""one letter in this many that is not Latin makes a title foreign"""
_FUNCTION_WORDS = 2


def is_foreign(body: str) -> bool:
    """Letters of another script, or small words of another language: right behind the first word, or two anywhere."""
    if not body.isascii() and _mostly_other_letters(body):
        return True
    words = body.lower().split()
    found = [word for word in words if word in word_set("foreign")]
    return len(found) >= _FUNCTION_WORDS or (bool(found) and words[1:2] == found)


def is_fragment(token: str) -> bool:
    """Whether what stands between two blanks need not be a word."""
    return _SOLID_LETTER.search(token) is not None


def holds_another_script(text: str) -> bool:
    """Whether any letter of it is not Latin."""
    return not text.isascii() and any(char.isalpha() and _is_other(char) for char in text)


def _mostly_other_letters(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return _SHARE * sum(map(_is_other, letters)) >= max(len(letters), 1)


def _is_other(letter: str) -> bool:
    return letter >= "\u0370" and not "\u1e00" <= letter <= "\u1eff"
