"""A repository was renamed, moved, hidden, shown or deleted: what may be shown follows in one transaction."""

from __future__ import annotations

from dataclasses import replace

from gidgethub import BadRequest

from bot.github.client import Client, is_missing
from bot.github.reads import read_repository
from bot.model import InstallationId, Repository, RepositoryId
from bot.queue.interface import Job, Park
from bot.store import installations, jobs, rules_read
from bot.tasks.close_month import retell_elsewhere, retell_months
from bot.tasks.follow_branch import branch_moved
from bot.tasks.known_installation import know_account, know_installation
from bot.tasks.known_repository import has_left, see_repositories
from bot.tasks.record_landing import record_arrived
from bot.tasks.workplace import Workplace, arguments, asking_github

_HIDING = ("privatized", "deleted")


async def update_repository(job: Job, place: Workplace) -> None:
    """What GitHub answers now counts, not what the delivery said; out of reach means hidden.

    What a delivery says is hidden is so before GitHub is asked, which may take hours to answer.
    """
    given = arguments(job.ref_id)
    number, installation = RepositoryId(given["repository"]), InstallationId(given["installation"])
    if given.get("action") in _HIDING:
        await _hide(place, (installation, number), given["action"])
    asked = place.clock()
    await know_installation(place, installation)
    client = place.reader(installation, number)
    repository = await _now(client, number)
    if repository is not None:
        await know_account(place, installation, repository)
    async with place.store.read() as conn:
        before = await installations.repository(conn, number)
        if repository is not None and before is not None and await has_left(conn, installation, before, repository):
            repository = None
    ours = before is not None and before.installation_id == installation
    if repository is not None and before is not None and ours and _has_moved(before.repository, repository):
        with asking_github():
            arrived = await branch_moved(place, client, before.repository, repository)
        await record_arrived(job, place, client, arrived)
        return
    async with place.store.begin() as conn:
        if repository is not None:
            await see_repositories(conn, place, installation, [repository], asked)
            # A new owner shares other settings, and so does a new name.
            if before is None or before.repository.full_name != repository.full_name:
                await rules_read.forget(conn, number)
            if before is not None and ours and before.repository.private != repository.private:
                # Who may read what stands where has changed: digests are written anew for those who read them.
                await retell_months(conn, place, (installation, number))
        elif ours:
            # What another installation has taken over is that one's to show.
            await installations.remove_repositories(conn, [number], place.clock())
            await retell_elsewhere(conn, place, installation, [number])
        if given.get("action") == "unarchived":
            # What could not be posted while it was only read.
            await jobs.unpark_installation(conn, installation, place.clock())
        await job.finish(conn)


async def _hide(place: Workplace, where: tuple[InstallationId, RepositoryId], action: str) -> None:
    installation, number = where
    async with place.store.begin() as conn:
        before = await installations.repository(conn, number)
        if before is None or before.installation_id != installation or before.removed_at is not None:
            return
        if action == "deleted":
            await installations.remove_repositories(conn, [number], place.clock())
            await retell_elsewhere(conn, place, installation, [number])
        elif not before.repository.private:
            hidden = replace(before.repository, private=True)
            await installations.see_repositories(conn, installation, [hidden], place.clock())
            await retell_months(conn, place, where)


def _has_moved(before: Repository, now: Repository) -> bool:
    return before.default_branch != now.default_branch


async def _now(client: Client, repository: RepositoryId) -> Repository | None:
    """The repository as GitHub shows it; None where it is out of reach."""
    try:
        with asking_github():
            return await read_repository(client, repository)
    except Park:
        return None
    except BadRequest as error:
        if is_missing(error):
            return None
        raise
