"""Do migrations give the tables of the program on both databases, filled or empty?"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import shutil
import sys
import textwrap
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table, select, text
from sqlalchemy.exc import IntegrityError

from benchmarks.speed.landings import UTC_ZONE, apply, facts_of, organisation
from bot.configuration.errors import UnusableInputError
from bot.model.ids import InstallationId
from bot.services.recording.rebuild import rebuild
from bot.store import migrate as migrating
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.ledger import FACT_KEY, FACT_PERSON, append_facts, forget_facts
from bot.store.lines import LINE_HASH
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
from tests.store.conftest import APP, NOW, executed, fact, seed


@pytest.fixture
async def own(empty_database_url: str) -> AsyncIterator[Store]:
    """A migrated database for one test, so that the others keep their tables."""
    async with await Store.open(empty_database_url) as store:
        await migrate(store)
        yield store


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
        with store.transaction() as conn:
            assert _differences(conn) == []
        await migrate(store)


async def test_the_migrations_give_the_tables_of_the_program(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        with store.transaction() as conn:
            upgrade(conn)
            assert _differences(conn) == []


async def test_processes_that_start_together_migrate_once(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        await asyncio.gather(*(migrate(store) for _ in range(3)))
        assert await is_current(store)


async def test_tables_of_a_newer_version_are_served_and_not_touched(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        assert not await is_enough(store)
        await migrate(store)
        assert await is_enough(store)
        with store.transaction() as conn:
            conn.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        assert (await is_enough(store), await is_current(store)) == (True, False), "old processes beside it go on"
        with pytest.raises(UnusableInputError, match="install that version again, or go back to a back-up"):
            await migrate(store)
        assert await revision(store) == "9999"


def test_the_visible_list_names_every_table() -> None:
    assert set(TABLES) == set(METADATA.tables.values())


@pytest.mark.parametrize("former", ["0001", "0013"])
async def test_tables_of_an_unreleased_version_are_refused_and_not_touched(own: Store, former: str) -> None:
    with own.transaction() as conn:
        conn.execute(text("UPDATE alembic_version SET version_num = :former"), {"former": former})
    with pytest.raises(UnusableInputError, match=r"name a new database in .* almanac backfill"):
        await migrate(own)
    assert (await revision(own), await is_enough(own)) == (former, False)


# --- from one revision to the next -----------------------------------------------------------------------------------

AddRevision = Callable[[str], None]
SHIPPED, MADE_UP = newest(), f"{int(newest()) + 1:04}"
HEAD = f"""
import os

from alembic import op
from sqlalchemy import Column, Integer

revision, down_revision = "{MADE_UP}", "{SHIPPED}"

def upgrade():
"""
COLUMN_AND_TABLE = """
op.add_column("fact", Column("landed_later", Integer, server_default="0", nullable=False))
op.create_table("later", Column("number", Integer, primary_key=True))
op.execute("UPDATE fact SET landed_later = landed_at + 1")
"""


@pytest.fixture
def add_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AddRevision:
    """Puts a made-up revision behind those that there are, or another one in its place."""
    shipped, turns = migrating.VERSIONS, itertools.count(1)

    def add(body: str) -> None:
        folder = tmp_path / f"100 % made up, {next(turns)}"
        shutil.copytree(shipped, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / f"r{MADE_UP}_made_up.py").write_text(HEAD + textwrap.indent(body, "    "))
        monkeypatch.setattr(migrating, "VERSIONS", folder)

    return add


async def test_a_filled_database_survives_a_revision(own: Store, add_revision: AddRevision) -> None:
    derived = (FACT_KEY, FACT_PERSON)
    await apply(own, await organisation(own, 2), facts_of(40, people=5, repositories=2))
    before, rows = await canonical_dump(own), await _rows(own, derived)
    assert all(rows)
    add_revision(COLUMN_AND_TABLE)
    assert not await is_enough(own)
    await migrate(own)
    assert await is_current(own)
    assert await canonical_dump(own) == before
    assert await _rows(own, derived) == rows
    with own.snapshot() as conn:
        unlike = conn.execute(text("SELECT count(*) FROM fact WHERE landed_later <> landed_at + 1"))
        assert unlike.scalar_one() == 0


async def test_an_older_version_runs_with_an_unknown_column(own: Store, add_revision: AddRevision) -> None:
    await apply(own, await organisation(own, 2), facts_of(40, people=5, repositories=2))
    add_revision(COLUMN_AND_TABLE)
    await migrate(own)
    await apply(own, await organisation(own, 2), facts_of(60, people=5, repositories=2))
    after = await canonical_dump(own)
    await rebuild(own, InstallationId(1), UTC_ZONE)
    assert await canonical_dump(own) == after


async def test_rows_of_a_fact_are_deleted_with_it_after_a_migration(own: Store, add_revision: AddRevision) -> None:
    derived = (FACT_KEY, FACT_PERSON, LINE_HASH)
    await seed(own)
    found = [fact(number, title="fix: the gauge", paths=("app/gauge.py",), line_hashes=b"1234") for number in (1, 2)]
    with own.transaction() as conn:
        append_facts(conn, APP, found, NOW)
    before = await _rows(own, derived)
    add_revision(COLUMN_AND_TABLE)
    await migrate(own)
    with own.transaction() as conn:
        forget_facts(conn, APP, [found[0].commit])
    left = await _rows(own, derived)
    assert all(len(some) * 2 == len(all_) for some, all_ in zip(left, before, strict=True))
    with own.transaction() as conn:
        forget_facts(conn, APP, [found[1].commit])
    assert await _rows(own, derived) == [[], [], []]


async def test_rebuilding_a_filled_parent_table_keeps_its_children(own: Store, add_revision: AddRevision) -> None:
    await seed(own)
    before = await canonical_dump(own)
    add_revision("""
