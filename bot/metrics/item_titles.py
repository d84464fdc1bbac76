"""What does a title say once its prefix is off: which words, which template, and which names of things?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]{2,}(?![a-z])|[^\W\d_]{2,}")
_IDENTIFIER = re.compile(r"\S*[._/:()<>`\"'0-9-]\S*|\S*[a-z][A-Z]\S*")
_PART = r"[\w.*{}$@+#/-]{1,40}"
_LEAD = re.compile(
    r"^(?:(?:\[[^\]\n]{1,60}\]|"
    rf"{_PART}(?:,\s?{_PART}){{0,4}}(?:\([^()\n]{{1,60}}\))?!?:(?=\s|$)|"
    r"(?:[Ff]ix(?:es|ed)?|[Cc]loses?)\s#?\d{1,7}:)\s{0,3}){1,3}"
)
_TAIL = re.compile(r"\s{0,3}\((?:GH-|#|!)\d{1,8}\)$")
_NUMBERING = re.compile(
    r"[\[(]?\b(?:part|step|phase|stage|round|take|pt\.?|no\.?)?\s?#?\d{1,3}\s?(?:/|of)\s?(?:\d{1,3}|n)\b[\])]?"
    r"|\b(?:part|step|phase|round|take|pt\.?)\s#?\d{1,3}\b",
    re.IGNORECASE,
)
"""the place of a change in a declared series"""
_NAME = re.compile(
    r"`[^`\n]{1,80}`|\"[^\"\n]{1,60}\"|(?<!\w)'[^'\n]{1,60}'(?!\w)|(?<![\w-])(?:--?[A-Za-z][\w-]{0,40}"
    r"|[\w$]{0,40}(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z]|::|\w\(\))[\w$:()]{0,40}"
    r"|[A-Za-z][\w-]{0,40}(?:[./][A-Za-z_][\w-]{0,40}){1,6}"
    r"|[A-Z][A-Z0-9]{1,15}|[A-Za-z]{1,20}\d[\w.]{0,10}|#?v?\d[\w.]{0,12})(?![\w-])"
)
"""code, quotes, options, dotted and mixed-case names, capitals, numbers"""
_STOP = frozenset(
    ("a", "an", "and", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on", "or", "so")
)
_STOP |= {"that", "the", "this", "to", "when", "where", "which", "with", "without", "not", "no", "if", "do", "does"}
_STOP |= {"was", "are", "has", "have", "can", "will", "via", "using", "also", "only", "all", "some", "more", "too"}
_GENERIC = frozenset(
    ("fix", "add", "added", "remov", "drop", "use", "used", "support", "improv", "updat", "chang", "mak", "make", "set")
)
_GENERIC |= {"handl", "implement", "bug", "issu", "issue", "error", "test", "doc", "typo", "clean", "cleanup", "code"}
_GENERIC |= {"remove", "improve", "update", "change", "handle", "allow", "mov", "move", "renam", "rename", "refactor"}
_GENERIC |= {"new", "missing", "miss", "wrong", "correct", "ensure", "ensur", "minor", "small", "better", "tweak"}
_GENERIC |= {"file"}
"""stems so frequent in titles that sharing one of them says nothing"""


class ReadTitle(Struct, frozen=True):
    """A title as items compare it. Words are stems, without those that nearly every title has."""

    words: frozenset[str]
    template: tuple[str, ...]
    """the words that are no names, in order: what stays the same in a series"""
    names: frozenset[str]
    """identifiers, quotes, options, numbers"""

    @property
    def may_repeat(self) -> bool:
        """Whether it can be one of a series: it names more than a number, and says the rest in specific words."""
        named = any(any(map(str.isalpha, name)) for name in self.names)
        return named and len(self.template) > 1 and not _GENERIC.issuperset(self.template)


def plain_title(title: str) -> str:
    """The title without the number of its pull request."""
    return _TAIL.sub("", title.strip())


def bare_title(title: str) -> str:
    """A title without its number, and without the project prefixes, scopes and tags before it."""
    plain = plain_title(title)
    return _LEAD.sub("", plain).strip() or plain


@lru_cache(maxsize=1024)
def read_title(title: str) -> ReadTitle:
    """Its words and names."""
    text = _NUMBERING.sub(" ", bare_title(title))
    names = frozenset(match[0].strip("`\"'()").lower() for match in _NAME.finditer(text))
    template = " ".join(word for word in _NAME.sub(" ", text).split() if not _IDENTIFIER.fullmatch(word))
    return ReadTitle(specific_words(_stems(text)), _stems(template), names)


def specific_words(stems: Iterable[str]) -> frozenset[str]:
    """Those that not every title has; all of them where nothing else is there."""
    return frozenset(stems) - _GENERIC or frozenset(stems)


def _stems(text: str) -> tuple[str, ...]:
    return tuple(_stem(word.lower()) for word in _WORD.findall(text) if word.lower() not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
