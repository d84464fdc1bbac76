"""When an installation is created, suspended, resumed or deleted, update its repositories."""

from __future__ import annotations

from bot.github.operations import INSTALLATION_REPOSITORIES, required_permissions
from bot.github.reads import read_installation, read_installation_repositories
from bot.model.ids import InstallationId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.refusals import A_DAY
from bot.services.repositories.update import remove_installation, suspend_installation, update_installation_settings


async def update_installation(job: Job, context: Context) -> None:
    """Store GitHub's current answer; repositories out of reach are hidden in the same transaction.

    A deletion needs two witnesses: the delivery and the answer, or answers for a whole day.
    """
    given = job_arguments(job.ref_id)
    number = InstallationId(given["installation"])
    with translate_github_errors():
        found = await read_installation(context.github.app, number)
    if found is None:
        if given.get("action") != "deleted":
            job.doubt(f"installation {number} is not found", A_DAY)
        await remove_installation(job, context, number)
    elif found.suspended:
        await suspend_installation(job, context, found)
    else:
        with translate_github_errors():
            client = context.github.installation(number, permissions=required_permissions(INSTALLATION_REPOSITORIES))
            reached = await read_installation_repositories(client)
        await update_installation_settings(job, context, found, reached)
