"""The definitions changed: what was measured by older ones is measured anew beside it, and then takes its place.

A few commits at a time, for GitHub has to be asked for those that are not kept, and no transaction may be as long as a
repository's history: what lands meanwhile must not wait.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from gidgethub import BadRequest
from sqlalchemy import Connection

from bot.github.client import Client, is_missing
from bot.metrics.measure import Measure
from bot.metrics.registry import FACT_METHOD
from bot.model import Fact, InstallationId, Repository, RepositoryId
from bot.queue.interface import Job
from bot.store import erasure, measurements
from bot.store.jobs import LATER
from bot.tasks.close_month import retell
from bot.tasks.known_repository import know_repository
from bot.tasks.landed_before import landed_before
from bot.tasks.measuring import facts_of
from bot.tasks.recording import Place, record
from bot.tasks.rules_now import rules_now
from bot.tasks.workplace import Workplace, arguments, asking_github, reference

log = logging.getLogger(__name__)

AT_ONCE = 20
"""commits of one step"""
IN_FORCE_AT_ONCE = 200
"""commits that are put in force in one transaction: about a fifth of a second on SQLite"""
PAUSE = timedelta(minutes=2)
"""between two steps: 600 commits an hour, at most 1,200 of the 5,000 requests that an installation has"""


async def ask_to_measure_again(place: Workplace) -> None:
    """Defer a step for each installation where facts of another version are in force; one waits at most."""
    found = await place.store.read(measurements.repositories_outdated, FACT_METHOD)
    for installation in sorted({one for one, _ in found}):
        await place.store.write(_defer, place, installation, timedelta(0))


async def measure_again(job: Job, place: Workplace) -> None:
    """One step in one repository: measure some of what waits; where nothing waits, put some of it in force."""
    installation = InstallationId(arguments(job.ref_id)["installation"])

    def read(connection: Connection) -> tuple[RepositoryId | None, list[Fact]]:
        found = measurements.repositories_outdated(connection, FACT_METHOD)
        here = next((one for owner, one in found if owner == installation), None)
        waiting = measurements.outdated(connection, here, FACT_METHOD, AT_ONCE) if here is not None else []
        return here, waiting

    here, waiting = await place.store.read(read)
    if here is None:
        return await place.store.write(job.finish)
    measured = await _measured(place, (installation, here), waiting) if waiting else []

    def written(connection: Connection) -> None:
        if waiting:
            spared = erasure.without_erased(connection, measured)
            measurements.keep(connection, here, spared, method=FACT_METHOD, now=place.clock())
        else:
            _put_in_force(connection, place, (installation, here))
        _defer(connection, place, installation, PAUSE if waiting else timedelta(0))
        job.finish(connection)

    await place.store.write_without_flush(written)
    return None


async def _measured(
    place: Workplace, where: tuple[InstallationId, RepositoryId], waiting: Sequence[Fact]
) -> list[Fact]:
    client = place.reader(*where)
    with asking_github():
        repository = await know_repository(place, client, where, None)
        rules = await (await rules_now(place, client, repository, touched=False)).measure()
        return [await _anew(place, client, (repository, rules), fact) for fact in waiting]


async def _anew(place: Workplace, client: Client, known: tuple[Repository, Measure], fact: Fact) -> Fact:
    """As it was read when it landed, else as GitHub shows it; what GitHub has thrown away stays as it was measured."""
    repository, rules = known
    try:
        landed = await landed_before(place, client, repository, [fact])
    except BadRequest as error:
        if is_missing(error) or error.status_code == 422:  # GitHub's answer for a commit that it does not have
            log.warning("%s@%s no longer exists: its measurement stays as it is", repository.full_name, fact.commit)
            return fact
        raise
    (anew,) = await facts_of(place, repository, landed, rules)
    return anew


def _put_in_force(connection: Connection, place: Workplace, where: tuple[InstallationId, RepositoryId]) -> None:
    """The oldest facts step aside and the new ones are recorded in their place, in the caller's transaction."""
    target, now = Place(*where, place.zone), place.clock()
    facts = measurements.measured(connection, where[1], FACT_METHOD, IN_FORCE_AT_ONCE)
    commits = [fact.commit for fact in facts]
    measurements.set_aside(connection, where[1], commits, method=FACT_METHOD, now=now)
    recorded = record(connection, target, facts, now=now, again=True)
    retell(connection, place, target, recorded)
    log.info("%d commits of repository %d are measured anew", len(facts), where[1])


def _defer(connection: Connection, place: Workplace, installation: InstallationId, wait: timedelta) -> None:
    ref = reference({"installation": installation})
    place.queue.defer(
        connection,
        "measure_again",
        ref,
        serial_key=f"measure_again:{installation}",
        dedupe_key=f"measure_again:{ref}",
        priority=LATER,
        installation_id=installation,
        run_at=place.clock() + wait,
    )
