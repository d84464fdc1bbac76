"""In which words may a month be told: has a language model been asked, and what did it answer?

Asked outside any transaction and before the digest is made. Whatever goes wrong here the digest goes out, in the words
of the templates.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from bot.model import PersonKey
from bot.narrator import NO_WRITER, WriterError
from bot.narrator.writing import ask, judge, sheet_hash
from bot.store import wordings
from bot.store.wordings import WHOLE, Wording
from bot.tasks.digest_home import Scope
from bot.tasks.month_note import MonthParts, Passage, month_parts
from bot.tasks.workplace import Workplace

log = logging.getLogger(__name__)

LONGEST = 240.0
"""seconds for all the answers of one digest"""
MOST_FAILURES = 2
"""failures in a row after which the rest of a digest is not asked for"""


@dataclass(slots=True)
class Asked:
    """What came of asking: answers to be kept, and for the others why there is none."""

    answers: list[Wording] = field(default_factory=list)
    failures: dict[PersonKey, str] = field(default_factory=dict)


async def find_words(place: Workplace, scope: Scope) -> Mapping[PersonKey, str]:
    """Ask for the words of every text of a digest that has none for its facts. Answers by whom, why there are none."""
    if place.writer is NO_WRITER:
        return {}

    parts, said = await place.store.read(_parts_and_words, place, scope)
    if parts is None or not parts.for_writer:
        return {}
    open_ones = [one for one in parts.passages if one.template.sentences and not _has_words(one, said)]
    asked = await _ask_for_all(place, scope, open_ones)
    if asked.answers:
        await place.store.write(wordings.keep, asked.answers)
    return asked.failures


def _parts_and_words(
    connection: Connection, place: Workplace, scope: Scope
) -> tuple[MonthParts | None, Mapping[PersonKey, Wording]]:
    return month_parts(connection, place, scope), wordings.of_digest(connection, scope.home_id, scope.month)


def _has_words(passage: Passage, said: Mapping[PersonKey, Wording]) -> bool:
    found = said.get(passage.key)
    return found is not None and found.sheet_hash == sheet_hash(passage.facts, passage.naming)


async def _ask_for_all(place: Workplace, scope: Scope, passages: Sequence[Passage]) -> Asked:
    """One after the other: a model at home answers one at a time anyway."""
    asked, in_a_row = Asked(), 0
    loop = asyncio.get_running_loop()
    until = loop.time() + LONGEST
    for passage in passages:
        left = until - loop.time()
        if in_a_row >= MOST_FAILURES or left <= 0:
            asked.failures[passage.key] = (
                "not asked, because it failed before" if left > 0 else "not asked, because no time was left"
            )
            continue
        try:
            async with asyncio.timeout(left):
                answer = await ask(place.writer, passage.facts, passage.naming)
        except (WriterError, TimeoutError) as error:
            in_a_row += 1
            asked.failures[passage.key] = str(error) or "no time left"
            log.warning(
                "%s: the writer %s gave no words: %s", scope.key, place.writer.name, asked.failures[passage.key]
            )
            continue
        in_a_row = 0
        asked.answers.append(_wording(place, scope, passage, answer or ""))
        judged = judge(answer, passage.facts, passage.template, naming=passage.naming)
        for refusal in judged.refusals:
            log.info("%s: refused of %s, %s", scope.key, place.writer.name, refusal)
    return asked


def _wording(place: Workplace, scope: Scope, passage: Passage, answer: str) -> Wording:
    hashed = sheet_hash(passage.facts, passage.naming)
    return Wording(scope.home_id, scope.month, passage.key, hashed, place.writer.name, answer, place.clock())


async def words_report(place: Workplace, scope: Scope, failures: Mapping[PersonKey, str]) -> str:
    """For whoever runs Almanac: of each text both wordings, and what was refused of the writer's, and why."""

    parts, said = await place.store.read(_parts_and_words, place, scope)
    if parts is None:
        return ""
    if not parts.for_writer:
        return f"Text: {place.writer.name} may not read this digest; `writer: llm` in its repositories allows it."
    names = {WHOLE: "everybody", **{one.person.key: parts.name(one) for one in parts.told}}
    blocks = [_block(names[one.key], one, said, failures) for one in parts.passages if one.template.sentences]
    return "\n\n".join([f"Words by {place.writer.name}", *blocks])


def _block(name: str, passage: Passage, said: Mapping[PersonKey, Wording], failures: Mapping[PersonKey, str]) -> str:
    found = passage.words(said)
    failure = found.failure or failures.get(passage.key, "")
    lines = [
        f"{name}",
        f"  template: {found.template.text}",
        *([f"  writer:   {found.offered.text}"] if found.offered else []),
        *([f"  no words: {failure}"] if failure else []),
        *(f"  refused:  {refusal}" for refusal in found.refusals),
        f"  posted:   {'the template' if found.text == found.template else found.text.text}",
    ]
    return "\n".join(lines)


__all__ = ["MonthParts", "find_words", "words_report"]
