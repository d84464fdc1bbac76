"""Which deliveries never arrived? GitHub logs each attempt for three days and never redelivers by itself.

https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta, Struct

from bot.github import operations as op
from bot.github.client import Client, is_missing
from bot.github.payloads.reading import Identity, read

KEPT = timedelta(days=3)
"""how far back the log reaches; seven days on an Enterprise Server"""
_MOST_PAGES = 20_000
"""of a hundred rows: what thousands of organisations produce in that time"""


class DeliveryAttempt(Struct, frozen=True):
    """One row of the log. Attempts of one delivery share the GUID, not the id."""

    id: Identity
    guid: str
    event: str
    delivered_at: Annotated[datetime, Meta(tz=True)]


class _Request(Struct, frozen=True):
    payload: dict[str, Any] | None = None


class _Delivery(Struct, frozen=True):
    request: _Request | None = None


class Payload(Struct, frozen=True):
    """The content of a delivery: the event, and the body as JSON."""

    event: str
    body: bytes


async def read_failures(app: Client, since: datetime) -> tuple[DeliveryAttempt, ...]:
    """One failed attempt of each delivery that failed since then, oldest first; other attempts may have succeeded.

    Without failures this takes a single request.
    """
    found = {one.guid: one async for one in _attempts(app, "failure", since)}
    return tuple(sorted(found.values(), key=lambda one: one.id))


async def read_arrived(app: Client, since: datetime) -> frozenset[str]:
    """The GUIDs of deliveries with a successful attempt since then."""
    return frozenset([one.guid async for one in _attempts(app, "success", since)])


async def read_payload(app: Client, attempt: DeliveryAttempt) -> Payload | None:
    """The payload of one attempt; None if the log no longer has it or never had its body."""
    try:
        found = read(await app.read(op.DELIVERY, delivery=attempt.id), _Delivery)
    except Exception as error:
        if is_missing(error):
            return None
        raise
    payload = found.request.payload if found.request else None
    return Payload(attempt.event, json.dumps(payload).encode()) if payload else None


async def _attempts(app: Client, status: str, since: datetime) -> AsyncIterator[DeliveryAttempt]:
    """The log from the newest attempt back to `since`."""
    async for row in app.items(op.DELIVERIES, most=_MOST_PAGES, status=status):
        found = read(row, DeliveryAttempt)
        if found.delivered_at < since:
            return
        yield found
