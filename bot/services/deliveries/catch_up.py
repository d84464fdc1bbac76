"""What GitHub failed to deliver is taken from its log, as if it came now; beyond the log, everything is looked at."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from sqlalchemy import Connection

from bot.github.delivery_log import DeliveryAttempt, read_arrived, read_failures, read_payload
from bot.services.context import Context
from bot.store import inbox
from bot.store.jobs import LATER

log = logging.getLogger(__name__)
DELIVERIES, EVERYTHING = "deliveries", "everything"
OVERLAP = timedelta(minutes=10)
"""our clock and GitHub's differ, and an attempt is logged when it has ended"""
ONE_DAY = timedelta(hours=24)


async def ask_to_catch_up(context: Context, *, thorough: bool = False) -> None:
    """Defer a look at the log; one waits at most. `thorough` looks through every repository too."""
    await context.store.write(defer_reconciliation, context, "catch_up", '{"thorough":1}' if thorough else "{}")


async def accept_failed(context: Context, since: datetime) -> int:
    """Give each failed delivery to the handlers that the door would have given it to, under its own GUID."""
    app = context.github.app
    failed = await read_failures(app, since)
    stored = await context.store.read(inbox.known_guids, f"app:{context.ourselves.id}", [one.guid for one in failed])
    missing = [one for one in failed if one.guid not in stored]
    if not missing:
        return 0
    arrived = await read_arrived(app, min(one.delivered_at for one in missing))
    # As they were sent, but pushes first: a pull request whose push waits already need not wait for it.
    missing.sort(key=lambda one: one.event != "push")
    return sum([await _accept(context, one) for one in missing if one.guid not in arrived])


async def _accept(context: Context, attempt: DeliveryAttempt) -> bool:
    payload = await read_payload(context.github.app, attempt)
    if payload is None or context.accept_delivery is None:
        return False
    return await context.accept_delivery(attempt.guid, payload.event, payload.body)


def defer_reconciliation(connection: Connection, context: Context, task: str, ref: str) -> None:
    context.queue.defer(connection, task, ref, serial_key=task, dedupe_key=f"{task}:{ref}", priority=LATER)
