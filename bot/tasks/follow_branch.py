"""Another branch is the default one: what does it reach that the old one did not, and the reverse?"""

from __future__ import annotations

from gidgethub import BadRequest
from msgspec.structs import replace

from bot.github.client import Client, is_missing
from bot.github.pushes import Push, Pushed, read_files_of, read_push
from bot.github.reads import Landed, TooMuchHistory, read_beyond, read_landed, read_tip
from bot.model import CommitId, Repository, RepositoryId
from bot.store import ledger
from bot.tasks.measuring import KeptReadings
from bot.tasks.record_landing import Arrived
from bot.tasks.workplace import Workplace


async def branch_moved(place: Workplace, client: Client, before: Repository, now: Repository) -> Arrived:
    """What is to be recorded so that the record is that of a fresh clone.

    The old branch is asked for by its name; where it is gone (it was renamed, say), the newest landing that is
    recorded stands for it.
    """
    number = RepositoryId(now.id or 0)
    tip = await read_tip(client, now, now.default_branch)
    old = await _old_tip(place, client, before, number)
    if old is None or old == tip:
        return Arrived(now, Pushed((), whole=False), other_branch=True)
    known = KeptReadings(place, number)
    pushed = await read_push(client, now, Push(old, tip), known=known)
    lost = await read_beyond(client, now, before=tip, after=old) if pushed.behind else []
    again = await _carried_otherwise(place, client, now, tip)
    if again:
        kept = KeptReadings(place, number, again=True)
        more = await read_files_of(client, now, again, known=kept)
        fresh = {one.commit.id: one for one in more.landed}
        recorded = await known.recorded([one.commit.id for one in pushed.landed])
        new = (one for one in pushed.landed if one.commit.id not in recorded | set(fresh))
        pushed = replace(pushed, landed=(*new, *more.landed))
    # Another branch may have other rules: `whole` is not claimed, so that they are read.
    return Arrived(now, replace(pushed, whole=False), lost=tuple(lost), again=bool(again), other_branch=True)


async def _old_tip(place: Workplace, client: Client, before: Repository, number: RepositoryId) -> CommitId | None:
    try:
        return await read_tip(client, before, before.default_branch)
    except BadRequest as error:
        if not is_missing(error) and error.status_code != 422:
            raise
    facts = await place.store.read(ledger.facts_in, number)
    return max(facts, key=lambda fact: (fact.landed_at, fact.commit)).carrier if facts else None


async def _carried_otherwise(
    place: Workplace, client: Client, repository: Repository, tip: CommitId
) -> tuple[Landed, ...]:
    """Commits that both branches reach and that another commit of the first-parent line carried to the new one."""
    landed = await _whole_line(place, client, repository, tip)
    facts = await place.store.read(ledger.facts_at, RepositoryId(repository.id or 0), [one.commit.id for one in landed])
    carriers = {fact.commit: fact.carrier for fact in facts}
    return tuple(one for one in landed if carriers.get(one.commit.id, one.carrier.id) != one.carrier.id)


async def _whole_line(place: Workplace, client: Client, repository: Repository, tip: CommitId) -> tuple[Landed, ...]:
    """All that the new branch reaches; nothing where that is more than is listed, and a clone has to be read."""
    facts = await place.store.read(ledger.facts_in, RepositoryId(repository.id or 0))
    try:
        return await read_landed(client, repository, before=None, after=tip) if facts else ()
    except TooMuchHistory:
        return ()
