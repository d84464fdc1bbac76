"""A month is over: which signed snapshots of people's pages does it leave behind?"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

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
    async with place.store.read() as conn:
        last = await snapshots.last_begun(conn)
    first = month_after(last) if last else newest
    taken = 0
    for month in closed_months(first, int((now - SETTLED).timestamp()), place.zone):
        async with place.store.begin() as conn:
            if await begin_period(conn, snapshots.SCHEDULE, month, now):
                taken += await _defer(conn, place, month)
    return taken


async def _defer(conn: AsyncConnection, place: Workplace, month: Month) -> int:
    """One job a person with a page: of many, one that fails keeps nobody else waiting."""
    keys = {person.key for person in await visibility.public_people(conn)}
    keys |= set(await links.people_with_links(conn, place.clock()))
    for key in sorted(keys):
        ref = reference({"month": month, "person": key})
        await place.queue.defer(conn, "take_snapshots", ref, dedupe_key=f"take_snapshots:{ref}")
    return len(keys)


async def take_snapshots(job: Job, place: Workplace) -> None:
    """The snapshots of one person and month; those that are there stay as they are."""
    given = arguments(job.ref_id)
    if place.take_snapshots is not None:
        await place.take_snapshots(PersonKey(given["person"]), Month(given["month"]))
    async with place.store.begin() as conn:
        await job.finish(conn)
