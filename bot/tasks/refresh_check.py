"""Somebody asked for a check run again: say once more what is counted for that commit, from the ledger."""

from __future__ import annotations

from bot.model import CommitId, InstallationId, RepositoryId
from bot.queue.interface import Job
from bot.store import installations, ledger
from bot.tasks.announcing import intend_check
from bot.tasks.correcting import fold_for_readers
from bot.tasks.recording import Place
from bot.tasks.workplace import Workplace, arguments


async def refresh_check(job: Job, place: Workplace) -> None:
    """The text is made anew; where it is the same as what stands there, nothing is posted."""
    given = arguments(job.ref_id)
    target = Place(InstallationId(given["installation"]), RepositoryId(given["repository"]), place.zone)
    carrier = CommitId(given["commit"])
    async with place.store.begin() as conn:
        carried = await ledger.facts_carried(conn, target.repository, carrier)
        if carried:
            seeds = [(target.repository, fact.commit) for fact in carried]
            facts = await ledger.component(conn, seeds, installation_id=target.installation)
            stored = await installations.repositories_of(conn, target.installation)
            names = {row.repository.full_name: row.repository for row in stored}
            own = {fact.commit for fact in carried}
            folded = await fold_for_readers(conn, facts, names, target.repository)
            changes = [c for c in folded if any(commit.fact.commit in own for commit in c.commits)]
            await intend_check(conn, place, target, (carrier, changes))
        await job.finish(conn)