with op.batch_alter_table("account", recreate="always" if op.get_bind().dialect.name == "sqlite" else "never") as batch:
    batch.add_column(Column("followers", Integer))
""")
    await migrate(own)
    assert await canonical_dump(own) == before
    if own.dialect == "sqlite":
        with own.transaction() as conn:
            assert conn.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1


async def test_a_migration_that_leaves_broken_references_is_rolled_back(own: Store, add_revision: AddRevision) -> None:
    await seed(own)
    before = await canonical_dump(own)
    add_revision('op.execute("DELETE FROM account WHERE id = 100")')
    # PostgreSQL refuses the statement by itself.
    with pytest.raises(BrokenReferencesError if own.dialect == "sqlite" else IntegrityError):
        await migrate(own)
    assert await canonical_dump(own) == before
    assert (await revision(own), await is_current(own)) == (SHIPPED, False)


async def test_a_killed_migration_leaves_nothing_and_the_next_one_completes(
    empty_database_url: str, add_revision: AddRevision
) -> None:
    async with await Store.open(empty_database_url) as store:
        await migrate(store)
        await seed(store)
        before = await canonical_dump(store)
    add_revision(COLUMN_AND_TABLE + "os._exit(9)")
    # A process of its own, as it dies between two statements.
    process = multiprocessing.get_context("spawn").Process(
        target=_migrate_with, args=(empty_database_url, migrating.VERSIONS)
    )
    process.start()
    await asyncio.to_thread(process.join)
    assert process.exitcode == 9
    add_revision(COLUMN_AND_TABLE)
    async with await Store.open(empty_database_url) as store:
        assert (await revision(store), await canonical_dump(store)) == (SHIPPED, before)
        await migrate(store)
        assert (await revision(store), await canonical_dump(store)) == (MADE_UP, before)


def _migrate_with(url: str, versions: Path) -> None:
    async def migrated() -> None:
        async with await Store.open(url) as store:
            await migrate(store)

    migrating.VERSIONS = versions
    asyncio.run(migrated())


async def _rows(store: Store, tables: Sequence[Table]) -> list[list[tuple[Any, ...]]]:
    with store.snapshot() as conn:
        return [sorted(tuple(row) for row in conn.execute(select(table))) for table in tables]


# --- a new SQLite is made at once ------------------------------------------------------------------------------------


async def test_creating_all_tables_equals_running_the_migrations(tmp_path: Path) -> None:
    made = {}
    for how in (create, upgrade):
        async with await Store.open(f"sqlite:///{tmp_path}/{how.__name__}.db") as store:
            with store.transaction() as conn:
                how(conn)
            with store.snapshot() as conn:
                made[how] = _shape(conn)
            assert await is_current(store)
    assert made[upgrade].pop("visit"), "the release before inserts into it until every process is upgraded"
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
    with executed() as statements:
        await migrate(store)
    assert statements
    assert not [sql for sql in statements if sql.lstrip().split()[0].upper() not in ("SELECT", "PRAGMA")]
    assert len(statements) <= 3
    assert not {name for name in set(sys.modules) - before if name.startswith("alembic")}


def test_the_newest_revision_is_the_one_that_alembic_finds() -> None:
    from alembic.script import ScriptDirectory

    assert newest() == ScriptDirectory.from_config(configuration(None)).get_current_head()
