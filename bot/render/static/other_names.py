"""Which words of a text name somebody who did not agree to be named?"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

from bot.landing.identity.addresses import noreply
from bot.metrics import kind_model
from bot.model.commit import Person

SOMEBODY = "somebody else"
_SHORTEST = 3
"""letters of a single word that is looked for without an @ before it"""
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(r"[\s._@+'’,-]{0,3}")
_SEVERAL = re.compile(rf"{SOMEBODY}(?:(?:,| and|, and) {SOMEBODY})+")
_SOLID = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
"""a name in a script without blanks between words"""

Words = tuple[str, ...]


def _vocabulary() -> Container[str]:
    """The words of the titles that the model of kinds was trained with."""
    return kind_model.load().learnt["words"].positions


@lru_cache(maxsize=1 << 14)
def _plain(word: str) -> str:
    """The word without accents, in lower case."""
    if word.isascii():
        return word.lower()
    return "".join(char for char in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(char))


class OtherNames:
    """Finds the names, logins and addresses of people in texts.

    A login after an @ always counts, and every name that is not made of ordinary words only: many logins are words
    that any project uses.
    """

    def __init__(self, hidden: Iterable[Person], kept: Iterable[Person], repositories: Iterable[str] = ()) -> None:
        """The names of the repositories are ordinary words too."""
        self._by_first: dict[str, set[Words]] = defaultdict(set)
        self._exact: set[Words] = set()
        self._solid: set[str] = set()
        self._own = frozenset(word for name in repositories for word in _words(name)[0])
        kept_names = {_words(name)[0] for person in kept for name in _names_of(person)}
        for person in hidden:
            for name in _names_of(person):
                words, written = _words(name)
                if words and words not in kept_names:
                    self._by_first[words[0]].add(words)
                    self._exact.update([written] if len(words) > 1 else [])
                if _SOLID.fullmatch(name.strip()) and words not in kept_names:
                    self._solid.add(name.strip())

    def mask(self, text: str) -> str:
        """The text with every name replaced by `somebody else`."""
        if not text:
            return text
        out, end = [], 0
        for start, stop, words in self._found(text):
            mentioned = text[start - 1 : start] == "@" and text[start - 2 : start - 1] in ("", " ", "(", "[", ",", "/")
            if start >= end and (mentioned or self._is_name(words, text[start:stop])):
                out += [text[end : start - mentioned], SOMEBODY]
                end = stop
        masked = "".join([*out, text[end:]])
        for name in self._solid:
            masked = masked.replace(name, SOMEBODY)
        return _SEVERAL.sub("others", masked) if out else masked

    def _is_name(self, words: Words, written: str) -> bool:
        if len(words) > 1 and _words(written)[1] in self._exact:
            return True
        return not all(map(self._is_ordinary, words))

    def _is_ordinary(self, word: str) -> bool:
        return len(word) < _SHORTEST or word.isdigit() or word in self._own or word in _vocabulary()

    def _found(self, text: str) -> Iterator[tuple[int, int, Words]]:
        """(start, end, words) of what may be a name, the longest at each place."""
        tokens = [(match.start(), match.end(), _plain(match[0])) for match in _WORD.finditer(text)]
        for at, (start, _, word) in enumerate(tokens):
            if word in self._by_first:
                fitting = [words for words in self._by_first[word] if _fits(words, tokens[at:], text)]
                if fitting:
                    longest = max(fitting, key=len)
                    yield start, tokens[at + len(longest) - 1][1], longest


def _fits(words: Words, tokens: Sequence[tuple[int, int, str]], text: str) -> bool:
    """Whether the text continues with these words, close to each other."""
    if len(tokens) < len(words):
        return False
    end = None
    for word, (start, stop, found) in zip(words, tokens, strict=False):
        if word != found or (end is not None and not _BETWEEN.fullmatch(text, end, start)):
            return False
        end = stop
    return True


def _words(name: str) -> tuple[Words, Words]:
    """The words of a name for comparison, and as written."""
    written = tuple(_WORD.findall(name))
    return tuple(map(_plain, written)), written


def _names_of(person: Person) -> Iterator[str]:
    yield from (name for name in (*person.names, person.name, person.login or "") if name)
    for email in person.emails:
        known = noreply(email)
        yield from (email, known[1] if known else email.partition("@")[0].partition("+")[0])
