"""The definitions changed: what was measured by older ones is measured anew beside it, and then takes its place.

A few commits at a time, for GitHub has to be asked for those that are not kept, and no transaction may be as long as a
repository's history: what lands meanwhile must not wait.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from gidgethub import BadRequest
from sqlalchemy.ext.asyncio import AsyncConnection

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
    async with place.store.read() as conn:
        found = await measurements.repositories_outdated(conn, FACT_METHOD)
    for installation in sorted({one for one, _ in found}):
        async with place.store.begin() as conn:
            await _defer(conn, place, installation, timedelta(0))


async def measure_again(job: Job, place: Workplace) -> None:
    """One step in one repository: measure some of what waits; where nothing waits, put some of it in force."""
    installation = InstallationId(arguments(job.ref_id)["installation"])
    async with place.store.read() as conn:
        found = await measurements.repositories_outdated(conn, FACT_METHOD)
        here = next((one for owner, one in found if owner == installation), None)
        waiting = await measurements.outdated(conn, here, FACT_METHOD, AT_ONCE) if here is not None else []
    if here is None:
        async with place.store.begin() as conn:
            return await job.finish(conn)
    measured = await _measured(place, (installation, here), waiting) if waiting else []

    async def written(conn: AsyncConnection) -> None:
        if waiting:
            spared = await erasure.without_buried(conn, measured)
            await measurements.keep(conn, here, spared, method=FACT_METHOD, now=place.clock())
        else:
            await _put_in_force(conn, place, (installation, here))
        await _defer(conn, place, installation, PAUSE if waiting else timedelta(0))
        await job.finish(conn)

    await place.store.write(written, lasting=False)
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


async def _put_in_force(conn: AsyncConnection, place: Workplace, where: tuple[InstallationId, RepositoryId]) -> None:
    """The oldest facts step aside and the new ones are recorded in their place, in the caller's transaction."""
    target, now = Place(*where, place.zone), place.clock()
    facts = await measurements.measured(conn, where[1], FACT_METHOD, IN_FORCE_AT_ONCE)
    commits = [fact.commit for fact in facts]
    await measurements.set_aside(conn, where[1], commits, method=FACT_METHOD, now=now)
    recorded = await record(conn, target, facts, now=now, again=True)
    await retell(conn, place, target, recorded)
    log.info("%d commits of repository %d are measured anew", len(facts), where[1])


async def _defer(conn: AsyncConnection, place: Workplace, installation: InstallationId, wait: timedelta) -> None:
    ref = reference({"installation": installation})
    await place.queue.defer(
        conn,
        "measure_again",
        ref,
        serial_key=f"measure_again:{installation}",
        dedupe_key=f"measure_again:{ref}",
        priority=LATER,
        installation_id=installation,
        run_at=place.clock() + wait,
    )
