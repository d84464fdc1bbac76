"""Which words does one cited change hold: its title, its scopes, the place its kind names?"""

from __future__ import annotations

import re
from functools import cache, cached_property, lru_cache

from bot.model.change import Change
from bot.narrative.clauses import clause_of
from bot.narrative.tenses import base_of
from bot.narrative.titles import read_title
from bot.narrative.words import lexicon

PLAIN_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


@cache
def _classes() -> tuple[dict[str, str], dict[str, str]]:
    """(verb -> its class, class -> its opposite)"""
    table = lexicon()["polarity"]
    return (
        {word: name for name, row in table.items() for word in row["words"].split()},
        {name: row["opposite"] for name, row in table.items()},
    )


_ENDINGS = (("ized", "ize"), ("izes", "ize"), ("izing", "ize"), ("ified", "ify"), ("ifies", "ify"), ("ifying", "ify"))
"""of verbs that no list holds, and their base forms"""


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    base = base_of(word)
    if base:
        return base
    lowered = word.lower()
    for ending, plain in _ENDINGS:
        if lowered.endswith(ending):
            return lowered.removesuffix(ending) + plain
    return lowered[:-1] if len(lowered) > 3 and lowered.endswith("s") and not lowered.endswith("ss") else lowered


def is_identifier(token: str) -> bool:
    """Its spelling matters: `ge.Tensor_out`, `MTIA`, `py3`, `WebSocket`."""
    return (
        not PLAIN_WORD.fullmatch(token)
        or (len(token) > 1 and token.isupper())
        or any(char.isupper() for char in token[1:] if not token.isupper())
    )


def _bounded(token: str, text: str) -> bool:
    """It stands in the text, and not as the middle of a longer word."""
    at = text.find(token)
    while at >= 0:
        end = at + len(token)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        if not (token[0].isalnum() and before.isalnum()) and not (token[-1].isalnum() and after.isalnum()):
            return True
        at = text.find(token, at + 1)
    return False


class ChangeWords:
    """The words that one cited change holds: its title, its scopes, the place its kind names."""

    def __init__(self, change: Change) -> None:
        title = read_title(change.title)
        self.change = change
        self.text = " ".join((change.title, title.body, *title.scopes))
        self.lowered = self.text.lower()
        place = title.place or {"docs": "docs", "test": "test", "ci": "ci", "build": "build"}.get(change.kind, "")
        self.places = lexicon()["places"].get(place, "").lower().split()

    @cached_property
    def stems(self) -> frozenset[str]:
        words = {*re.findall(r"[^\W\d_]+", self.text), *PLAIN_WORD.findall(self.text)}
        found = {_stem(word) for word in words}
        told = clause_of(self.change.title, self.change.repository)
        verb = told.verb.split() if told else []
        return frozenset(found | {_stem(word) for word in verb} | ({told.base} if told and told.base else set()))

    @cached_property
    def classes(self) -> frozenset[str]:
        verbs, _ = _classes()
        found = {verbs[stem] for stem in self.stems if stem in verbs}
        return frozenset(found | ({"fix"} if self.change.kind == "bug_fix" and self.change.certain else set()))

    def holds(self, token: str) -> bool:
        if is_identifier(token):
            return _bounded(token, self.text) or token.lower() in self.places
        if not token.isalpha() and _bounded(token.lower(), self.lowered):
            return True
        stem = _stem(token)
        if stem in self.stems or token.lower() in self.places:
            return True
        verbs, _ = _classes()
        return stem in verbs and verbs[stem] in self.classes

    def opposes(self, token: str) -> bool:
        verbs, opposite = _classes()
        mine = verbs.get(_stem(token))
        return mine is not None and opposite[mine] in self.classes
