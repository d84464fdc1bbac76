"""Which commit carried a landing that the ledger holds already?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.github.client import Client
from bot.github.reads import Landed, read_commit
from bot.landing.batches import is_batch, is_rolled_up
from bot.landing.conventions import NESTED
from bot.model import Commit, CommitId, Fact, Repository, RepositoryId
from bot.store import readings
from bot.tasks.workplace import Workplace


async def landed_before(
    place: Workplace, client: Client, repository: Repository, facts: Sequence[Fact]
) -> tuple[Landed, ...]:
    """The facts' commits with their carriers, as they were when they landed: as they were kept, else each read once."""
    names = list(dict.fromkeys(name for fact in facts for name in (fact.commit, fact.carrier)))
    number = RepositoryId(repository.id or 0)
    read: dict[CommitId, Commit] = await place.store.read(readings.known, number, names)
    for name in names:
        if name not in read:
            read[name] = await read_commit(client, repository, name)
    return tuple(_landed(fact, read[fact.commit], read[fact.carrier]) for fact in facts)


def _landed(fact: Fact, commit: Commit, carrier: Commit) -> Landed:
    """What lay between the two is not read again: where the shape told the pull request, the fact says which."""
    by_shape = commit.id != carrier.id and (fact.how == NESTED or is_batch(carrier) or is_rolled_up(carrier))
    return Landed(commit, carrier, fact.pull_request if by_shape else None)
