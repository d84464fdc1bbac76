"""After a change of the default branch, which commits does only the new one contain, and which only the old one?"""

from __future__ import annotations

from gidgethub import BadRequest
from msgspec.structs import replace

from bot.github.client import Client, is_missing
from bot.github.pushes import Push, Pushed, read_files_of, read_push
from bot.github.reads import LandedCommit, TooMuchHistory, read_beyond, read_landed, read_tip
from bot.model.commit import Repository
from bot.model.ids import CommitId, RepositoryId
from bot.services.context import Context
from bot.services.landings.arrivals import Arrivals
from bot.services.measuring.facts import StoredCommits
from bot.store import ledger


async def read_branch_change(context: Context, client: Client, before: Repository, now: Repository) -> Arrivals:
    """What to record so that the record equals that of a fresh clone.

    The old branch is read by name; if it no longer exists (for example after a rename), the newest recorded landing is
    used instead.
    """
    number = RepositoryId(now.id or 0)
    tip = await read_tip(client, now, now.default_branch)
    old = await _old_tip(context, client, before, number)
    if old is None or old == tip:
        return Arrivals(now, Pushed((), complete=False), other_branch=True)
    known = StoredCommits(context, number)
    pushed = await read_push(client, now, Push(old, tip), known=known)
    lost = await read_beyond(client, now, before=tip, after=old) if pushed.behind else []
    again = await _with_other_merge_commit(context, client, now, tip)
    if again:
        kept = StoredCommits(context, number, again=True)
        more = await read_files_of(client, now, again, known=kept)
        fresh = {one.commit.id: one for one in more.landed}
        recorded = await known.recorded_commits([one.commit.id for one in pushed.landed])
        new = (one for one in pushed.landed if one.commit.id not in recorded | set(fresh))
        pushed = replace(pushed, landed=(*new, *more.landed))
    # Another branch may have other rules: `whole` is not claimed, so that they are read.
    return Arrivals(now, replace(pushed, complete=False), lost=tuple(lost), again=bool(again), other_branch=True)


async def _old_tip(context: Context, client: Client, before: Repository, number: RepositoryId) -> CommitId | None:
    try:
        return await read_tip(client, before, before.default_branch)
    except BadRequest as error:
        if not is_missing(error) and error.status_code != 422:
            raise
    facts = await context.store.read(ledger.facts_in, number)
    return max(facts, key=lambda fact: (fact.landed_at, fact.commit)).merge_commit if facts else None


async def _with_other_merge_commit(
    context: Context, client: Client, repository: Repository, tip: CommitId
) -> tuple[LandedCommit, ...]:
    """Commits in both branches that another merge commit brought into the new one."""
    landed = await _mainline(context, client, repository, tip)
    facts = await context.store.read(
        ledger.facts_at, RepositoryId(repository.id or 0), [one.commit.id for one in landed]
    )
    merge_commits = {fact.commit: fact.merge_commit for fact in facts}
    return tuple(one for one in landed if merge_commits.get(one.commit.id, one.merge_commit.id) != one.merge_commit.id)


async def _mainline(
    context: Context, client: Client, repository: Repository, tip: CommitId
) -> tuple[LandedCommit, ...]:
    """All commits of the new branch; empty if there are too many to list and a clone is needed."""
    facts = await context.store.read(ledger.facts_in, RepositoryId(repository.id or 0))
    try:
        return await read_landed(client, repository, before=None, after=tip) if facts else ()
    except TooMuchHistory:
        return ()
