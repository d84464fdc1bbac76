"""Which merge commit brought a landing that the ledger already contains?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.github.client import Client
from bot.github.reads import LandedCommit, read_commit
from bot.landing.conventions.batches import is_batch, is_rolled_up
from bot.landing.conventions.catalogue import NESTED
from bot.model.commit import Commit, Repository
from bot.model.fact import Fact
from bot.model.ids import CommitId, RepositoryId
from bot.services.context import Context
from bot.store import readings


async def read_recorded_landings(
    context: Context, client: Client, repository: Repository, facts: Sequence[Fact]
) -> tuple[LandedCommit, ...]:
    """The facts' commits with their merge commits, as stored when they landed, else read from GitHub once each."""
    names = list(dict.fromkeys(name for fact in facts for name in (fact.commit, fact.merge_commit)))
    number = RepositoryId(repository.id or 0)
    read: dict[CommitId, Commit] = await context.store.read(readings.known_commits, number, names)
    for name in names:
        if name not in read:
            read[name] = await read_commit(client, repository, name)
    return tuple(_landed_commit(fact, read[fact.commit], read[fact.merge_commit]) for fact in facts)


def _landed_commit(fact: Fact, commit: Commit, merge_commit: Commit) -> LandedCommit:
    """Commits in between are not read again: if the shape gave the pull request, the fact names it."""
    by_shape = commit.id != merge_commit.id and (
        fact.how == NESTED or is_batch(merge_commit) or is_rolled_up(merge_commit)
    )
    return LandedCommit(commit, merge_commit, fact.pull_request if by_shape else None)
