"""What has been corrected, as the pure core takes it: asked wherever changes are folded from the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.changes import fold
from bot.landing.corrections import SAID_KINDS, Classified, corrected
from bot.model import Change, Fact, Kind, Repository, RepositoryId
from bot.store import corrections


async def classified(conn: AsyncConnection, repositories: Mapping[str, Repository]) -> tuple[Classified, ...]:
    """Every classification in these repositories, oldest first."""
    names = {one.id: name for name, one in repositories.items() if one.id is not None}
    said = await corrections.of_repositories(conn, sorted(names))
    return tuple(
        Classified(names[RepositoryId(one.repository_id or 0)], one.value["number"], _kind(one), one.value["by"])
        for one in said
        if one.kind == "classify"
    )


def _kind(one: corrections.Correction) -> Kind:
    return SAID_KINDS[one.value["kind"]]


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
    return corrected(fold(facts, repositories), await classified(conn, repositories))


async def fold_for_readers(
    conn: AsyncConnection, facts: Iterable[Fact], repositories: Mapping[str, Repository], reader: RepositoryId
) -> tuple[Change, ...]:
    """The same for those who read one repository: other private ones do not exist for them, nor what happened there."""
    hidden = {name for name, one in repositories.items() if one.private and one.id != reader}
    seen = {name: one for name, one in repositories.items() if name not in hidden}
    return await fold_corrected(conn, [fact for fact in facts if fact.repository not in hidden], seen)
