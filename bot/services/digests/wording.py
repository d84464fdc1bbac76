"""In which order does a month's digest list its entries: was a language model asked, and what did it answer?

The model is asked before the digest is made, outside any transaction. If anything fails, the ranking stays.
"""

from __future__ import annotations

import asyncio
import logging

from sqlalchemy import Connection

from bot.services.context import Context
from bot.services.digests.month_note import MonthParts, month_parts
from bot.services.digests.scope import DigestScope
from bot.services.writer import NO_WRITER, WriterError
from bot.services.writer.answers import ask, read_answer
from bot.store import wordings
from bot.store.wordings import EVERYBODY, Wording

log = logging.getLogger(__name__)

LONGEST = 240.0
"""seconds for the answer about one digest"""
_FEWEST = 4
"""entries below which there is nothing to order"""


async def request_wording(context: Context, scope: DigestScope) -> str:
    """Ask for an order unless there is one for these entries; return why there is none, or nothing."""
    if context.writer is NO_WRITER:
        return ""
    parts, known = await context.store.read(_parts_and_wording, context, scope)
    if parts is None or not parts.for_writer:
        return ""
    offer = parts.offer
    if len(offer.ids) < _FEWEST or (known is not None and known.prompt_hash == offer.hash):
        return ""
    about = {"digest": scope.key, "writer": context.writer.name}
    try:
        async with asyncio.timeout(LONGEST):
            answer = await ask(context.writer, offer)
    except (WriterError, TimeoutError) as error:
        failure = str(error) or "no time left"
        log.warning("writer gave no order", extra=about | {"reason": failure})
        return failure
    now = context.clock()
    row = Wording(scope.home_id, scope.month, EVERYBODY, offer.hash, context.writer.name, answer or "", now)
    await context.store.write(wordings.keep, [row])
    for refused in read_answer(answer or "", offer).refused:
        log.info("writer's answer refused", extra=about | {"reason": refused})
    return ""


def _parts_and_wording(
    connection: Connection, context: Context, scope: DigestScope
) -> tuple[MonthParts | None, Wording | None]:
    return month_parts(connection, context, scope), wordings.of_digest(connection, scope.home_id, scope.month)


async def wording_report(context: Context, scope: DigestScope, failure: str) -> str:
    """A report for the operator: what the writer answered, and what was refused of it, with reasons."""
    parts, known = await context.store.read(_parts_and_wording, context, scope)
    if parts is None:
        return ""
    name = context.writer.name
    if not parts.for_writer:
        return f"Order: {name} may not read this digest; `writer: llm` in its repositories allows it."
    if known is None or known.prompt_hash != parts.offer.hash:
        return f"Order by the ranking{f'; {name}: {failure}' if failure else ''}"
    refused = read_answer(known.answer, parts.offer).refused
    return "\n".join([f"Order by {name}: {known.answer}", *(f"  refused: {reason}" for reason in refused)])


__all__ = ["request_wording", "wording_report"]
