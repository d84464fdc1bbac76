"""Which snapshots of people's pages are due when a month is over?"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection

from bot.landing.months import closed_months, month_after, month_of
from bot.model.ids import Month
from bot.services.context import Context, job_reference
from bot.store import links, snapshots, visibility
from bot.store.digests import begin_period

SETTLE_TIME = timedelta(days=1)
"""wait after a month's end, so that late deliveries are in the snapshot, which cannot change"""


async def defer_snapshots(context: Context) -> int:
    """Defer a job for every person and settled month that has none yet; return how many.

    A month and its jobs share one transaction, so several processes defer them once. The first month is the newest one:
    no snapshot is dated before this installation existed.
    """
    if context.take_snapshots is None:
        return 0
    now = context.clock()
    newest = month_after(month_of(int((now - SETTLE_TIME).timestamp()), context.zone), -1)
    last = await context.store.read(snapshots.last_begun)
    first = month_after(last) if last else newest
    deferred = 0
    for month in closed_months(first, int((now - SETTLE_TIME).timestamp()), context.zone):
        deferred += await context.store.write(_begin, context, month, now)
    return deferred


def _begin(connection: Connection, context: Context, month: Month, now: datetime) -> int:
    """Defer the jobs of a month that was not begun yet."""
    return _defer(connection, context, month) if begin_period(connection, snapshots.SCHEDULE, month, now) else 0


def _defer(connection: Connection, context: Context, month: Month) -> int:
    """One job per person with a page, so that one failure does not affect the others."""
    keys = {person.key for person in visibility.public_people(connection)}
    keys |= set(links.people_with_links(connection, context.clock()))
    for key in sorted(keys):
        ref = job_reference({"month": month, "person": key})
        context.queue.defer(connection, "take_snapshots", ref, dedupe_key=f"take_snapshots:{ref}")
    return len(keys)
