"""How is what GitHub alone shows kept: once, without people who were erased, and told anew where it comes late?"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from bot.landing.months import month_after, month_of
from bot.model import InstallationId, RepositoryId
from bot.store import erasure, observations
from bot.store.observations import DEEDS, Observation
from bot.tasks.close_month import retell_months
from bot.tasks.workplace import Workplace


def keep_observed(
    connection: Connection, place: Workplace, where: tuple[InstallationId, RepositoryId], rows: Sequence[Observation]
) -> int:
    """Append what was not seen before; how many rows are new. Digests of months that are over are written anew."""
    gone = erasure.erased_people(connection, {one.person_key for one in rows if one.person_key})
    kept = [one for one in rows if one.person_key not in gone]
    new = observations.observe(connection, kept)
    now = month_of(int(place.clock().timestamp()), place.zone)
    late = {month_of(int(one.at.timestamp()), place.zone) for one in kept if new and one.signal in DEEDS} - {now}
    if late:
        # A month of the digest may begin a day before or after the operator's.
        retell_months(connection, place, where, {month_after(month, step) for month in late for step in (-1, 0, 1)})
    return new
