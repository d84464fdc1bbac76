"""Are posts in a repository computed only from what its readers can access, without removed repositories?"""

from __future__ import annotations

from bot.model.commit import Repository
from bot.model.ids import CommitId, RepositoryId
from bot.services.corrections import fold_for_readers
from bot.store.engine import Store
from tests.databases import database_url, empty_database_url, store
from tests.store.conftest import APP, FORK, NAMES, fact, seed

__all__ = ["database_url", "empty_database_url", "store"]
OWN = fact(1, keys=("drev:D5",))
TAKEN_BACK = fact(2, FORK, reverts=("drev:D5",), kind="revert", title='Revert "Add part 1"')


def _reach(*ids: RepositoryId, private: RepositoryId | None = None) -> dict[str, Repository]:
    return {NAMES[one]: Repository(NAMES[one], one, private=one == private) for one in ids}


async def _states(store: Store, reach: dict[str, Repository]) -> dict[CommitId, str]:
    with store.snapshot() as connection:
        changes = fold_for_readers(connection, [OWN, TAKEN_BACK], reach, APP)
    return {change.commits[0].fact.commit: change.state for change in changes}


async def test_activity_in_a_removed_repository_is_not_reported(store: Store) -> None:
    await seed(store)
    assert await _states(store, _reach(APP, FORK)) == {OWN.commit: "reverted", TAKEN_BACK.commit: "landed"}
    assert await _states(store, _reach(APP)) == {OWN.commit: "landed"}


async def test_activity_in_another_private_repository_is_not_reported(store: Store) -> None:
    await seed(store)
    assert await _states(store, _reach(APP, FORK, private=FORK)) == {OWN.commit: "landed"}
    assert len(await _states(store, _reach(APP, FORK, private=APP))) == 2
