"""How are missed deliveries fetched? From GitHub's log of deliveries; older ones are found by reconciliation."""

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
"""for differing clocks, and because GitHub logs an attempt when it ends"""
ONE_DAY = timedelta(hours=24)


async def ask_to_catch_up(context: Context, *, thorough: bool = False) -> None:
    """Defer a catch-up; at most one waits. `thorough` also reconciles every repository."""
    await context.store.write(defer_reconciliation, context, "catch_up", '{"thorough":1}' if thorough else "{}")


async def accept_failed(context: Context, since: datetime) -> int:
    """Pass each failed delivery to the webhook's handlers, under its own GUID; return how many were accepted."""
    app = context.github.app
    failed = await read_failures(app, since)
    stored = await context.store.read(inbox.known_guids, f"app:{context.ourselves.id}", [one.guid for one in failed])
    missing = [one for one in failed if one.guid not in stored]
    if not missing:
        return 0
    arrived = await read_arrived(app, min(one.delivered_at for one in missing))
    # In the order sent, but pushes first: a pull request need not wait for a push that is already queued.
    missing.sort(key=lambda one: one.event != "push")
    return sum([await _accept(context, one) for one in missing if one.guid not in arrived])


async def _accept(context: Context, attempt: DeliveryAttempt) -> bool:
    payload = await read_payload(context.github.app, attempt)
    if payload is None or context.accept_delivery is None:
        return False
    return await context.accept_delivery(attempt.guid, payload.event, payload.body)


def defer_reconciliation(connection: Connection, context: Context, task: str, ref: str) -> None:
    context.queue.defer(connection, task, ref, serial_key=task, dedupe_key=f"{task}:{ref}", priority=LATER)
