"""In which words is a month's digest written: was a language model asked, and what did it answer?

The model is asked before the digest is made, outside any transaction. If anything fails, the digest uses the
templates.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from bot.model.ids import PersonKey
from bot.services.context import Context
from bot.services.digests.month_note import MonthParts, Passage, month_parts
from bot.services.digests.scope import DigestScope
from bot.services.writer import NO_WRITER, WriterError
from bot.services.writer.answers import ask, judge, prompt_hash
from bot.store import wordings
from bot.store.wordings import EVERYBODY, Wording

log = logging.getLogger(__name__)

LONGEST = 240.0
"""seconds for all answers of one digest"""
MOST_FAILURES = 2
"""consecutive failures after which the rest of a digest is not requested"""


@dataclass(slots=True)
class WriterAnswers:
    """The result of asking: answers to store, and for the others the reason there is none."""

    answers: list[Wording] = field(default_factory=list)
    failures: dict[PersonKey, str] = field(default_factory=dict)


async def request_wordings(context: Context, scope: DigestScope) -> Mapping[PersonKey, str]:
    """Ask for each text of a digest that has no wording for its facts; return the failures by person."""
    if context.writer is NO_WRITER:
        return {}

    parts, wordings_by_person = await context.store.read(_parts_and_words, context, scope)
    if parts is None or not parts.for_writer:
        return {}
    open_ones = [one for one in parts.passages if one.template.sentences and not _has_wording(one, wordings_by_person)]
    asked = await _ask_for_all(context, scope, open_ones)
    if asked.answers:
        await context.store.write(wordings.keep, asked.answers)
    return asked.failures


def _parts_and_words(
    connection: Connection, context: Context, scope: DigestScope
) -> tuple[MonthParts | None, Mapping[PersonKey, Wording]]:
    return month_parts(connection, context, scope), wordings.of_digest(connection, scope.home_id, scope.month)


def _has_wording(passage: Passage, wordings_by_person: Mapping[PersonKey, Wording]) -> bool:
    found = wordings_by_person.get(passage.key)
    return found is not None and found.prompt_hash == prompt_hash(passage.facts, passage.naming)


async def _ask_for_all(context: Context, scope: DigestScope, passages: Sequence[Passage]) -> WriterAnswers:
    """Ask one after the other: a local model answers one at a time anyway."""
    asked, in_a_row = WriterAnswers(), 0
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
                answer = await ask(context.writer, passage.facts, passage.naming)
        except (WriterError, TimeoutError) as error:
            in_a_row += 1
            asked.failures[passage.key] = str(error) or "no time left"
            log.warning(
                "%s: the writer %s gave no text: %s", scope.key, context.writer.name, asked.failures[passage.key]
            )
            continue
        in_a_row = 0
        asked.answers.append(_wording(context, scope, passage, answer or ""))
        judged = judge(answer, passage.facts, passage.template, naming=passage.naming)
        for refusal in judged.refusals:
            log.info("%s: refused of %s, %s", scope.key, context.writer.name, refusal)
    return asked


def _wording(context: Context, scope: DigestScope, passage: Passage, answer: str) -> Wording:
    hashed = prompt_hash(passage.facts, passage.naming)
    return Wording(scope.home_id, scope.month, passage.key, hashed, context.writer.name, answer, context.clock())


async def wording_report(context: Context, scope: DigestScope, failures: Mapping[PersonKey, str]) -> str:
    """A report for the operator: both versions of each text, and what was refused of the writer's, with reasons."""

    parts, wordings_by_person = await context.store.read(_parts_and_words, context, scope)
    if parts is None:
        return ""
    if not parts.for_writer:
        return f"Text: {context.writer.name} may not read this digest; `writer: llm` in its repositories allows it."
    names = {EVERYBODY: "everybody", **{one.person.key: parts.name(one) for one in parts.contributors}}
    blocks = [
        _block(names[one.key], one, wordings_by_person, failures) for one in parts.passages if one.template.sentences
    ]
    return "\n\n".join([f"Words by {context.writer.name}", *blocks])


def _block(
    name: str, passage: Passage, wordings_by_person: Mapping[PersonKey, Wording], failures: Mapping[PersonKey, str]
) -> str:
    found = passage.words(wordings_by_person)
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


__all__ = ["MonthParts", "request_wordings", "wording_report"]
