"""What have people corrected? Applied wherever changes are folded from the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection

from bot.landing.changes import fold
from bot.landing.corrections import Corrections, apply_corrections
from bot.model.change import Change
from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import RepositoryId
from bot.store import corrections
from bot.store.classifications import read_corrections


def corrections_in(connection: Connection, repositories: Mapping[str, Repository]) -> Corrections:
    """Every correction of changes in these repositories, oldest first."""
    return read_corrections(connection, {one.id: name for name, one in repositories.items() if one.id is not None})


def disputes_in(connection: Connection, repository: RepositoryId) -> dict[int, list[str]]:
    """The texts of the disputes in one repository, by the number of their pull request or issue."""
    found: dict[int, list[str]] = {}
    for one in corrections.of_repositories(connection, [repository]):
        if one.kind == "dispute":
            found.setdefault(one.value["number"], []).append(one.value["text"])
    return found


def fold_corrected(
    connection: Connection, facts: Iterable[Fact], repositories: Mapping[str, Repository]
) -> tuple[Change, ...]:
    """The changes that these facts fold into, with people's corrections."""
    return apply_corrections(fold(facts, repositories), corrections_in(connection, repositories))


def fold_for_readers(
    connection: Connection, facts: Iterable[Fact], repositories: Mapping[str, Repository], reader: RepositoryId
) -> tuple[Change, ...]:
    """The same for the readers of one repository, without other private repositories.

    `repositories` are those within reach; facts in any other repository are ignored.
    """
    seen = {name: one for name, one in repositories.items() if not one.private or one.id == reader}
    return fold_corrected(connection, [fact for fact in facts if fact.repository in seen], seen)
