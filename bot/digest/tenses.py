"""Does a word begin a title as a verb, and what is its past tense?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bot.digest.words import lexicon, word_set

_VOWELS = "aeiou"


@cache
def _keeps() -> frozenset[tuple[str, str]]:
    pairs = (entry.split(":") for entry in lexicon()["keeps"].split())
    return frozenset((verb, word) for verb, words in pairs for word in words.split(","))


@cache
def _compounds() -> frozenset[str]:
    return frozenset(entry.strip() for entry in lexicon()["compounds"].replace("\n", "|").split("|") if entry.strip())


@cache
def _irregular() -> Mapping[str, str]:
    pairs = (entry.split(":") for entry in lexicon()["irregular"].split())
    return {base: past.replace("+", " ") for base, past in pairs}


def past(base: str) -> str:
    """The past tense of a base form, in lower case."""
    if base in _irregular():
        return _irregular()[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    if base in word_set("doubles"):
        return base + base[-1] + "ed"
    return base + "ed"


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def _gerund(base: str) -> str:
    if base in word_set("doubles") or base in {
        "get",
        "put",
        "set",
        "let",
        "cut",
        "run",
        "begin",
        "split",
        "forget",
        "shut",
    }:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    return base + "ing"


@cache
def _forms() -> Mapping[str, str]:
    """Every form of every verb -> its base; a base form wins over another verb's inflection."""
    forms: dict[str, str] = {}
    for base in sorted(word_set("verbs")):
        for form in (_third(base), _gerund(base), past(base)):
            forms.setdefault(form, base)
    return forms | {base: base for base in word_set("verbs")}


def base_of(word: str) -> str | None:
    """The base form of a verb of the lexicon in any of its forms, in any case; None where it is none."""
    lowered = word.lower()
    known = _forms().get(lowered)
    if (
        known is None
        and lowered.startswith("re")
        and (inner := _forms().get(lowered[2:].lstrip("-")))
        and len(inner) > 3
    ):
        return "re" + inner if lowered.endswith(inner) or inner not in _irregular() else None
    if known is None and lowered.endswith(("ize", "ify")) and len(lowered) > 5:
        return lowered
    return known


def _is_plain(word: str) -> bool:
    """Written as a word: `Add`, `add` or `ADD`, and no identifier such as `getValue` or `AddOn`."""
    return (word.isalpha() and (word.islower() or word.istitle() or word.isupper())) or (
        "-" in word and word.replace("-", "").isalpha() and word.lower() in word_set("verbs")
    )


def is_verb(word: str, following: str) -> bool:
    """Whether `word`, first in a title and followed by `following`, is meant as a verb."""
    base = base_of(word)
    if base is None or not _is_plain(word):
        return False
    after = following.lower().strip(".,;:()")
    if f"{word.lower()} {after}" in _compounds():
        return False
    if word.lower() not in _either_forms():
        return True
    return bool(after) and (after not in word_set("noun_before") or (base, after) in _keeps())


@cache
def _either_forms() -> frozenset[str]:
    """Nouns in one of their forms: `fix`, `fixes`; never `fixed` and `fixing`."""
    return frozenset(form for base in word_set("either") for form in (base, _third(base)))
