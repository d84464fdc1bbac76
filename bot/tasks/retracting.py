"""What becomes of work that a default branch does not reach any more? It is counted no longer, as in a fresh clone."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from bot.model import CommitId
from bot.store import ledger
from bot.tasks.recording import Place, Recorded, recount


def retract(connection: Connection, target: Place, commits: Sequence[CommitId]) -> Recorded | None:
    """Drop the facts of these commits and fold anew what belonged to them; None where none of them was recorded."""
    lost = sorted(ledger.known(connection, target.repository, commits))
    if not lost:
        return None
    seeds = [(target.repository, commit) for commit in lost]
    near = ledger.component(connection, seeds, installation_id=target.installation)
    ledger.forget_facts(connection, target.repository, lost)
    return recount(connection, target, [fact.commit for fact in near], gone=near)
