"""What did the delivery that led to a job say?"""

from __future__ import annotations

from typing import Any

from bot.github.payloads.hints import NOTHING, DeliveryHints, read_hints
from bot.services.context import Context
from bot.store import inbox


async def delivery_hints(context: Context, given: dict[str, Any]) -> DeliveryHints:
    """The delivery's hints; `NOTHING` if no delivery led to the job or its body was deleted."""
    guid = given.get("delivery")
    if not guid:
        return NOTHING
    body = await context.store.read(inbox.body_of, f"app:{context.ourselves.id}", guid)
    return read_hints(body) if body else NOTHING
