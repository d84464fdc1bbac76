"""What has been corrected, as the pure core takes it: asked wherever changes are folded from the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.changes import fold
from bot.landing.corrections import Classified, corrected
from bot.model import Change, Fact, Repository, RepositoryId
from bot.store import corrections
from bot.store.classifications import classified


async def said_in(conn: AsyncConnection, repositories: Mapping[str, Repository]) -> tuple[Classified, ...]:
    """Every classification in these repositories, oldest first."""
    return await classified(conn, {one.id: name for name, one in repositories.items() if one.id is not None})


async def disputed(conn: AsyncConnection, repository: RepositoryId) -> dict[int, list[str]]:
    """What people say against the record in one repository, by the number of the pull request or issue it stands at."""
    found: dict[int, list[str]] = {}
    for one in await corrections.of_repositories(conn, [repository]):
        if one.kind == "dispute":
            found.setdefault(one.value["number"], []).append(one.value["text"])
    return found


async def fold_corrected(
    conn: AsyncConnection, facts: Iterable[Fact], repositories: Mapping[str, Repository]
) -> tuple[Change, ...]:
    """The changes that facts carry, as people corrected them."""
    return corrected(fold(facts, repositories), await said_in(conn, repositories))


async def fold_for_readers(
    conn: AsyncConnection, facts: Iterable[Fact], repositories: Mapping[str, Repository], reader: RepositoryId
) -> tuple[Change, ...]:
    """The same for those who read one repository: other private ones, and those that are out of reach, do not exist
    for them, nor what happened there. `repositories` are those within reach."""
    seen = {name: one for name, one in repositories.items() if not one.private or one.id == reader}
    return await fold_corrected(conn, [fact for fact in facts if fact.repository in seen], seen)
