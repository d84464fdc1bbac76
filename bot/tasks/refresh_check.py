"""Somebody asked for a check run again: say once more what is counted for that commit, from the ledger."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

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
    async with place.store.begin() as conn:
        carried = await ledger.facts_carried(conn, target.repository, carrier)
        if carried and await _is_wanted(conn, target, carrier):
            seeds = [(target.repository, fact.commit) for fact in carried]
            facts = await ledger.component(conn, seeds, installation_id=target.installation)
            stored = await installations.repositories_of(conn, target.installation)
            names = {row.repository.full_name: row.repository for row in stored}
            own = {fact.commit for fact in carried}
            folded = await fold_for_readers(conn, facts, names, target.repository)
            changes = [c for c in folded if any(commit.fact.commit in own for commit in c.commits)]
            if given.get("again"):
                await outbox.once_more(conn, check_key(target, carrier))
            await intend_check(conn, place, target, (carrier, changes))
        await job.finish(conn)


async def _is_wanted(conn: AsyncConnection, target: Place, carrier: CommitId) -> bool:
    """Where comments, or nothing, tell of landings no check run begins; one that stands already is kept right."""
    settings = await in_force(conn, target.repository)
    told = settings.config.on_merge == "check" or await outbox.is_posted(conn, check_key(target, carrier))
    return told and not settings.paused
