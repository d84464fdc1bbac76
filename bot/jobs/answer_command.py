"""When a comment contains commands, read the comment and answer them."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import InstallationId
from bot.queue.interface import Job
from bot.services.commands.comments import answer_commands, read_command_comment
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.repositories.installation import ensure_installation


async def answer_command(job: Job, context: Context) -> None:
    """Read the comment again: commands that were deleted or edited meanwhile, by anybody, are not run."""
    given = job_arguments(job.ref_id)
    await ensure_installation(context, given["installation"])
    with translate_github_errors():
        heard = await read_command_comment(job, context, given)

    def save(connection: Connection) -> None:
        if heard is not None:
            answer_commands(connection, context, InstallationId(given["installation"]), heard)
        job.finish(connection)

    await context.store.write(save)
