"""A repository was renamed, moved, hidden, shown or deleted: what may be shown follows in one transaction."""

from __future__ import annotations

from gidgethub import BadRequest

from bot.github.auth import InstallationClosed, NotGranted
from bot.github.client import is_missing
from bot.github.limits import Limited
from bot.github.reads import read_repository
from bot.model import InstallationId, Repository, RepositoryId
from bot.queue.interface import Job, RetryLater
from bot.store import installations, ledger
from bot.tasks.known_installation import know_installation
from bot.tasks.workplace import Workplace, arguments


async def update_repository(job: Job, place: Workplace) -> None:
    """What GitHub answers now counts, not what the delivery said; out of reach means hidden."""
    given = arguments(job.ref_id)
    repository_id = RepositoryId(given["repository"])
    await know_installation(place, given["installation"])
    repository = await _now(place, given["installation"], repository_id)
    async with place.store.begin() as conn:
        if repository is None:
            await installations.remove_repositories(conn, [repository_id], place.clock())
        else:
            before = await installations.repository(conn, repository_id)
            await installations.see_repositories(
                conn, InstallationId(given["installation"]), [repository], place.clock()
            )
            if before is not None and before.repository.full_name != repository.full_name:
                await ledger.follow_rename(conn, repository_id, before.repository.full_name, repository.full_name)
        await job.finish(conn)


async def _now(place: Workplace, installation: int, repository: RepositoryId) -> Repository | None:
    """The repository as GitHub shows it; None where it is out of reach."""
    client = place.reader(installation, repository)
    try:
        return await read_repository(client, repository)
    except (InstallationClosed, NotGranted):
        return None
    except Limited as limited:
        raise RetryLater(limited.wait, "GitHub's rate limit") from limited
    except BadRequest as error:
        if is_missing(error):
            return None
        raise
