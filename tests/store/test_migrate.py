"""Migrations: the tables they make are the tables the program means, on both databases, filled or empty."""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Connection, MetaData, Table, event, insert, select, text

from benchmarks.speed.landings import UTC_ZONE, apply, facts_of, organisation
from bot.errors import UnusableInputError
from bot.model import InstallationId, fact_to_json
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.installations import ACCOUNT, INSTALLATION
from bot.store.ledger import FACT, FACT_KEY, FACT_PERSON, add_facts, forget_facts
from bot.store.migrate import (
    BrokenReferencesError,
    configuration,
    create,
    is_current,
    is_enough,
    migrate,
    newest,
    revision,
    upgrade,
)
from bot.store.migrations.names import is_ours
from bot.store.schema import METADATA, TABLES
from bot.store.visits import VISIT
from bot.tasks.rebuilding import rebuild
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


async def test_tables_of_a_newer_version_are_served_and_not_touched(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        assert not await is_enough(store)
        await migrate(store)
        assert await is_enough(store)
        async with store.begin() as conn:
            await conn.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        assert (await is_enough(store), await is_current(store)) == (True, False), "old processes beside it go on"
        with pytest.raises(UnusableInputError, match="install that version again, or go back to a back-up"):
            await migrate(store)
        assert await revision(store) == "9999"


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


async def test_what_hangs_on_facts_of_an_older_version_stays_and_goes_with_them(empty_database_url: str) -> None:
    kept = (FACT_KEY, FACT_PERSON, VISIT)
    async with await Store.open(empty_database_url) as store:
        async with store.begin(foreign_keys=False) as conn:
            await conn.run_sync(upgrade, "0010")
        await seed(store)
        found = [fact(number, title="fix: the gauge", paths=("app/gauge.py",)) for number in (1, 2)]
        async with store.begin() as conn:
            await add_facts(conn, APP, found, now=NOW)
        before = await _rows(store, kept)
        assert all(before)
        await migrate(store)
        assert await _rows(store, kept) == before
        async with store.begin() as conn:
            await forget_facts(conn, APP, [found[0].commit])
        left = await _rows(store, kept)
        assert all(len(some) * 2 == len(all_) for some, all_ in zip(left, before, strict=True))
        async with store.begin() as conn:
            await forget_facts(conn, APP, [found[1].commit])
        assert await _rows(store, kept) == [[], [], []]


async def test_what_is_derived_of_an_older_version_stays(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        async with store.begin(foreign_keys=False) as conn:
            await conn.run_sync(upgrade, "0011")
        await apply(store, await organisation(store, 2), facts_of(40, people=5, repositories=2))
        before = await canonical_dump(store)
        await migrate(store)
        assert await canonical_dump(store) == before
        await apply(store, await organisation(store, 2), facts_of(60, people=5, repositories=2))
        after = await canonical_dump(store)
        await rebuild(store, InstallationId(1), UTC_ZONE)
        assert await canonical_dump(store) == after


async def _rows(store: Store, tables: Sequence[Table]) -> list[list[tuple[Any, ...]]]:
    async with store.read() as conn:
        return [sorted(tuple(row) for row in await conn.execute(select(table))) for table in tables]


# --- a new SQLite is made at once ------------------------------------------------------------------------------------


async def test_the_tables_made_at_once_are_those_the_revisions_come_to(tmp_path: Path) -> None:
    made = {}
    for how in (create, upgrade):
        async with await Store.open(f"sqlite+aiosqlite:///{tmp_path}/{how.__name__}.db") as store:
            async with store.begin() as conn:
                await conn.run_sync(how)
            async with store.read() as conn:
                made[how] = await conn.run_sync(_shape)
            assert await is_current(store)
    assert made[create] == made[upgrade]
    assert len(made[create]) == len(TABLES) + 2
    assert made[create]["triggers"].keys() == {"fact_gone"}


def _shape(connection: Connection) -> dict[str, Any]:
    """All that SQLite itself says of each table but the order of columns and constraints."""

    def told(pragma: str, name: str) -> list[tuple[Any, ...]]:
        rows = [tuple(row) for row in connection.exec_driver_sql(f'PRAGMA {pragma}("{name}")')]
        return sorted((row[1:] for row in rows), key=repr)

    triggers = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
    found: dict[str, Any] = {"triggers": {name: " ".join(sql.split()) for name, sql in triggers}}
    for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").all():
        indexes = {index[0]: (index, told("index_xinfo", index[0])) for index in told("index_list", name)}
        unnamed = [parts for key, parts in indexes.items() if key.startswith("sqlite_autoindex")]
        words = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", (name,)
        )
        spelt = {index: " ".join(sql.split()) for index, sql in words}
        found[name] = (told("table_xinfo", name), told("foreign_key_list", name), spelt, len(unnamed))
    return found


async def test_a_database_that_is_current_is_not_touched(store: Store) -> None:
    before = set(sys.modules)
    statements: list[str] = []
    engine = store._writer  # reaches inside: only the engine sees every statement
    assert engine is not None
    event.listen(engine.sync_engine, "before_cursor_execute", lambda *told: statements.append(told[2]))
    await migrate(store)
    assert not [sql for sql in statements if sql.lstrip().split()[0].upper() not in ("SELECT", "PRAGMA")]
    assert len(statements) <= 3
    assert not {name for name in set(sys.modules) - before if name.startswith("alembic")}


def test_the_newest_revision_is_the_one_that_alembic_finds() -> None:
    from alembic.script import ScriptDirectory

    assert newest() == ScriptDirectory.from_config(configuration(None)).get_current_head()
