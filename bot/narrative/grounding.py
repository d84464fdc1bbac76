"""Does each sentence of a text say only what its cited changes and the fact table hold?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from bot.model.change import Change
from bot.model.ids import ChangeId, Kind
from bot.model.profile import Sentence, Text
from bot.narrative.claims import TextClaim, claims_of
from bot.narrative.clauses import name_of
from bot.narrative.guards import praise, pronouns, signals
from bot.narrative.support import Support
from bot.narrative.table import FactTable, fact_table
from bot.narrative.words import lexicon

RefusalKind = Literal[
    "evidence", "number", "name", "recased", "word", "expansion", "month", "repository", "effect", "polarity", "kind",
    "quote", "revert", "pronoun", "praise", "mention", "reference", "link",
]  # fmt: skip


class Refusal(Struct, frozen=True):
    """Why a sentence may not stand: the kind of fault and the words that show it."""

    kind: RefusalKind
    word: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: “{self.word}” in “{self.sentence}”"


Naming = Literal["named", "anonymous"]


def check(sentence: Sentence, facts: object, *, naming: Naming = "named") -> tuple[Refusal, ...]:
    """What in the sentence its cited changes and the facts do not hold; empty where it may stand.

    `facts` are those of a month, a profile, a repository or an organisation (`bot/narrative/table.py`).
    """
    table = facts if isinstance(facts, FactTable) else fact_table(facts)
    found = [*_manners(_without_terms(sentence, table)), *_evidence(sentence, table)]
    cited = [table.changes[name] for name in sentence.evidence if name in table.changes]
    support = Support(table, cited, sentence.evidence, anonymous=naming == "anonymous")
    for claim in claims_of(sentence.text, table):
        found.extend((kind, word) for kind, word in support.faults(claim))
    found.extend(_turns(sentence, cited, table))
    found.extend(_kinds(sentence.text, cited))
    return tuple(Refusal(kind, word, sentence.text) for kind, word in dict.fromkeys(found))


def _without_terms(sentence: Sentence, table: FactTable) -> str:
    """The text without names of people (`He` is one) and of skills that it proves: `Beautiful Soup` praises nobody."""
    text = sentence.text
    for name in table.names:
        text = text.replace(name, "x") if name else text
    for term, evidence in table.terms.items():
        if term in text and set(evidence) & set(sentence.evidence):
            text = text.replace(term, "x")
    return text


def check_text(text: Text, facts: object, *, naming: Naming = "named") -> tuple[Refusal, ...]:
    """The refusals of all sentences, and the reverts and re-lands that the whole text leaves out."""
    table = fact_table(facts)
    found = [refusal for sentence in text.sentences for refusal in check(sentence, table, naming=naming)]
    return (*found, *hidden_reverts(text, table))


def hidden_reverts(text: Text, table: FactTable) -> tuple[Refusal, ...]:
    """Turns that no sentence tells."""
    telling = [sentence for sentence in text.sentences if names_revert(sentence.text)]
    cited = {name for sentence in telling for name in sentence.evidence}
    return tuple(
        Refusal("revert", turn.change.title, text.text)
        for turn in table.required_reverts
        if turn.change.id not in cited
    )


def ground(text: Text, template: Text, facts: object, *, naming: Naming = "named") -> tuple[Text, tuple[Refusal, ...]]:
    """The text with each failing sentence replaced by the template's, and why.

    A failing sentence gives way to the template's sentence that shares most evidence with it and is not yet told.
    Where a revert would stay hidden, the template's sentence about it is added.
    """
    table = fact_table(facts)
    kept: list[Sentence] = []
    refused: list[Refusal] = []
    spare = list(template.sentences)
    for sentence in text.sentences:
        faults = check(sentence, table, naming=naming)
        refused.extend(faults)
        chosen = _nearest(sentence, spare) if faults else sentence
        if chosen is not None and chosen not in kept:
            kept.append(chosen)
            spare = [other for other in spare if other is not chosen]
    hidden = hidden_reverts(Text(tuple(kept)), table)
    for sentence in template.sentences if hidden else ():
        if names_revert(sentence.text) and sentence not in kept:
            kept.append(sentence)
    if not kept or (refused and all(sentence in template.sentences for sentence in kept)):
        return template, (*refused, *hidden)
    return Text(tuple(_led(kept, template)), text.writer), (*refused, *hidden)


def _led(kept: Sequence[Sentence], template: Text) -> list[Sentence]:
    """The template's opening first, where it had to be taken."""
    first = template.sentences[0] if template.sentences else None
    return sorted(kept, key=lambda sentence: sentence is not first)


def _nearest(sentence: Sentence, spare: Iterable[Sentence]) -> Sentence | None:
    wanted = set(sentence.evidence)
    ranked = sorted(spare, key=lambda other: -len(wanted & set(other.evidence)))
    return ranked[0] if ranked else None


def names_revert(text: str) -> bool:
    """It says that something was reverted or landed again."""
    lowered = text.lower()
    words = set(lowered.replace(".", " ").replace(",", " ").replace(";", " ").split())
    guards = lexicon()["guards"]
    return bool(words & set(guards["turn_words"].split())) or any(
        phrase in lowered for phrase in guards["turn_phrases"]
    )


def _manners(text: str) -> Iterable[tuple[RefusalKind, str]]:
    for word in pronouns(text):
        yield "pronoun", word
    for word in praise(text):
        yield "praise", word
    for kind, piece in signals(text).items():
        yield ("mention" if kind == "mention" else "link" if kind == "link" else "reference"), piece


def _evidence(sentence: Sentence, table: FactTable) -> Iterable[tuple[RefusalKind, str]]:
    if not sentence.evidence:
        yield "evidence", "no change cited"
    for name in sentence.evidence:
        if name not in table.changes:
            yield "evidence", name


_KIND_WORDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("feature", re.compile(r"\bfeatures?\b", re.IGNORECASE)),
    ("bug_fix", re.compile(r"\b(?:bugs?|fix(?:es)?)\b", re.IGNORECASE)),
)


def _kinds(text: str, cited: Sequence[Change]) -> Iterable[tuple[RefusalKind, str]]:
    """Work called a feature or a bug fix although no cited change is one for certain, nor says so itself.

    What is told as work that may be one needs a cited change of that kind, certain or not.
    """
    for kind, pattern in _KIND_WORDS:
        doubted = any(change.kind == kind and not change.certain for change in cited)
        found = pattern.search(_MAY_BE.sub("", text) if doubted else text)
        if found and not any(
            (change.kind == kind and change.certain) or pattern.search(change.title) for change in cited
        ):
            yield "kind", found[0]


_MAY_BE = re.compile(r"\bchanges? that may be (?:a )?(?:features?|bug fix(?:es)?)\b")


def _turns(sentence: Sentence, cited: Sequence[Change], table: FactTable) -> Iterable[tuple[RefusalKind, str]]:
    turned: Mapping[ChangeId, object] = {name: turn for turn in table.turns for name in turn.evidence}
    told = names_revert(sentence.text)
    if told and not any(change.id in turned or "revert" in change.title.lower() for change in cited):
        yield "revert", "revert"
    for change in cited:
        if change.state == "reverted" and change.id in turned and not (told and _is_told(change, sentence.text)):
            yield "revert", change.title


def _is_told(change: Change, text: str) -> bool:
    """No part of the text that quotes the change leaves its revert out."""
    name = name_of(change.title)
    parts = [part for part in text.split("; ") if name and name in part]
    return all(names_revert(part) for part in parts)


__all__ = ["Refusal", "TextClaim", "check", "check_text", "ground", "hidden_reverts"]
