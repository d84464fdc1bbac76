"""Does a word begin a title as a verb, and what is its past tense?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache

from bot.narrative.words import lexicon, word_set

_VOWELS = "aeiou"
_CONJUNCTION = re.compile(r"(,? and |, |; | \+ | & )([A-Za-z-]+) (?=\S+)")


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


def past_tense(base: str) -> str:
    """The past tense of a base form, in lower case."""
    if base in _irregular():
        return _irregular()[base]
    if base[:2] in ("re", "un") and base[2:] in word_set("doubles"):
        return base[:2] + past_tense(base[2:])
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
        for form in (_third(base), _gerund(base), past_tense(base)):
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
    if after == "of" and (base, after) not in _keeps():
        return False
    if (word.isupper() and following.startswith("/")) or (after[:1].isdigit() and base in word_set("numbered")):
        return False
    if f"{word.lower()} {after}" in _compounds():
        return False
    if word.lower() not in _either_forms():
        return True
    return bool(after) and (after not in word_set("noun_before") or (base, after) in _keeps())


@cache
def _either_forms() -> frozenset[str]:
    """Nouns in one of their forms: `fix`, `fixes`; never `fixed` and `fixing`."""
    return frozenset(form for base in word_set("either") for form in (base, _third(base)))


def _same_form(first: str, base: str) -> str:
    """The form of another verb that goes with the first one: `adds` with `Fixes`, `adding` with `Fixing`."""
    lowered = first.lower()
    if lowered.endswith("ing"):
        return _gerund(base)
    return _third(base) if lowered.endswith("s") and base_of(lowered) != lowered else base


def tail_in_past(rest: str, first: str = "") -> str:
    """A second verb, joined by "and" or a comma, in the past tense too, where it has the form of the `first` one or
    the base form: only where it cannot be anything else; behind a noun alone, only behind a comma."""
    out, at = [], 0
    for found in _CONJUNCTION.finditer(rest):
        before = rest[: found.start()].lower().split()
        word = found[2]
        base = base_of(word)
        apart = found[1].startswith((",", ";"))
        following = rest[found.end() :].split(" ", 1)[0]
        if (
            base is None
            or word not in (base, _same_form(first, base))
            or (word.endswith("ing") and (following == "of" or (before and before[-1].endswith("ing"))))
            or (base in word_set("either") and not _is_second(word, following, found[1]))
            or not (first or apart)
            or _is_infinitive([word for word in before if word != "and"] if apart else before)
            or (before and base_of(before[-1]) == before[-1] and not _is_object(before))
        ):
            continue
        out.append(rest[at : found.start(2)] + past_tense(base))
        at = found.end(2)
    return "".join(out) + rest[at:]


def _is_second(word: str, following: str, joint: str) -> bool:
    """Whether what is a noun as often is the second verb; behind "and" mostly nouns stand: `a port and test X`."""
    return is_verb(word, following) and ("and" not in joint or word in word_set("seconds"))


def _is_infinitive(before: Sequence[str]) -> bool:
    """A second verb after these words stays as it is; `to` asks for that only before a verb (`to icons` does not)."""
    found = word_set("infinitive") & set(before)
    if found - {"to"}:
        return True
    after = [*before[1:], ""]
    return any(word == "to" and (not follows or base_of(follows)) for word, follows in zip(before, after, strict=True))


def _is_object(before: Sequence[str]) -> bool:
    """They end in a noun, though it could be a verb: `a security group`."""
    return len(before) > 1 and before[-1] in word_set("either")


def is_statement(words: Sequence[str]) -> bool:
    """A noun that could be a verb, and what is said of it: `build dependencies should only come from X`, `testing is
    slow`."""
    if words[0].lower() not in word_set("either") and not words[0].endswith("ing"):
        return False
    told = itertools.takewhile(lambda word: word not in word_set("subordinate"), map(str.lower, words[1:]))
    return any(word in word_set("states") for word in told)
