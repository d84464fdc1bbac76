"""What becomes of work that a default branch does not reach any more? It is counted no longer, as in a fresh clone."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import CommitId
from bot.store import ledger
from bot.tasks.recording import Place, Recorded, recount


async def retract(conn: AsyncConnection, target: Place, commits: Sequence[CommitId]) -> Recorded | None:
    """Drop the facts of these commits and fold anew what belonged to them; None where none of them was recorded."""
    lost = sorted(await ledger.known(conn, target.repository, commits))
    if not lost:
        return None
    seeds = [(target.repository, commit) for commit in lost]
    near = await ledger.component(conn, seeds, installation_id=target.installation)
    await ledger.forget_facts(conn, target.repository, lost)
    return await recount(conn, target, [fact.commit for fact in near], gone=near)
