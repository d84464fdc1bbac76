"""A month is over: which signed snapshots of people's pages does it leave behind?"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection

from bot.landing.months import closed_months, month_after, month_of
from bot.model import Month, PersonKey
from bot.queue.interface import Job
from bot.store import links, snapshots, visibility
from bot.store.digests import begin_period
from bot.tasks.workplace import Workplace, arguments, reference

SETTLED = timedelta(days=1)
"""after a month's end, so that what GitHub tells late is in the snapshot, which cannot change"""


async def close_snapshots(place: Workplace) -> int:
    """Defer a job for every page and every settled month that was not taken in hand yet; how many.

    The month and its jobs are one transaction, so any number of processes ask once. The first month is the newest one:
    nothing is dated before there was somebody to date it.
    """
    if place.take_snapshots is None:
        return 0
    now = place.clock()
    newest = month_after(month_of(int((now - SETTLED).timestamp()), place.zone), -1)
    last = await place.store.read(snapshots.last_begun)
    first = month_after(last) if last else newest
    taken = 0
    for month in closed_months(first, int((now - SETTLED).timestamp()), place.zone):
        taken += await place.store.write(_begin, place, month, now)
    return taken


def _begin(connection: Connection, place: Workplace, month: Month, now: datetime) -> int:
    """The jobs of a month that nobody has begun yet."""
    return _defer(connection, place, month) if begin_period(connection, snapshots.SCHEDULE, month, now) else 0


def _defer(connection: Connection, place: Workplace, month: Month) -> int:
    """One job a person with a page: of many, one that fails keeps nobody else waiting."""
    keys = {person.key for person in visibility.public_people(connection)}
    keys |= set(links.people_with_links(connection, place.clock()))
    for key in sorted(keys):
        ref = reference({"month": month, "person": key})
        place.queue.defer(connection, "take_snapshots", ref, dedupe_key=f"take_snapshots:{ref}")
    return len(keys)


async def take_snapshots(job: Job, place: Workplace) -> None:
    """The snapshots of one person and month; those that are there stay as they are."""
    given = arguments(job.ref_id)
    if place.take_snapshots is not None:
        await place.take_snapshots(PersonKey(given["person"]), Month(given["month"]))
    await place.store.write(job.finish)
