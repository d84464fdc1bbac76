"""Somebody asked for a check run again: say once more what is counted for that commit, from the ledger."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.model import CommitId, InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.store import installations, ledger, outbox
from bot.tasks.announcing import check_key, intend_check
from bot.tasks.configuring import in_force
from bot.tasks.correcting import fold_for_readers
from bot.tasks.recording import Place
from bot.tasks.workplace import Workplace, arguments


async def refresh_check(job: Job, place: Workplace) -> None:
    """The text is made anew; the same text is posted again only where somebody asked, who waits for an answer.

    Asked for `again`, GitHub has set the suite back to queued: it is complete once the check run is written again.
    https://docs.github.com/en/rest/checks/runs#rerequest-a-check-run
    """
    given = arguments(job.ref_id)
    target = Place(InstallationId(given["installation"]), RepositoryId(given["repository"]), place.zone)
    carrier = CommitId(given["commit"])

    def save(connection: Connection) -> None:
        carried = ledger.facts_carried(connection, target.repository, carrier)
        if carried and _is_wanted(connection, target, carrier):
            seeds = [(target.repository, fact.commit) for fact in carried]
            facts = ledger.component(connection, seeds, installation_id=target.installation)
            stored = installations.repositories_of(connection, target.installation)
            names = {row.repository.full_name: row.repository for row in stored}
            own = {fact.commit for fact in carried}
            folded = fold_for_readers(connection, facts, names, target.repository)
            changes = [c for c in folded if any(commit.fact.commit in own for commit in c.commits)]
            if given.get("again"):
                outbox.once_more(connection, check_key(target, carrier))
            intend_check(connection, place, target, (carrier, changes))
        job.finish(connection)

    await place.store.write(save)


def _is_wanted(connection: Connection, target: Place, carrier: CommitId) -> bool:
    """Where comments, or nothing, tell of landings no check run begins; one that stands already is kept right."""
    settings = in_force(connection, target.repository)
    told = settings.config.on_merge == "check" or outbox.is_posted(connection, check_key(target, carrier))
    return told and not settings.paused
