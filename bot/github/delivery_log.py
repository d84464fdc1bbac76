"""Which deliveries never arrived? GitHub keeps each attempt for three days, and sends nothing again by itself.

https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from bot.frozen import frozen
from bot.github import operations as op
from bot.github.client import Client, is_missing
from bot.github.payloads.fields import Fields

KEPT = timedelta(days=3)
"""how far back the log reaches; seven days on an Enterprise Server"""
_MOST_PAGES = 20_000
"""of a hundred: what thousands of organisations send in that time"""


@frozen
class Attempt:
    """One line of the log. Attempts of one delivery share the GUID, not the id."""

    id: int
    guid: str
    event: str
    delivered_at: datetime


@frozen
class Payload:
    """What a delivery was to bring: the event, and the body as JSON."""

    event: str
    body: bytes


async def read_failures(app: Client, since: datetime) -> tuple[Attempt, ...]:
    """One failed attempt of every delivery that failed since then, oldest first; others of its may have come through.

    In calm times this is one request, and all that is asked.
    """
    found = {one.guid: one async for one in _attempts(app, "failure", since)}
    return tuple(sorted(found.values(), key=lambda one: one.id))


async def read_arrived(app: Client, since: datetime) -> frozenset[str]:
    """The GUIDs of the deliveries of which an attempt came through since then."""
    return frozenset([one.guid async for one in _attempts(app, "success", since)])


async def read_payload(app: Client, attempt: Attempt) -> Payload | None:
    """What one attempt carried; None where the log has forgotten it, or never had its body."""
    try:
        found = Fields(await app.read(op.DELIVERY, delivery=attempt.id), "delivery")
    except Exception as error:
        if is_missing(error):
            return None
        raise
    request = found.maybe("request")
    payload = request.maybe("payload") if request else None
    return None if payload is None else Payload(attempt.event, json.dumps(payload.plain).encode())


async def _attempts(app: Client, status: str, since: datetime) -> AsyncIterator[Attempt]:
    """The log, newest first, down to a moment."""
    async for row in app.items(op.DELIVERIES, most=_MOST_PAGES, status=status):
        fields = Fields(row, "delivery")
        found = Attempt(
            fields.identity("id"),
            fields.text("guid"),
            fields.text("event"),
            fields.time("delivered_at"),
        )
        if found.delivered_at < since:
            return
        yield found
