"""What may a model choose from, and which of its choices are published? Ids and labels, each checked by membership."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from msgspec import Struct

from bot.model.change import Change
from bot.model.ids import ChangeId
from bot.narrative.digest import MOST_HIGHLIGHTS, DigestOrder, ranked_order
from bot.narrative.quotes import Quotes
from bot.services.writer.interface import Writer, WriterError

_MOST_ENTRIES = 60
_MOST_GROUPS = 4
_LONGEST_LABEL = 40
_WORD = re.compile(r"[^\W_]+")


@cache
def instructions() -> str:
    """The instructions for every writer, whatever the entries."""
    return files("bot.services.writer").joinpath("instructions.txt").read_text("utf-8")


class Offer(Struct, frozen=True, dict=True):
    """The entries of a month by short id, most important first, and the words that a label may use for each."""

    ids: Mapping[str, ChangeId]
    prompt: str
    words: Mapping[str, frozenset[str]]
    ranked: DigestOrder

    @property
    def hash(self) -> str:
        """An answer is valid as long as this stays the same."""
        return hashlib.sha256(f"{instructions()}\n{self.prompt}".encode()).hexdigest()


class Chosen(Struct, frozen=True):
    """The order to publish, and what was refused of the answer, for a dry run."""

    order: DigestOrder
    refused: tuple[str, ...] = ()


def offer_of(quotes: Quotes, landed: Sequence[Change]) -> Offer:
    """What a model receives of these changes: ids, quotations and the folders they touch; no people, no addresses."""
    changes = {change.id: change for change in landed}
    entries = quotes.lead_entries(changes.keys(), _MOST_ENTRIES)
    ids = {f"e{at}": entry.change for at, entry in enumerate(entries, 1)}
    folders = {short: _folders(changes[name]) for short, name in ids.items()}
    rows = {
        short: {"text": entry.quoted, "tag": entry.tag, "folders": folders[short]}
        for short, entry in zip(ids, entries, strict=True)
    }
    words = {short: _words([entry.quoted, *folders[short]]) for short, entry in zip(ids, entries, strict=True)}
    return Offer(ids, json.dumps({"entries": rows}, ensure_ascii=False), words, ranked_order(quotes))


def _folders(change: Change) -> list[str]:
    paths = [path for commit in change.commits for path in commit.fact.paths]
    return sorted({path.rpartition("/")[0] for path in paths if "/" in path})[:5]


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


async def ask(writer: Writer, offer: Offer) -> str | None:
    """The writer's raw answer, for `read_answer`; None from a writer that is off. Raises WriterError."""
    return await writer.answer(instructions(), offer.prompt)


def read_answer(answer: str, offer: Offer) -> Chosen:
    """What the answer chose. What is not in the offer is refused; without a usable part the ranking stays."""
    try:
        start, end = answer.find("{"), answer.rfind("}")
        found = json.loads(answer[start : end + 1])
        highlights = [str(name) for name in found["highlights"]]
        groups = [(str(row["label"]), [str(name) for name in row["entries"]]) for row in found["groups"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Chosen(offer.ranked, ("the answer is not in the agreed form",))
    reading = _Reading(offer, [], set())
    lead = reading.pick(highlights)[:MOST_HIGHLIGHTS]
    named = [(label, reading.pick(names)) for label, names in groups[:_MOST_GROUPS]]
    kept = tuple((label, _changes(names, offer)) for label, names in named if reading.fits(label, names))
    if not lead:
        return Chosen(offer.ranked, (*reading.refused, "no highlight is left"))
    return Chosen(DigestOrder(_changes(lead, offer), kept), tuple(reading.refused))


class _Reading(Struct):
    """Checks ids and labels one by one."""

    offer: Offer
    refused: list[str]
    used: set[str]

    def pick(self, names: Iterable[str]) -> list[str]:
        """The ids that were offered, each once."""
        found = []
        for name in names:
            if name not in self.offer.ids:
                self.refused.append(f"no entry {name[:20]!r}")
            elif name not in self.used:
                self.used.add(name)
                found.append(name)
        return found

    def fits(self, label: str, names: Sequence[str]) -> bool:
        """Whether every word of the label occurs in the evidence of its entries."""
        words = _words([label])
        evidence = {word for name in names for word in self.offer.words[name]}
        if not names or not words or len(label) > _LONGEST_LABEL or not words <= evidence:
            self.refused.append(f"the label {label[:_LONGEST_LABEL]!r} is not in the evidence of its entries")
            return False
        return True


def _changes(names: Iterable[str], offer: Offer) -> tuple[ChangeId, ...]:
    return tuple(offer.ids[name] for name in names)


__all__ = ["Chosen", "Offer", "WriterError", "ask", "instructions", "offer_of", "read_answer"]
