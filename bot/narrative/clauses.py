"""How is one change, or one stack of changes, told as a clause in the past tense, with its own words kept?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from bot.narrative.guards import is_unfit
from bot.narrative.languages import holds_another_script, is_foreign
from bot.narrative.tenses import base_of, is_statement, is_verb, past_tense, tail_in_past
from bot.narrative.titles import Title, read_title
from bot.narrative.words import fill_phrase, lexicon, phrases, quantity, word_set

LONGEST = 90
"""characters of a clause's own words; longer ones are cut between words"""
_QUOTE = frozenset("\"'“”‘’")
_NOUN_ENDINGS = ("tion", "tions", "ment", "ments", "ity", "ness", "ance", "ence")
_LOOSE = " .,;:-–("
"""what a cut text does not end in"""
_ASIDE = re.compile(r"\s\([^()]{0,200}\)$")


class Clause(Struct, frozen=True):
    """`base` is the verb's base form, `rest` what follows it; without a verb, `rest` is the title's body verbatim."""

    base: str | None
    rest: str
    adverb: str = ""
    scope: str = ""
    place: str = ""
    size: int = 1
    """how many changes it stands for, where that is told"""
    leads: bool = False
    """it tells one of them, and the others belong to it"""

    @property
    def verb(self) -> str:
        return f"{self.adverb} {past_tense(self.base)}".strip() if self.base else ""

    @property
    def object(self) -> str:
        """What the verb acts on, with the scope or the place it stands under."""
        text = self.rest + self._where()
        if self.size < 2:
            return text
        if self.leads:
            return fill_phrase("clause", "lead", clause=text, changes=quantity(self.size - 1, "related"))
        return fill_phrase("clause", "stack", clause=text, changes=quantity(self.size, "change"))

    def _where(self) -> str:
        if self.scope:
            return " " + fill_phrase("clause", "scope", scope=self.scope)
        return " " + fill_phrase("clause", "scope", scope=self.place) if self.place else ""

    @property
    def text(self) -> str:
        """The clause: past tense, or the body in quotes where no verb is sure."""
        return (
            f"{self.verb} {self.object}" if self.base else fill_phrase("lists", "quote", title=strip_quotes(self.rest))
        )


def strip_quotes(text: str) -> str:
    """The text without quotation marks around all of it."""
    inner = text[1:-1]
    return inner if len(text) > 2 and text[0] in _QUOTE and text[-1] in _QUOTE and not _QUOTE & set(inner) else text


