"""What does a delivery show of work beside code: of issues that were sorted, of releases that were published?"""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.payloads.beside_code import Release, Triage, shown
from bot.landing.identity import person_key
from bot.model import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.store import inbox
from bot.store.observations import NOBODY, Observation
from bot.tasks.observing import keep_observed
from bot.tasks.workplace import Workplace, arguments


async def observe_beside_code(job: Job, place: Workplace) -> None:
    """Append it, where it was not seen before; GitHub is asked for nothing."""
    given = arguments(job.ref_id)
    where = InstallationId(given["installation"]), RepositoryId(given["repository"])
    body = await place.store.read(inbox.body_of, f"app:{place.ourselves.id}", given["delivery"])
    found = shown(body) if body else None
    rows = [] if found is None else [observation(where[1], found)]

    def save(connection: Connection) -> None:
        keep_observed(connection, place, where, rows)
        job.finish(connection)

    await place.store.write(save)


def observation(repository: RepositoryId, found: Triage | Release) -> Observation:
    """The row of it. Several deliveries of one moment tell of one act."""
    key = NOBODY if found.by is None else person_key(found.by)
    if isinstance(found, Triage):
        source = f"{found.did}:{key}:{int(found.at.timestamp())}"
        return Observation(repository, found.number, "triage", source, found.at, {"state": found.did}, key)
    value = {"state": found.state, "tag": found.tag}
    return Observation(repository, 0, "release", f"{found.id}:{found.state}", found.at, value, key)
