"""What GitHub failed to deliver is taken from its log, as if it came now; beyond the log, everything is looked at."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from sqlalchemy import Connection

from bot.github.delivery_log import KEPT, Attempt, read_arrived, read_failures, read_payload
from bot.queue.interface import Job
from bot.store import backfills, inbox
from bot.store.backfills import Watermark
from bot.store.jobs import LATER
from bot.tasks.workplace import Workplace, arguments, asking_github

log = logging.getLogger(__name__)

DELIVERIES, EVERYTHING = "deliveries", "everything"
OVERLAP = timedelta(minutes=10)
"""our clock and GitHub's differ, and an attempt is logged when it has ended"""
A_DAY = timedelta(hours=24)


async def ask_to_catch_up(place: Workplace, *, thorough: bool = False) -> None:
    """Defer a look at the log; one waits at most. `thorough` looks through every repository too."""
    await place.store.write(_defer, place, "catch_up", '{"thorough":1}' if thorough else "{}")


async def catch_up(job: Job, place: Workplace) -> None:
    """Take what failed since the START of the last look: what failed while that one ran is seen by this one."""
    started = place.clock()

    def read(connection: Connection) -> tuple[Watermark | None, Watermark | None]:
        return backfills.watermark(connection, DELIVERIES), backfills.watermark(connection, EVERYTHING)

    reached, looked = await place.store.read(read)
    since = reached.at - OVERLAP if reached else started - KEPT
    with asking_github():
        taken = await _take_failed(place, since)
    if taken:
        log.info("caught up with %d deliveries that had failed since %s", taken, since.isoformat())
    beyond = reached is None or started - reached.at > KEPT - OVERLAP
    daily = looked is None or started - looked.at > A_DAY

    def save(connection: Connection) -> None:
        backfills.mark(connection, Watermark(DELIVERIES, started))
        if beyond or daily or arguments(job.ref_id).get("thorough"):
            _defer(connection, place, "reconcile", "{}")
        job.finish(connection)

    await place.store.write(save)


async def _take_failed(place: Workplace, since: datetime) -> int:
    """Give each failed delivery to the handlers that the door would have given it to, under its own GUID."""
    app = place.github.app
    failed = await read_failures(app, since)
    stored = await place.store.read(inbox.known, f"app:{place.ourselves.id}", [one.guid for one in failed])
    missing = [one for one in failed if one.guid not in stored]
    if not missing:
        return 0
    arrived = await read_arrived(app, min(one.delivered_at for one in missing))
    # As they were sent, but pushes first: a pull request whose push waits already need not wait for it.
    missing.sort(key=lambda one: one.event != "push")
    return sum([await _take(place, one) for one in missing if one.guid not in arrived])


async def _take(place: Workplace, attempt: Attempt) -> bool:
    payload = await read_payload(place.github.app, attempt)
    if payload is None or place.take is None:
        return False
    return await place.take(attempt.guid, payload.event, payload.body)


def _defer(connection: Connection, place: Workplace, task: str, ref: str) -> None:
    place.queue.defer(connection, task, ref, serial_key=task, dedupe_key=f"{task}:{ref}", priority=LATER)
