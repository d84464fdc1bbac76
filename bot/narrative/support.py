"""Is a claim held by the cited changes or by a named field of the facts, and what is wrong with it if not?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any, Literal

from bot.model.change import Change
from bot.model.ids import ChangeId, Month
from bot.narrative.change_words import PLAIN_WORD, ChangeWords, is_identifier
from bot.narrative.claims import TextClaim
from bot.narrative.table import FactTable
from bot.narrative.timeline import Evidence
from bot.narrative.words import lexicon, month_name, phrases

FaultKind = Literal[
    "number", "name", "recased", "word", "expansion", "month", "repository", "effect", "polarity", "kind", "quote"
]
Fault = tuple[FaultKind, str]
_EDGES = "\"'“”‘’`.,;:!?…()[]{}<>"


@cache
def own_words() -> frozenset[str]:
    """The words of the phrase file and the connecting words: they state nothing that is not bound elsewhere."""
    found = set(lexicon()["guards"]["connecting"].split())
    for table in phrases().values():
        if isinstance(table, dict):
            for text in _strings(table):
                literal = " ".join(part for part, *_ in Formatter().parse(text))
                found.update(re.findall(r"[a-z’'-]+", literal.lower()))
    return frozenset(found)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    else:
        for inner in value:
            yield from _strings(inner)


@cache
def _effect_stems() -> tuple[str, ...]:
    return tuple(lexicon()["guards"]["effects"].split())


class Support:
    """The cited changes of one sentence and the fact table, asked for each claim."""

    def __init__(self, table: FactTable, cited: Sequence[Change], evidence: Evidence, *, anonymous: bool) -> None:
        self.table = table
        self.cited = tuple(ChangeWords(change) for change in cited)
        self.ids = frozenset(evidence)
        self.anonymous = anonymous

    def faults(self, claim: TextClaim) -> Iterable[Fault]:
        """What is wrong with the claim; nothing where it is held."""
        return getattr(self, f"_{claim.kind}")(claim)  # type: ignore[no-any-return]  # one method for each ClaimKind

    def _month(self, claim: TextClaim) -> Iterator[Fault]:
        names = {month_name(month): month for month in self.table.months}
        held = claim.text in self.table.months or any(name.split()[0] == claim.text for name in names)
        if not held and not any(claim.text in said.text for said in self.cited):
            yield "month", claim.text

    def _opening_month(self, claim: TextClaim) -> Iterator[Fault]:
        if self.table.month is None or Month(claim.text) != self.table.month:
            yield "month", claim.text

    def _repository(self, claim: TextClaim) -> Iterator[Fault]:
        if claim.text not in self.table.repositories:
            yield "repository", claim.text

    def _name(self, claim: TextClaim) -> Iterator[Fault]:
        if self.anonymous:
            yield "name", claim.text

    def _term(self, claim: TextClaim) -> Iterator[Fault]:
        if not self._held(self.table.terms[claim.text]):
            yield "name", claim.text

    def _expansion(self, claim: TextClaim) -> Iterator[Fault]:
        if not any(claim.text.lower() in said.lowered for said in self.cited):
            yield "expansion", f"{claim.about} ({claim.text})"

    def _quote(self, claim: TextClaim) -> Iterator[Fault]:
        wanted = claim.text.rstrip("…")
        if not any(wanted in said.text for said in self.cited):
            yield "quote", claim.text

    def _count(self, claim: TextClaim) -> Iterator[Fault]:
        values = set(self.table.numbers.get(claim.noun, ()))
        if claim.about == "turn" and claim.noun == "change":
            values |= set(Counter(turn.course for turn in self.table.turns if turn.change.id in self.ids).values())
        if claim.value not in values and not any(claim.text.lower() in said.lowered for said in self.cited):
            yield "number", claim.text

    def _size(self, claim: TextClaim) -> Iterator[Fault]:
        """The number of changes of the item that the words before it tell."""
        tokens = list(self._content(claim.about))
        cited = {said.change.id: said for said in self.cited}
        for item in self.table.items:
            members = [cited[name] for name in item.evidence if name in cited]
            size = claim.value + (claim.noun == "related")
            whole = len(members) == len(item.changes) == size
            if whole and any(all(said.holds(token) for token in tokens) for said in members):
                return
        if not any(claim.text.lower() in said.lowered for said in self.cited):
            yield "number", claim.text

    def _piece(self, claim: TextClaim) -> Iterator[Fault]:
        """All content words of a piece must stand in one cited change, or be a term of the facts."""
        tokens = [token for token in self._content(claim.text) if not self._is_term(token)]
        if not tokens or any(all(said.holds(token) for token in tokens) for said in self.cited):
            yield from self._effects(claim.text)
            return
        best = max(self.cited, key=lambda said: sum(said.holds(token) for token in tokens), default=None)
        missing = [token for token in tokens if best is None or not best.holds(token)]
        yield from (self._fault(token, best) for token in missing)

    def _content(self, text: str) -> Iterator[str]:
        for token in self._without_terms(text).split():
            dotted = token.rstrip(_EDGES)
            plain = dotted if dotted in self.table.terms else token.strip(_EDGES) or token.strip()
            if not any(char.isalnum() for char in plain) or (plain.lower() in own_words() and not _shouts(plain)):
                continue
            yield plain

    def _without_terms(self, text: str) -> str:
        for term in sorted(self.table.terms, key=len, reverse=True):
            if " " in term and term in text and self._held(self.table.terms[term]):
                text = text.replace(term, " ")
        return text

    def _is_term(self, token: str) -> bool:
        if token in self.table.repositories:
            return any(said.change.repository == token for said in self.cited)
        return token in self.table.terms and self._held(self.table.terms[token])

    def _held(self, evidence: Sequence[ChangeId]) -> bool:
        return not evidence or bool(self.ids.intersection(evidence))

    def _effects(self, text: str) -> Iterator[Fault]:
        for token in PLAIN_WORD.findall(text):
            stated = token.lower() in own_words() or self._is_term(token)
            if not stated and self._is_unfounded_effect(token):
                yield "effect", token

    def _is_unfounded_effect(self, token: str) -> bool:
        stem = next((stem for stem in _effect_stems() if token.lower().startswith(stem)), None)
        return stem is not None and not any(stem in said.lowered for said in self.cited)

    def _fault(self, token: str, best: ChangeWords | None) -> Fault:
        if self._is_unfounded_effect(token):
            return "effect", token
        if best is not None and best.opposes(token):
            return "polarity", token
        if re.fullmatch(r"[\d,.]+%?", token):
            return "number", token
        if re.fullmatch(r"[A-Za-z0-9][\w.-]*/[\w.-]+", token):
            return "repository", token
        if any(token.lower() in said.lowered for said in self.cited) and _is_recased(token, self.cited):
            return "recased", token
        return ("name" if is_identifier(token) or token[:1].isupper() else "word"), token


def _shouts(token: str) -> bool:
    """An abbreviation spelled like one of our words: `IT`, `US`, `AND`."""
    return len(token) > 1 and token.isupper()


def _is_recased(token: str, cited: Iterable[ChangeWords]) -> bool:
    pattern = re.compile(rf"(?<!\w){re.escape(token)}(?!\w)", re.IGNORECASE)
    return any(pattern.search(said.text) and not re.search(pattern.pattern, said.text) for said in cited)
