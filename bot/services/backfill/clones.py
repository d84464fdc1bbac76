"""Which clones does a backfill read, and when are they deleted?"""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection

from bot.github.client import Client
from bot.history.fetching import Clones, FetchedClone
from bot.history.git import GitError
from bot.model.ids import CommitId, RepositoryId
from bot.queue.interface import Park, RetryLater
from bot.services.context import Context, translate_github_errors
from bot.store import backfills, installations


def require_clones(context: Context) -> Clones:
    if context.clones is None:
        raise Park("this process does not read histories")
    return context.clones


async def fetch_clone(clone: FetchedClone, client: Client) -> CommitId | None:
    """Fetch the clone and return its head. Raises RetryLater if GitHub does not provide it now."""
    with translate_github_errors():
        token = await client.token()
    try:
        return await clone.refresh(token)
    except (GitError, OSError) as error:
        raise RetryLater(300.0, f"the history could not be fetched: {error}") from error


async def remove_unused_clones(context: Context) -> None:
    """Delete clones that no backfill reads, so that no repository out of reach stays on this machine."""
    if context.clones is None:
        return
    existing = context.clones.existing_clones()

    def read(connection: Connection) -> set[RepositoryId]:
        reading = {one.repository_id for one in backfills.of(connection, sorted(existing)) if one.state != "done"}
        return reading & installations.reachable_repositories(connection, sorted(reading))

    reading = await context.store.read(read)
    for number in existing.keys() - reading:
        await asyncio.to_thread(existing[number].remove)
