"""Which text is published: the writer's if it passes the checks, else the template's?"""

from __future__ import annotations

import hashlib
from typing import Literal

from msgspec import Struct

from bot.model.profile import Text
from bot.narrative.grounding import Refusal, ground
from bot.services.writer.interface import Writer, WriterError
from bot.services.writer.prompt import AnyFacts, fact_prompt, instructions, read_answer

Naming = Literal["named", "anonymous"]


class WriterResult(Struct, frozen=True):
    """The text to publish, and for a dry run the writer's offer, what was refused of it, and why it failed."""

    text: Text
    template: Text
    offered: Text | None = None
    refusals: tuple[Refusal, ...] = ()
    failure: str = ""


def prompt_hash(facts: AnyFacts, naming: Naming = "named") -> str:
    """A hash of the prompt for these facts: an answer is valid as long as it stays the same."""
    return hashlib.sha256(f"{instructions()}\n{fact_prompt(facts, naming)}".encode()).hexdigest()


async def ask(writer: Writer, facts: AnyFacts, naming: Naming = "named") -> str | None:
    """The writer's raw answer, for `judge`; None from a writer that is off. Raises WriterError."""
    return await writer.answer(instructions(), fact_prompt(facts, naming))


def judge(answer: str | None, facts: AnyFacts, template: Text, *, naming: Naming = "named") -> WriterResult:
    """The answer, checked sentence by sentence; the template's text if it is missing or malformed."""
    if answer is None or not template.sentences:
        return WriterResult(template, template)
    try:
        offered = read_answer(answer, facts)
    except WriterError as error:
        return WriterResult(template, template, failure=str(error))
    text, refusals = ground(offered, template, facts, naming=naming)
    return WriterResult(text, template, offered, refusals)


async def write(writer: Writer, facts: AnyFacts, template: Text, *, naming: Naming = "named") -> WriterResult:
    """The writer's text, checked sentence by sentence; never raises, since the template replaces it."""
    if not template.sentences:
        return WriterResult(template, template)
    try:
        return judge(await ask(writer, facts, naming), facts, template, naming=naming)
    except WriterError as error:
        return WriterResult(template, template, failure=f"{writer.name}: {error}")
