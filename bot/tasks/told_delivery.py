"""What did the delivery say that asked for a job?"""

from __future__ import annotations

from typing import Any

from bot.github.payloads.told import NOTHING, Told, told
from bot.store import inbox
from bot.tasks.workplace import Workplace


async def told_by(place: Workplace, given: dict[str, Any]) -> Told:
    """Its hints; nothing where the job was not asked for by a delivery, or its body is kept no more."""
    guid = given.get("delivery")
    if not guid:
        return NOTHING
    body = await place.store.read(inbox.body_of, f"app:{place.ourselves.id}", guid)
    return told(body) if body else NOTHING
