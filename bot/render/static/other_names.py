"""Which words of a text name somebody who did not agree to be named?"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from bot.landing.identity.addresses import noreply
from bot.model.commit import Person

SOMEBODY = "somebody else"
_OFTEN = 3
"""a word that so many authors write in titles is a word of the project, and not only somebody's name"""
_SHORTEST = 3
"""letters of a single word that is looked for without an @ before it"""
_GENERIC = frozenset(
    [
        "add",
        "admin",
        "all",
        "bot",
        "build",
        "bug",
        "chore",
        "ci",
        "cleanup",
        "code",
        "contact",
        "core",
        "dev",
        "developer",
        "doc",
        "docs",
        "email",
        "feat",
        "feature",
        "fix",
        "git",
        "github",
        "gitlab",
        "hello",
        "info",
        "lint",
        "mail",
        "main",
        "master",
        "merge",
        "misc",
        "new",
        "none",
        "noreply",
        "perf",
        "refactor",
        "release",
        "remove",
        "revert",
        "root",
        "style",
        "support",
        "team",
        "test",
        "tests",
        "typo",
        "unknown",
        "update",
        "upstream",
        "user",
        "users",
        "version",
        "web",
        "work",
    ]
)
"""names and parts of addresses that are ordinary words"""
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(r"[\s._@+'’,-]{0,3}")
_SEVERAL = re.compile(rf"{SOMEBODY}(?:(?:,| and|, and) {SOMEBODY})+")
_SOLID = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
"""a name in a script without blanks between words"""

Words = tuple[str, ...]


@lru_cache(maxsize=1 << 14)
def _plain(word: str) -> str:
    """The word without accents, in lower case."""
    if word.isascii():
        return word.lower()
    return "".join(char for char in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(char))


class OtherNames:
    """Finds the names, logins and addresses of people in texts.

    A full name, an address and a login after an @ always count. A single word without an @ counts unless several
    authors use it: many logins are ordinary words.
    """

    def __init__(self, hidden: Iterable[Person], kept: Iterable[Person], said: Iterable[tuple[str, str]] = ()) -> None:
        """`said` are (author, title) of the history, from which its ordinary words are learned."""
        self._by_first: dict[str, set[Words]] = defaultdict(set)
        self._exact: set[Words] = set()
        self._solid: set[str] = set()
        shown = {words for person in kept for name in _names_of(person) for words in [_words(name)[0]]}
        for person in hidden:
            for name in _names_of(person):
                words, written = _words(name)
                if words and words not in shown:
                    self._by_first[words[0]].add(words)
                    self._exact.update([written] if len(words) > 1 else [])
                if _SOLID.fullmatch(name.strip()) and words not in shown:
                    self._solid.add(name.strip())
        self._ordinary = self._ordinary_words(said)

    def _ordinary_words(self, said: Iterable[tuple[str, str]]) -> frozenset[Words]:
        authors: dict[Words, set[str]] = defaultdict(set)
        for author, title in said:
            for _, _, words in self._found(title):
                authors[words].add(author)
        return frozenset(words for words, who in authors.items() if len(who) >= _OFTEN)

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
        if len(words) > 1:
            return words not in self._ordinary or _words(written)[1] in self._exact
        (word,) = words
        return len(word) >= _SHORTEST and word not in _GENERIC and not word.isdigit() and words not in self._ordinary

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
