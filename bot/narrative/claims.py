"""What does a sentence claim: months, repositories, counts, expansions, quoted titles, and what else, in pieces?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal

from msgspec import Struct

from bot.model.ids import Month
from bot.narrative.table import FactTable
from bot.narrative.words import number_in_words, phrases

ClaimKind = Literal[
    "month", "opening_month", "repository", "count", "size", "expansion", "quote", "name", "term", "piece"
]


class TextClaim(Struct, frozen=True):
    """One thing a sentence says: `text` as written, `value` and `noun` of a count, `about` what it is about."""

    kind: ClaimKind
    text: str
    value: int = 0
    noun: str = ""
    about: str = ""


_QUOTE = re.compile(r"“([^“”]{1,400})”")
_ISO_MONTH = re.compile(r"\b((?:19|20)\d\d)-(0[1-9]|1[0-2])\b")
_AFTER = re.compile(r"\b([A-Z][A-Za-z0-9]{0,8}[A-Z0-9])s?\s?\(([A-Za-z][A-Za-z\- ]{2,80})\)")
_BEFORE = re.compile(r"((?:\b[A-Z][a-z]+[\s-]){1,6}[A-Z]?[a-z]*)\s?\(([A-Z][A-Z0-9]{1,8})s?\)")
_SAID = re.compile(
    r"\b([A-Z][A-Z0-9]{1,8}),?\s(?:stands for|short for|which means|meaning|that is|i\.e\.)\s([A-Za-z\- ]{3,80})"
)
_PIECES = re.compile(r"[,;:()\[\]!?¶–—]|\s(?:and|or)\s|\.(?:\s|$)|\s\.\s")


@cache
def _month_pattern() -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(phrases()['months'])})(?:\s((?:19|20)\d\d))?\b")


@cache
def _values() -> dict[str, int]:
    return {number_in_words(number): number for number in range(1, 100)}


@cache
def _counts() -> re.Pattern[str]:
    """A number, at most two words, and a noun that the facts count; or a number "to" a place."""
    nouns = sorted(
        {word for pair in phrases()["nouns"].values() for word in pair} | {"fixes", "fix", "forks"},
        key=len,
        reverse=True,
    )
    words = "|".join(sorted(_values(), key=len, reverse=True))
    places = "|".join(re.escape(place) for place in phrases()["places"].values())
    return re.compile(
        rf"(?<![\w.\-/])(\d{{1,3}}(?:,\d{{3}}){{1,3}}|\d{{1,12}}|{words})\s(?:(?:went\s)?to\s(?P<place>{places})\b|(?:(?!and\b|or\b|other\b)[a-z-]+\s){{0,2}}?(?P<noun>{'|'.join(nouns)})\b)",
        re.IGNORECASE,
    )


@cache
def _noun_keys() -> dict[str, str]:
    keys = {word: key for key, pair in phrases()["nouns"].items() for word in pair}
    places = {place: f"place:{key}" for key, place in phrases()["places"].items()}
    return keys | places | {"fix": "fix", "fixes": "fix", "forks": "repository"}


def _value(text: str) -> int:
    plain = text.replace(",", "").lower()
    return int(plain) if plain.isdigit() else _values()[plain]


class _ClaimReader:
    """Takes the claims out of one sentence, from the sure to the loose; what is left over is cut into pieces."""

    def __init__(self, text: str, table: FactTable) -> None:
        self.text = text
        self.table = table

    def claims(self) -> Iterator[TextClaim]:
        yield from self._person("“")
        yield from self._quotes()
        yield from self._opening()
        yield from self._person("")
        yield from self._terms()
        yield from self._expansions()
        yield from self._months()
        yield from self._counts()
        yield from (TextClaim("piece", piece.strip()) for piece in _PIECES.split(self.text) if piece and piece.strip())

    def _quotes(self) -> Iterator[TextClaim]:
        yield from (TextClaim("quote", found[1]) for found in _QUOTE.finditer(self.text))
        self.text = _QUOTE.sub(" ¶ ", self.text)

    def _opening(self) -> Iterator[TextClaim]:
        """`<Month> <Year>, <repositories>: ` at the start."""
        head, found, body = self.text.partition(": ")
        when = _month_pattern().match(head)
        if not found or not when or not when[2] or head[when.end() : when.end() + 2] != ", ":
            return
        yield TextClaim("opening_month", _month(when))
        for name in re.split(r", | and |; ", head[when.end() + 2 :]):
            yield TextClaim("repository", name)
        self.text = body

    def _person(self, mark: str) -> Iterator[TextClaim]:
        """People by name; those whose names hold a quotation mark before anything is read as a quote."""
        for name in sorted(self.table.names, key=len, reverse=True):
            if name and mark in name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.text):
                yield TextClaim("name", name)
                self.text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ¶ ", self.text)

    def _terms(self) -> Iterator[TextClaim]:
        """Names of skills that would be taken apart: `Click (command line)`."""
        for term in sorted(self.table.terms, key=len, reverse=True):
            if "(" in term and term in self.text:
                yield TextClaim("term", term)
                self.text = self.text.replace(term, " ¶ ")

    def _expansions(self) -> Iterator[TextClaim]:
        for pattern, short, long in ((_AFTER, 1, 2), (_SAID, 1, 2), (_BEFORE, 2, 1)):
            for found in pattern.finditer(self.text):
                if _initials_fit(found[short], found[long]):
                    yield TextClaim("expansion", found[long].strip(), about=found[short])

    def _months(self) -> Iterator[TextClaim]:
        for found in _month_pattern().finditer(self.text):
            yield TextClaim("month", _month(found) if found[2] else found[1])
        for found in _ISO_MONTH.finditer(self.text):
            yield TextClaim("month", found[0])
        self.text = _ISO_MONTH.sub(" ", _month_pattern().sub(" ", self.text))

    def _counts(self) -> Iterator[TextClaim]:
        """Counts: of an item the size in parentheses, `about` the piece before it; "turn" where reverts are counted."""
        turned = "revert" in self.text.lower()
        for found in _counts().finditer(self.text):
            noun = (found["place"] or found["noun"]).lower()
            key = _noun_keys().get(noun) or _noun_keys()[found["place"]]
            before = self.text[: found.start()].removesuffix("with ")
            sized = before.endswith("(")
            kind: ClaimKind = "size" if sized else "count"
            about = self._before(len(before) - 1) if sized else "turn" if turned else ""
            yield TextClaim(kind, found[0], value=_value(found[1]), noun=key, about=about)
        self.text = _counts().sub(_without_number, self.text)

    def _before(self, end: int) -> str:
        return _counts().sub(_without_number, _PIECES.split(self.text[:end])[-1])


def _without_number(found: re.Match[str]) -> str:
    """The count is claimed by itself; what stood between it and its noun stays to be checked."""
    return found[0][len(found[1]) :]


def _month(found: re.Match[str]) -> Month:
    return Month(f"{found[2]}-{phrases()['months'].index(found[1]) + 1:02d}")


def _initials_fit(short: str, long: str) -> bool:
    """Whether the words could be what the letters stand for: `MTIA` and `Multi-Tensor Intermediate Accumulation`."""
    initials = [word[0].lower() for word in re.split(r"[\s-]+", long) if word]
    letters = [char.lower() for char in short if char.isalpha()]
    return len(initials) > 1 and bool(letters) and initials[0] == letters[0] and len(initials) <= len(letters) + 3


def claims_of(text: str, table: FactTable) -> Iterable[TextClaim]:
    """Everything the sentence claims, each word of it in one claim at least."""
    return _ClaimReader(text, table).claims()
