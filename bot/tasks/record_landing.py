"""Commits reached a default branch: read them, measure them, and move their contributors' metrics."""

from __future__ import annotations

from collections.abc import Sequence

from bot.github.client import Client
from bot.github.reads import Landed, read_landed, read_repository
from bot.model import CommitId, InstallationId, Repository, RepositoryId
from bot.queue.interface import Job
from bot.store import installations, ledger
from bot.tasks.announcing import announce
from bot.tasks.close_month import retell
from bot.tasks.configuring import keep, read_in_force
from bot.tasks.known_installation import know_installation
from bot.tasks.measuring import Brought, facts_of
from bot.tasks.recording import Place, record
from bot.tasks.workplace import Workplace, arguments, asking_github


async def record_landing(job: Job, place: Workplace) -> None:
    """`before` empty means a new branch; what is recorded already is left alone."""
    given = arguments(job.ref_id)
    await know_installation(place, given["installation"])
    client = place.reader(given["installation"], given["repository"])
    with asking_github():
        repository = await read_repository(client, RepositoryId(given["repository"]))
        before = CommitId(given["before"]) if given["before"] else None
        landed = await read_landed(client, repository, before=before, after=CommitId(given["after"]))
    await record_landed(job, place, (client, repository), landed)


async def record_landed(
    job: Job,
    place: Workplace,
    where: tuple[Client, Repository],
    landed: Sequence[Landed],
    *,
    again: bool = False,
    brought: Brought | None = None,
) -> None:
    """Measure what is new (with `again`, all of it), and write ledger, totals, posts and the end of the job at once."""
    client, repository = where
    given = arguments(job.ref_id)
    repository_id = RepositoryId(given["repository"])
    async with place.store.read() as conn:
        known = await ledger.known(conn, repository_id, [one.commit.id for one in landed])
    wanted = [one for one in landed if again or one.commit.id not in known]
    with asking_github():
        # Whatever changes the settings lands, so they need no reading where nothing is new.
        found = await read_in_force(place, client, repository) if wanted else None
        facts = await facts_of(place, where, wanted, found.config, brought=brought) if found else ()
    now = place.clock()
    async with place.store.begin() as conn:
        await installations.see_repositories(conn, given["installation"], [repository], now)
        target = Place(InstallationId(given["installation"]), repository_id, place.zone)
        if found is not None:
            await keep(conn, repository_id, found)
        recorded = await record(conn, target, facts, now=now, again=again)
        await announce(conn, place, target, recorded)
        await retell(conn, place, target, recorded)
        await job.finish(conn)
