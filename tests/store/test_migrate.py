"""Migrations: the tables they make are the tables the program means, on both databases, filled or empty."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from sqlalchemy import Column, Connection, MetaData, Table, insert, select

from bot.model import fact_to_json
from bot.store.engine import Store
from bot.store.installations import ACCOUNT, INSTALLATION
from bot.store.ledger import FACT
from bot.store.migrate import BrokenReferencesError, is_current, migrate, upgrade
from bot.store.migrations.names import is_ours
from bot.store.schema import METADATA, TABLES
from bot.store.visits import VISIT
from tests.store.conftest import APP, NOW, fact, seed


def _differences(connection: Connection) -> list[Any]:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"include_name": is_ours, "compare_type": True})
    with warnings.catch_warnings(action="ignore"):  # SQLite cannot show an index over an expression
        return list(compare_metadata(context, METADATA))


async def test_the_migrated_tables_are_those_of_the_program(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        assert not await is_current(store)
        await migrate(store)
        assert await is_current(store)
        async with store.begin() as conn:
            assert await conn.run_sync(_differences) == []
        await migrate(store)


async def test_processes_that_start_together_migrate_once(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        await asyncio.gather(*(migrate(store) for _ in range(3)))
        assert await is_current(store)


def test_the_visible_list_names_every_table() -> None:
    assert set(TABLES) == set(METADATA.tables.values())


async def test_rebuilding_a_filled_parent_table_keeps_its_children(store: Store) -> None:
    if store.dialect != "sqlite":
        pytest.skip("only SQLite rebuilds tables")
    async with store.begin() as conn:
        await conn.execute(insert(ACCOUNT).values(id=1, login="acme", kind="Organization"))
        await conn.execute(insert(INSTALLATION).values(id=2, app_id="7", account_id=1, created_at=NOW))
    async with store.begin(foreign_keys=False) as conn:
        await conn.run_sync(_rebuild_accounts)
    async with store.begin() as conn:
        assert (await conn.execute(select(INSTALLATION.c.account_id))).scalar_one() == 1
        assert (await conn.exec_driver_sql("PRAGMA foreign_keys")).scalar_one() == 1


def _rebuild_accounts(connection: Connection) -> None:
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from sqlalchemy import Column, Integer

    with Operations(MigrationContext.configure(connection)).batch_alter_table("account", recreate="always") as batch:
        batch.add_column(Column("followers", Integer))


async def test_a_migration_that_leaves_broken_references_is_rolled_back(empty_database_url: str) -> None:
    if not empty_database_url.startswith("sqlite"):
        pytest.skip("PostgreSQL checks references by itself")
    async with await Store.open(empty_database_url) as store:
        async with store.begin(foreign_keys=False) as conn:
            await conn.run_sync(upgrade, "0001")
            await conn.execute(insert(INSTALLATION).values(id=2, app_id="7", account_id=99, created_at=NOW))
        with pytest.raises(BrokenReferencesError):
            await migrate(store)
        assert not await is_current(store)


async def test_facts_of_an_older_version_get_their_visits(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        async with store.begin() as conn:
            await conn.run_sync(upgrade, "0007")
        await seed(store)
        found = fact(1, title="fix: the gauge", paths=("app/gauge.py", "README.md"))
        row = {"repository_id": APP, "commit_id": found.commit, "landed_at": found.landed_at, "author_key": "u:7"}
        values = row | {"recorded_at": NOW, "payload": fact_to_json(found)}
        async with store.begin() as conn:
            columns = [FACT.c[name] for name in values]
            await conn.execute(insert(Table("fact", MetaData(), *(Column(c.name, c.type) for c in columns))), [values])
        await migrate(store)
        async with store.read() as conn:
            rows = await conn.execute(select(VISIT.c.repository_id, VISIT.c.landed_at, VISIT.c.weight))
            assert sorted(tuple(one) for one in rows) == [(APP, found.landed_at, 100)] * 2
            assert (await conn.execute(select(FACT.c.method))).scalar_one() == 0
