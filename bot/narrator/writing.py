"""How does a text come about: the writer's where it is true, the template's wherever it is not?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.digest.grounding import Refusal, ground
from bot.model import Text
from bot.narrator.sheet import AnyFacts, instructions, read_answer, sheet_of
from bot.narrator.writer import Writer, WriterError


@dataclass(frozen=True, slots=True)
class Written:
    """The text to publish, and for a dry run what the writer said, what was refused of it and why it failed."""

    text: Text
    template: Text
    offered: Text | None = None
    refusals: tuple[Refusal, ...] = ()
    failure: str = ""


async def write(
    writer: Writer, facts: AnyFacts, template: Text, *, naming: Literal["named", "anonymous"] = "named"
) -> Written:
    """The writer's text, checked sentence by sentence; never raises, since the template always stands in."""
    if not template.sentences:
        return Written(template, template)
    try:
        answer = await writer.answer(instructions(), sheet_of(facts, naming))
        if answer is None:
            return Written(template, template)
        offered = read_answer(answer, facts)
    except WriterError as error:
        return Written(template, template, failure=f"{writer.name}: {error}")
    text, refusals = ground(offered, template, facts, naming=naming)
    return Written(text, template, offered, refusals)
