"""Is a title written in another language than the one whose verbs are known?"""

from __future__ import annotations

from bot.digest.words import word_set

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


def _mostly_other_letters(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return _SHARE * sum(map(_is_other, letters)) >= max(len(letters), 1)


def _is_other(letter: str) -> bool:
    return letter >= "\u0370" and not "\u1e00" <= letter <= "\u1eff"
