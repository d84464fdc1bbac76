"""When the checks of a commit are complete or requested again, update our check run from the ledger."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments
from bot.services.corrections import fold_for_readers
from bot.services.posting.landings import check_key, is_check_wanted, request_check
from bot.services.recording.record import RecordingTarget
from bot.store import installations, ledger, outbox


async def refresh_check(job: Job, context: Context) -> None:
    """Write the text again; post an identical text only if `again` is set, since somebody waits for an answer.

    For `again`, GitHub has set the suite back to queued: it completes once the check run is updated.
    https://docs.github.com/en/rest/checks/runs#rerequest-a-check-run
    """
    given = job_arguments(job.ref_id)
    target = RecordingTarget(InstallationId(given["installation"]), RepositoryId(given["repository"]), context.zone)
    merge_commit = CommitId(given["commit"])

    def save(connection: Connection) -> None:
        carried = ledger.facts_of_merge_commit(connection, target.repository, merge_commit)
        if carried and is_check_wanted(connection, target, merge_commit):
            seeds = [(target.repository, fact.commit) for fact in carried]
            facts = ledger.component(connection, seeds, installation_id=target.installation)
            stored = installations.repositories_of(connection, target.installation)
            names = {row.repository.full_name: row.repository for row in stored}
            own = {fact.commit for fact in carried}
            folded = fold_for_readers(connection, facts, names, target.repository)
            changes = [c for c in folded if any(commit.fact.commit in own for commit in c.commits)]
            if given.get("again"):
                outbox.post_again(connection, check_key(target, merge_commit))
            request_check(connection, context, target, (merge_commit, changes))
        job.finish(connection)

    await context.store.write(save)
