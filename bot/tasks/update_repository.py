"""A repository was renamed, moved, hidden, shown or deleted: what may be shown follows in one transaction."""

from __future__ import annotations

from gidgethub import BadRequest
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client, is_missing
from bot.github.reads import read_repository
from bot.model import InstallationId, Repository, RepositoryId
from bot.queue.interface import Job, Park
from bot.store import installations, jobs, rules_read
from bot.store.installations import Stored
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
    before, left = await place.store.read(_before, (installation, number), repository)
    repository = None if left else repository
    ours = before is not None and before.installation_id == installation
    if repository is not None and before is not None and ours and _has_moved(before.repository, repository):
        with asking_github():
            arrived = await branch_moved(place, client, before.repository, repository)
        await record_arrived(job, place, client, arrived)
        return

    def save(connection: Connection) -> None:
        if repository is not None:
            see_repositories(connection, place, installation, [repository], asked)
            _follow_changes(connection, place, (installation, number), (before, repository))
        elif ours:
            # What another installation has taken over is that one's to show.
            installations.remove_repositories(connection, [number], place.clock())
            retell_elsewhere(connection, place, installation, [number])
        if given.get("action") == "unarchived":
            # What could not be posted while it was only read.
            jobs.unpark_installation(connection, installation, place.clock())
        job.finish(connection)

    await place.store.write(save)


def _before(
    connection: Connection, where: tuple[InstallationId, RepositoryId], now: Repository | None
) -> tuple[Stored | None, bool]:
    """The repository as it was known, and whether it has left this installation."""
    installation, number = where
    before = installations.repository(connection, number)
    if now is None or before is None:
        return before, False
    return before, has_left(connection, installation, before, now)


def _follow_changes(
    connection: Connection,
    place: Workplace,
    where: tuple[InstallationId, RepositoryId],
    change: tuple[Stored | None, Repository],
) -> None:
    """What a new name, a new owner or a new visibility asks for."""
    (installation, number), (before, now) = where, change
    # A new owner shares other settings, and so does a new name.
    if before is None or before.repository.full_name != now.full_name:
        rules_read.forget(connection, number)
    if before is not None and before.installation_id == installation and before.repository.private != now.private:
        # Who may read what is posted where has changed: digests are written again for those who read them.
        retell_months(connection, place, where)


async def _hide(place: Workplace, where: tuple[InstallationId, RepositoryId], action: str) -> None:
    installation, number = where

    def save(connection: Connection) -> None:
        before = installations.repository(connection, number)
        if before is None or before.installation_id != installation or before.removed_at is not None:
            return
        if action == "deleted":
            installations.remove_repositories(connection, [number], place.clock())
            retell_elsewhere(connection, place, installation, [number])
        elif not before.repository.private:
            hidden = replace(before.repository, private=True)
            installations.see_repositories(connection, installation, [hidden], place.clock())
            retell_months(connection, place, where)

    await place.store.write(save)


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
