"""Do landings cost the same at any time, and does a rebuild give all derived rows byte for byte?"""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.speed.counting import Cost, counted
from benchmarks.speed.landings import UTC_ZONE, apply, facts_of, organisation
from bot.model.fact import Fact
from bot.model.ids import InstallationId, RepositoryId
from bot.services.recording.rebuild import rebuild
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.installations import remove_repositories
from bot.store.migrate import migrate
from tests.store.conftest import NOW, database_url, store

__all__ = ["database_url", "store"]


async def test_a_rebuild_gives_the_same_bytes_as_landing_one_by_one(store: Store) -> None:
    ids = await organisation(store, 4)
    facts = facts_of(60, people=6, repositories=4, seed=3)
    facts[30:] = facts_of(60, people=6, repositories=4, seed=4)[30:]
    for fact in facts:
        await apply(store, ids, [fact])
    before = await canonical_dump(store)
    await rebuild(store, InstallationId(1), UTC_ZONE)
    assert await canonical_dump(store) == before


async def test_batches_and_order_make_no_difference(tmp_path: Path, store: Store) -> None:
    ids = await organisation(store, 4)
    facts = facts_of(90, people=6, repositories=4, seed=5)
    random.Random(1).shuffle(facts)
    for at in range(0, 90, 30):
        await apply(store, ids, facts[at : at + 25])
    before = await canonical_dump(store)
    await rebuild(store, InstallationId(1), UTC_ZONE)
    assert await canonical_dump(store) == before


DAMAGE = (
    "UPDATE change SET state = 'reverted' WHERE id = (SELECT MIN(id) FROM change)",
    "DELETE FROM change WHERE id = (SELECT MAX(id) FROM change)",
    "UPDATE contribution SET lines_authored = lines_authored + 1 WHERE change_id = (SELECT MIN(id) FROM change)",
    "DELETE FROM contribution WHERE change_id = (SELECT MIN(id) FROM change)",
    """INSERT INTO contribution (change_id, person_key, repository_id, month)
    SELECT MIN(id), 'u:404', MIN(repository_id), '2029-12' FROM change""",
    "UPDATE totals SET days = '{}', commits = 0 WHERE person_key = (SELECT MIN(person_key) FROM totals)",
    "DELETE FROM totals",
    """INSERT INTO totals (person_key, repository_id, month, languages, skills, tools, days)
    SELECT 'u:404', MIN(id), '2029-12', '{}', '{}', '{}', '{}' FROM repository""",
)


async def test_a_rebuild_repairs_missing_wrong_and_extra_rows(store: Store) -> None:
    ids = await organisation(store, 2)
    await apply(store, ids, facts_of(30, people=3, repositories=2, seed=6))
    before = await canonical_dump(store)
    for damage in DAMAGE:
        with store.transaction() as connection:
            connection.exec_driver_sql(damage)
        assert await canonical_dump(store) != before, damage
        found = await rebuild(store, InstallationId(1), UTC_ZONE)
        assert await canonical_dump(store) == before, damage
        assert found.wrong > 0, damage
    assert (await rebuild(store, InstallationId(1), UTC_ZONE)).wrong == 0


async def test_data_of_a_removed_repository_remains_for_its_return(store: Store) -> None:
    ids = await organisation(store, 3)
    await apply(store, ids, facts_of(40, people=3, repositories=3, seed=8))
    with store.transaction() as connection:
        remove_repositories(connection, [min(ids.values())], NOW)
    before = await canonical_dump(store)
    assert (await rebuild(store, InstallationId(1), UTC_ZONE)).wrong == 0
    assert await canonical_dump(store) == before


async def test_existing_correct_rows_are_not_written_again(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path}/almanac.db") as store:
        await migrate(store)
        ids = await organisation(store, 2)
        await apply(store, ids, facts_of(30, people=3, repositories=2, seed=6))
        changed = []
        for _ in range(2):
            with store.transaction() as connection:
                changed.append(connection.exec_driver_sql("SELECT total_changes()").scalar_one())
            await rebuild(store, InstallationId(1), UTC_ZONE)
        assert changed[0] == changed[1]


async def test_statements_and_rows_of_a_landing_are_the_same_in_a_full_ledger(store: Store, cost: Cost) -> None:
    """A year's last landing of somebody new, and the first, in the same ledger."""
    costs: list[Cost] = []
    ids = await organisation(store, 20)
    facts = facts_of(500, people=100)
    plain = [fact for fact in facts if not fact.reverts]
    months = [plain[:9], plain[9:]]
    await apply(store, ids, months[0])
    for fact in (plain[9], plain[-1]):
        if fact is plain[-1]:
            rest = [one for one in facts if one not in (*plain[:10], fact) and one.author != fact.author]
            for at in range(0, len(rest), 500):
                await apply(store, ids, rest[at : at + 500])
        cost.clear()
        await apply(store, ids, [fact])
        costs.append(dataclasses.replace(cost))
    assert dataclasses.replace(costs[0], read=0) == dataclasses.replace(costs[1], read=0)
    assert costs[0].statements <= 15


async def test_a_landing_reads_only_its_own_repository(store: Store, cost: Cost) -> None:
    read = []
    first, second = (one for one in facts_of(2, people=1, repositories=1))
    for fact, repositories in ((first, 1), (second, 300)):
        ids = await organisation(store, repositories)
        cost.clear()
        await apply(store, ids, [fact])
        read.append(cost.read)
    assert read[1] - read[0] < 1000, "the second landing reads its person's month as well, and nothing else"


@pytest.fixture
def cost() -> Iterator[Cost]:
    """What recordings cost from now on."""
    with counted() as found:
        yield found


def test_writers_side_by_side_never_deadlock(tmp_path: Path) -> None:
    from tests.databases import fresh_database

    async def written(url: str) -> None:
        async with await Store.open(url) as store:
            ids = await organisation(store, 4)
            facts = facts_of(64, people=5, repositories=4, seed=9)
            await asyncio.gather(*(_writer(store, ids, facts[number::8]) for number in range(8)))
            before = await canonical_dump(store)
            await rebuild(store, InstallationId(1), UTC_ZONE)
            assert await canonical_dump(store) == before

    with fresh_database("postgresql", tmp_path) as url:
        asyncio.run(written(url))


async def _writer(store: Store, ids: dict[str, RepositoryId], facts: list[Fact]) -> None:
    for at in range(0, len(facts), 5):
        await apply(store, ids, facts[at : at + 5])
