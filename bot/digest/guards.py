"""Which words may no text of the bot say, whoever wrote them?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from bot.digest.words import lexicon

_MENTION = re.compile(r"(?<![\w/.])@[A-Za-z0-9]")
_REFERENCE = re.compile(r"(?<![\w&])#\d|\bGH-\d|\b[0-9a-f]{40}\b", re.ASCII)
_LINK = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.[a-z]|\]\(|\bmailto:", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


@cache
def _guarded(kind: str) -> frozenset[str]:
    return frozenset(lexicon()["guards"][kind].split())


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
    lowered = text.lower()
    single = [word for word in words(text) if word.lower() in _guarded("praise") and not word.isupper()]
    return single + [phrase for phrase in _phrases("praise_phrases") if _begins_a_word(phrase, lowered)]


def _begins_a_word(phrase: str, text: str) -> bool:
    """It stands in the text, and not as the end of `max-depth` or of another longer word."""
    at = text.find(phrase)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "-_"):
        at = text.find(phrase, at + 1)
    return at >= 0


def signals(text: str) -> Mapping[str, str]:
    """What would address somebody or lead away: kind -> the piece of text."""
    found = {}
    for kind, pattern in (("mention", _MENTION), ("reference", _REFERENCE), ("link", _LINK)):
        match = pattern.search(text)
        if match:
            found[kind] = text[match.start() : match.start() + 40].split(" ")[0]
    return found


def is_unfit(text: str) -> bool:
    """A piece of a title that must not be repeated, or says nothing."""
    return not any(char.isalpha() for char in text) or bool(pronouns(text)) or bool(praise(text)) or bool(signals(text))
