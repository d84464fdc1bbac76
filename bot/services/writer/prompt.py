"""What does a writer receive of the facts, and how are the sentences of its answer read?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from bot.model.change import Change
from bot.model.ids import ChangeId
from bot.model.profile import Sentence, Text
from bot.narrative.clauses import clause_of
from bot.narrative.facts import MonthFacts, ProfileFacts
from bot.narrative.gathering import DigestFacts
from bot.narrative.table import fact_table
from bot.narrative.words import join_list, month_name
from bot.services.writer.interface import WriterError

AnyFacts = MonthFacts | ProfileFacts | DigestFacts
MOST_CHANGES = 60
MOST_SENTENCES = 5
LONGEST_SENTENCE = 600


@cache
def instructions() -> str:
    """The instructions for every writer, whatever the facts."""
    return files("bot.services.writer").joinpath("instructions.txt").read_text("utf-8")


def short_ids(facts: AnyFacts) -> dict[str, ChangeId]:
    """`c1` -> change id, most important first: a writer never sees numbers that GitHub would turn into references."""
    revert_changes = [name for turn in facts.turns for name in turn.evidence]
    item_changes = [name for item in facts.items for name in item.evidence]
    names = [name for name in dict.fromkeys([*revert_changes, *item_changes]) if name in facts.changes]
    return {f"c{at}": name for at, name in enumerate(names[:MOST_CHANGES], 1)}


def fact_prompt(facts: AnyFacts, naming: Literal["named", "anonymous"] = "named") -> str:
    """The facts as JSON text: numbers, fixed words and cleaned titles; no code, no addresses, no other people."""
    ids = short_ids(facts)
    back = {name: short for short, name in ids.items()}
    rows: dict[str, Any] = {
        "opening": _opening(facts),
        "most_sentences": 4 if isinstance(facts, ProfileFacts) else MOST_SENTENCES,
        "numbers": {noun: sorted(values) for noun, values in sorted(fact_table(facts).numbers.items()) if values},
        "changes": {short: _row(facts.changes[name]) for short, name in ids.items()},
        "turns": [
            {"course": turn.course, "changes": [back[name] for name in turn.evidence if name in back]}
            for turn in facts.turns
        ],
    }
    if naming == "named" and isinstance(facts, ProfileFacts):
        rows["person"] = facts.person
    return json.dumps(rows, ensure_ascii=False, sort_keys=True)


def _opening(facts: AnyFacts) -> str:
    if isinstance(facts, MonthFacts):
        return f"{month_name(facts.month)}, {join_list(facts.repositories)}: "
    return f"{month_name(facts.month)}, {facts.name}: " if isinstance(facts, DigestFacts) else ""


def _row(change: Change) -> Mapping[str, str]:
    """One change as JSON; a title that may not be repeated is left out."""
    clause = clause_of(change.title, change.repository)
    kind = change.kind if change.certain else "change"
    return {"text": clause.text if clause else "", "kind": kind, "state": change.state, "repository": change.repository}


def read_answer(answer: str, facts: AnyFacts) -> Text:
    """The sentences of an answer with their change ids. Raises WriterError if it is malformed."""
    ids = short_ids(facts)
    start, end = answer.find("{"), answer.rfind("}")
    try:
        rows = json.loads(answer[start : end + 1])["sentences"]
        sentences = tuple(
            Sentence(_plain(row["text"]), tuple(ids.get(name, ChangeId(str(name))) for name in row["changes"]))
            for row in rows[:MOST_SENTENCES]
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise WriterError("answer not in the agreed form") from None
    if not sentences or not all(sentence.text for sentence in sentences):
        raise WriterError("answer without sentences")
    return Text(sentences, "llm")


def _plain(text: str) -> str:
    return " ".join(text.split())[:LONGEST_SENTENCE]
