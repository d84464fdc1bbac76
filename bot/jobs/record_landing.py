"""When commits reach a default branch, read, measure and record them."""

from __future__ import annotations

from bot.github.pushes import Push, read_push
from bot.model.ids import CommitId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.deliveries.inbox import delivery_hints
from bot.services.landings.arrivals import (
    Arrivals,
    limited_to_default_branch,
    read_lost_commits,
    rebased_pull_request,
    record_arrivals,
)
from bot.services.measuring.facts import StoredCommits
from bot.services.repositories.installation import ensure_installation
from bot.services.repositories.repository import current_repository


async def record_landing(job: Job, context: Context) -> None:
    """Record the commits of a push; those already recorded stay. An empty `before` means a new branch."""
    given = job_arguments(job.ref_id)
    await ensure_installation(context, given["installation"])
    client = context.reader(given["installation"], given["repository"])
    hints = await delivery_hints(context, given)
    push = Push(CommitId(given["before"]) or None, CommitId(given["after"]), hints.commits, hints.merged)
    with translate_github_errors():
        where = (given["installation"], given["repository"])
        repository = await current_repository(context, client, where, hints.repository)
        elsewhere = hints.repository is not None and hints.repository.default_branch != repository.default_branch
        if elsewhere:
            push = await limited_to_default_branch(client, repository, push)
        kept = StoredCommits(context, RepositoryId(given["repository"]))
        pushed = await read_push(client, repository, push, known=kept)
        lost = await read_lost_commits(job, client, repository, push, pushed)
    brought = await rebased_pull_request(context, repository, pushed, push.after)
    tip = None if elsewhere else push.after
    await record_arrivals(
        job,
        context,
        client,
        Arrivals(repository, pushed, tip, lost, brought=brought, pusher=None if elsewhere else hints.pusher),
    )
