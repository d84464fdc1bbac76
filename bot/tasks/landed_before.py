"""Which commit carried a landing that the ledger holds already?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.github.client import Client
from bot.github.reads import Landed, read_commit
from bot.model import Commit, CommitId, Fact, Repository


async def landed_before(client: Client, repository: Repository, facts: Sequence[Fact]) -> list[Landed]:
    """The facts' commits with their carriers, as they were when they landed; each is read once."""
    read: dict[CommitId, Commit] = {}
    for commit in dict.fromkeys(name for fact in facts for name in (fact.commit, fact.carrier)):
        read[commit] = await read_commit(client, repository, commit)
    return [Landed(read[fact.commit], read[fact.carrier]) for fact in facts]
