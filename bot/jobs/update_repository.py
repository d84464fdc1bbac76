"""When a repository is renamed, moved, hidden, deleted or edited, update what the record knows of it."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.digests.refresh import refresh_digests_elsewhere
from bot.services.landings.arrivals import record_arrivals
from bot.services.landings.default_branch import read_branch_change
from bot.services.refusals import A_DAY
from bot.services.repositories.installation import ensure_installation, refresh_account
from bot.services.repositories.repository import save_repositories
from bot.services.repositories.update import (
    branch_has_moved,
    follow_changes,
    hide_repository,
    read_current,
    stored_before,
)
from bot.store import installations, jobs


async def update_repository(job: Job, context: Context) -> None:
    """Store GitHub's current answer, not the delivery's; hide the repository if it is out of reach.

    A repository that the delivery reports as hidden is hidden before GitHub is asked, which may take hours. One that
    only an answer reports as gone is hidden at once, and removed if GitHub still does not find it after a day.
    """
    given = job_arguments(job.ref_id)
    number, installation = RepositoryId(given["repository"]), InstallationId(given["installation"])
    if given.get("action") in _HIDING_ACTIONS:
        await hide_repository(context, (installation, number), given["action"])
    asked = context.clock()
    await ensure_installation(context, installation)
    client = context.reader(installation, number)
    repository = await read_current(client, number)
    if repository is not None:
        await refresh_account(context, installation, repository)
    before, left = await context.store.read(stored_before, (installation, number), repository)
    repository = None if left else repository
    ours = before is not None and before.installation_id == installation
    if repository is None and not left and ours and given.get("action") != "deleted":
        await hide_repository(context, (installation, number), "privatized")
        job.doubt(f"repository {number} is not found", A_DAY)
    if repository is not None and before is not None and ours and branch_has_moved(before.repository, repository):
        with translate_github_errors():
            arrived = await read_branch_change(context, client, before.repository, repository)
        await record_arrivals(job, context, client, arrived)
        return

    def save(connection: Connection) -> None:
        if repository is not None:
            save_repositories(connection, context, installation, [repository], asked)
            follow_changes(connection, context, (installation, number), (before, repository))
        elif ours:
            # If another installation has it now, that one shows it.
            installations.remove_repositories(connection, [number], context.clock())
            refresh_digests_elsewhere(connection, context, installation, [number])
        if given.get("action") == "unarchived":
            # Its posts were parked while the repository was read-only.
            jobs.unpark_installation(connection, installation, context.clock())
        job.finish(connection)

    await context.store.write(save)


_HIDING_ACTIONS = ("privatized", "deleted")