def truncate(text: str, limit: int = LONGEST) -> str:
    """The text, cut between words with an ellipsis where it is longer than `limit`."""
    if len(text) > limit:
        text = _ASIDE.sub("", text)
    if len(text) <= limit:
        return text
    head = text[: limit - 1].rsplit(" ", 1)[0].rstrip(_LOOSE)
    if head.count("(") > head.count(")"):
        before = head[: head.rfind("(")].rstrip(_LOOSE)
        head = before if len(before) > limit // 4 else head
    return (head if len(head) > limit // 4 else text[: limit - 1]) + "…"


def _rewritten(body: str) -> tuple[str, str] | None:
    """Titles such as `Fix for X` and `New X`: the base form, and what follows it."""
    lowered = body.lower()
    for opening, (base, kept) in lexicon()["rewrites"].items():
        if lowered.startswith(opening + " "):
            return base, tail_in_past(kept + body[len(opening) + 1 :])
    return None


def _verb_phrase(body: str) -> tuple[str, str, str] | None:
    """(adverb, base form, rest) of a title that begins with a verb."""
    words = body.split(" ")
    if len(words) < 2 or words[1:3] == ["up", "of"] or _is_introduced(words) or _is_told_of(words):
        return None
    adverb = ""
    if len(words) > 2 and words[0].lower() in word_set("adverbs"):
        adverb, words = words[0].lower(), words[1:]
    paired = len(words) > 3 and words[1] in ("and", "or") and base_of(words[2]) == words[2].lower()
    if len(words) > 1 and is_verb(words[0], "it" if paired else words[1]) and not is_statement(words):
        base = base_of(words[0])
        rest = words[1:]
        if rest[0] in ("and", "or", "/", "&", "+") and len(rest) > 2 and (second := base_of(rest[1])):
            rest = ["and", past_tense(second), *rest[2:]]
        return adverb, base or "", tail_in_past(" ".join(rest), words[0])
    found = None if adverb else _rewritten(body)
    return ("", *found) if found else None


def _is_introduced(words: Sequence[str]) -> bool:
    """`Following X, make Y`: the verb comes behind the comma."""
    if not words[0].lower().endswith("ing"):
        return False
    ends = (at for at, word in enumerate(words[:-1], 1) if word.endswith(","))
    at = next(ends, 0)
    return bool(at) and base_of(words[at]) == words[at].lower() and at > 1


def _is_told_of(words: Sequence[str]) -> bool:
    """`Link fixed`: a noun and what was done to it."""
    base = base_of(words[-1])
    return (
        len(words) == 2 and base is not None and words[0].lower() in word_set("either") and past_tense(base) == words[1]
    )


def _summary(rest: str) -> str:
    """What stands before a colon or a longer aside, which explain it."""
    head, found, _ = rest.partition(": ")
    if found and head.count("(") == head.count(")") and not _QUOTE & set(head):
        rest = head
    aside = _ASIDE.search(rest)
    return rest[: aside.start()] if aside and len(aside[0].split()) > 2 else rest


def _where(title: Title, repository: str, base: str, rest: str) -> tuple[str, str]:
    """(scope, place) to be named beside the clause: only what its words and the repository's name do not say."""
    lowered = rest.lower()
    owner_and_name = repository.lower().replace("/", " ").split()
    for scope in title.scopes:
        plain = scope.lower()
        if plain not in owner_and_name and not set(plain.split()) <= set(lowered.split()) and plain not in lowered:
            parts = [scope] if "{" in scope else scope.split(",")
            return phrases()["lists"]["and"].join(part.strip() for part in parts), ""
    if title.place:
        words = {base, *re.findall(r"[\w.]+", lowered)}
        if not words & set(lexicon()["place_words"][title.place]):
            return "", lexicon()["places"][title.place]
    return "", ""


def _is_fault(body: str) -> bool:
    """A title below a "fix:" that names what was wrong: no sentence, no command whose verb is not known."""
    first, *more = body.split()[:2] or [""]
    if first.lower() in word_set("commands") or (more == ["to"] and base_of(first)):
        return False
    command = first.istitle() or first.lower().endswith("ly")
    if command and any(word.endswith(_NOUN_ENDINGS) for word in (first, *more)):
        command = False
    return not command and not word_set("finite") & set(body.lower().split())


def _fault(read: Title) -> tuple[str, str, str] | None:
    named = read.fix and not holds_another_script(read.body) and _is_fault(read.body)
    return ("", "fix", tail_in_past(read.body)) if named else None


def clause_of(title: str, repository: str = "") -> Clause | None:
    """The title as a clause; None where nothing in it may be repeated (a pronoun, praise, a mention, no letters)."""
    return _clause_of(read_title(title), repository)


@lru_cache(maxsize=4096)
def _clause_of(read: Title, repository: str) -> Clause | None:
    phrase = None
    if not any(map(is_foreign, (read.body, *read.scopes))):
        phrase = _verb_phrase(read.body) or _fault(read)
    adverb, base, rest = phrase if phrase else ("", None, read.body)
    rest = truncate(_summary(rest) if base else rest)
    if is_unfit(f"{base or ''} {rest}") or any(is_unfit(scope) for scope in read.scopes):
        return None
    scope, place = _where(read, repository, base, rest) if base else ("", "")
    return Clause(base or None, rest, adverb, scope, place)


def name_of(title: str) -> str | None:
    """The body of the title in quotes, as it is written, to name a change by; None where it may not be repeated."""
    body = truncate(strip_quotes(read_title(title).body), 70)
    return (
        None if is_unfit(body) or body.lower() in word_set("plain_words") else fill_phrase("lists", "quote", title=body)
    )
