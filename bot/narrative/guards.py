"""Which words may no text of the bot say, whoever wrote them?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from bot.narrative.words import lexicon

_MENTION = re.compile(r"(?<![\w/.])@[A-Za-z0-9]")
_REFERENCE = re.compile(r"(?<![\w&])#\d|/[\w.-]+#\d|\bGH-\d|\b[0-9a-f]{40}\b", re.ASCII)
_LINK = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.[a-z]|\]\(|\bmailto:", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_PART = re.compile(r"[^\W\d_][\w-]*")
"""a word, or what stands before or after an apostrophe in one"""
_ID = 40
"""characters of a whole commit id"""


@cache
def _guarded(kind: str) -> frozenset[str]:
    return frozenset(lexicon()["guards"][kind].split())


@cache
def _telltale() -> frozenset[str]:
    """One of these stands in every text that holds a pronoun or a word of praise."""
    return frozenset(_PART.findall(" ".join([*_guarded("pronouns"), *_guarded("praise")])))


@cache
def _phrases(kind: str) -> tuple[str, ...]:
    return tuple(lexicon()["guards"][kind])


def words(text: str) -> list[str]:
    """The words of a text as written, without digits and marks."""
    return _WORD.findall(text)


def pronouns(text: str) -> list[str]:
    """Personal pronouns; `IT` and `US` in capitals are names, `I` counts by itself only."""
    found = []
    for match in _WORD.finditer(text):
        word = match[0]
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if (before and before in "/._-") or (after and after in "/_"):
            continue
        first = re.split("['’]", word)[0]
        shouted = word.isupper() and len(word) > 1
        if (first == "I" and after != ".") or (not shouted and first != "I" and first.lower() in _guarded("pronouns")):
            found.append(word)
    return found


def praise(text: str) -> list[str]:
    """Words that judge a person or the work, never said, even where a title says them."""
    single = [word for word in words(text) if word.lower() in _guarded("praise") and not word.isupper()]
    return single + _praising(text.lower())


def _praising(lowered: str) -> list[str]:
    """The phrases of praise in it; a look at all of them at once tells that most texts hold none."""
    phrases = _phrases("praise_phrases")
    if not any(map(lowered.__contains__, phrases)):
        return []
    return [phrase for phrase in phrases if _begins_a_word(phrase, lowered)]


def _begins_a_word(phrase: str, text: str) -> bool:
    """It stands in the text, and not as the end of `max-depth` or of another longer word."""
    at = text.find(phrase)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "-_"):
        at = text.find(phrase, at + 1)
    return at >= 0


def signals(text: str) -> Mapping[str, str]:
    """What would address somebody or lead away: kind -> the piece of text."""
    found = {}
    refers = "#" in text or "GH-" in text or max(map(len, text.split()), default=0) >= _ID
    leads = ":" in text or "](" in text or "www." in text.lower()
    # Each is looked for only where a sign of it is: most texts hold none.
    looked_for = (("mention", _MENTION, "@" in text), ("reference", _REFERENCE, refers), ("link", _LINK, leads))
    for kind, pattern, worth_it in looked_for:
        match = pattern.search(text) if worth_it else None
        if match:
            found[kind] = text[match.start() : match.start() + 40].split(" ")[0]
    return found


@lru_cache(maxsize=4096)
def is_unfit(text: str) -> bool:
    """A piece of a title that must not be repeated, or says nothing."""
    if not any(map(str.isalpha, text)) or signals(text):
        return True
    lowered = text.lower()
    if not _telltale().isdisjoint(_PART.findall(lowered)):
        return bool(pronouns(text) or praise(text))
    return bool(_praising(lowered))
