"""Does a filled database of the first release become today's, and can that release still work on today's tables?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace
from sqlalchemy import Connection, Table, insert, inspect, select, update

from benchmarks.speed.landings import UTC_ZONE, apply, facts_of, organisation
from bot.metrics.registry import FACT_METHOD
from bot.model.commit import Share, Signature
from bot.model.fact import Evidence, Fact
from bot.model.ids import InstallationId, RepositoryId, UserId
from bot.services.measuring_again import activate
from bot.store import measurements
from bot.store.dump import dump_lines
from bot.store.engine import Store
from bot.store.ledger import FACT
from bot.store.migrate import is_current, migrate, upgrade
from bot.store.migrations.versions.r0100_first import FIRST
from bot.store.schema import METADATA, TABLES
from tests.store.conftest import NOW

EVIDENT = ("change", "contribution", "totals")
"""tables that follow from the facts alone"""
NOT_FOR_THE_RELEASE_BEFORE = {"pace"}
"""tables that processes of 0.1.0 cannot use after an upgrade; docs/operations.md names them"""


def _facts() -> list[Fact]:
    """Landings of five people: some in squashes of two, some named only by a trailer, with what GitHub said."""
    found = []
    for number, fact in enumerate(facts_of(90, people=5, repositories=2)):
        other = Signature("Bea", "1001+p1@users.noreply.github.com", UserId(1001), "p1")
        shares = (Share(fact.author, 1, 9), Share(other, 1, 3)) if number % 7 == 0 else ()
        said = Evidence(fact.author.user_id, opener_writes=number % 3 == 0, shares=shares, pull_request=True)
        helpers = (other,) if number % 5 == 0 and fact.author.user_id != other.user_id else ()
        found.append(replace(fact, evidence=said, co_authors=helpers, line_hashes=b""))
    return found


def _as_before(fact: Fact) -> Fact:
    """The fact as the first release measured it: without grades, and everything a chore."""
    return replace(fact, evidence=None, kind="chore", probability=1000, skills={})


@asynccontextmanager
async def _recorded(folder: Path, facts: list[Fact]) -> AsyncIterator[Store]:
    """A fresh database of today with these facts."""
    async with await Store.open(f"sqlite:///{folder}") as opened:
        await migrate(opened)
        await apply(opened, await organisation(opened, 2), facts)
        yield opened


def _copied(source: Connection, target: Connection, table: Table) -> None:
    """Copy a table with the columns that it had in the first release, as that release's inserts do."""
    old = FIRST.tables[table.name]
    names = [column.name for column in old.columns if column.name in table.c]
    rows = [dict(row) for row in source.execute(select(*(table.c[one] for one in names))).mappings()]
    if rows:
        target.execute(insert(old), rows)


async def _fill_first_revision(store: Store, before: Store) -> None:
    """The rows of `before` in the tables of the first revision, with what that release also wrote."""
    with store.transaction() as connection:
        upgrade(connection, "0100")
        with before.snapshot() as source:
            for table in TABLES:
                if table.name in FIRST.tables and table.name not in NOT_FOR_THE_RELEASE_BEFORE:
                    _copied(source, connection, table)
        old = FIRST.tables
        connection.execute(update(old["fact"]).values(method=1))
        connection.execute(update(old["person"]).values(name="As a trailer said"))
        connection.execute(insert(old["pace"]).values(installation_id=1, next_write=5, closed_until=0))


def _lines(connection: Connection, names: tuple[str, ...]) -> list[str]:
    return list(dump_lines(connection, [METADATA.tables[name] for name in names]))


async def test_a_filled_first_database_upgrades_and_is_measured_again_like_a_fresh_one(
    empty_database_url: str, tmp_path: Path
) -> None:
    facts = _facts()
    async with (
        _recorded(tmp_path / "fresh.db", facts) as fresh,
        _recorded(tmp_path / "before.db", [_as_before(one) for one in facts]) as before,
        await Store.open(empty_database_url) as store,
    ):
        await _fill_first_revision(store, before)
        await migrate(store)
        assert await is_current(store)
        with before.snapshot() as one, store.snapshot() as other:
            assert _lines(one, EVIDENT) == _lines(other, EVIDENT)
        assert await _names(store) == {""}, "a text named them"
        _measure_again(store, facts)
        with fresh.snapshot() as one, store.snapshot() as other:
            assert _lines(one, (*EVIDENT, "fact")) == _lines(other, (*EVIDENT, "fact"))


async def _names(store: Store) -> set[str]:
    with store.snapshot() as connection:
        return set(connection.execute(select(METADATA.tables["person"].c.name)).scalars())


def _measure_again(store: Store, facts: list[Fact]) -> None:
    """What the background job does, with measurements that it would read."""
    context = cast(Any, SimpleNamespace(zone=UTC_ZONE, clock=lambda: NOW))
    with store.transaction() as connection:
        waiting = measurements.repositories_outdated(connection, FACT_METHOD)
        assert len(waiting) == 2
        names: Mapping[RepositoryId, str] = {RepositoryId(10 + n): f"acme/part-{n}" for n in range(2)}
        for _, repository in waiting:
            own = [fact for fact in facts if fact.repository == names[repository]]
            measurements.keep(connection, repository, own, method=FACT_METHOD, now=NOW)
            activate(connection, context, (InstallationId(1), repository))
        assert measurements.repositories_outdated(connection, FACT_METHOD) == []


async def test_the_release_before_still_writes_and_reads_what_it_knows(empty_database_url: str, tmp_path: Path) -> None:
    async with (
        _recorded(tmp_path / "before.db", [_as_before(one) for one in _facts()]) as before,
        await Store.open(empty_database_url) as store,
    ):
        with store.transaction() as connection:
            upgrade(connection)
            assert _tables_unusable_before(connection) == NOT_FOR_THE_RELEASE_BEFORE
            with before.snapshot() as source:
                for table in TABLES:
                    if table.name in FIRST.tables and table.name not in NOT_FOR_THE_RELEASE_BEFORE:
                        _copied(source, connection, table)
            for name, old in FIRST.tables.items():
                if name not in NOT_FOR_THE_RELEASE_BEFORE:
                    connection.execute(select(old)).all()
            connection.execute(FACT.delete())
            assert connection.execute(select(FIRST.tables["fact_key"])).all() == []


def _tables_unusable_before(connection: Connection) -> set[str]:
    """Tables of the first revision that lack one of its columns, or need a value for one that it did not know."""
    found = set()
    for name, old in FIRST.tables.items():
        new = {row["name"]: row for row in inspect(connection).get_columns(name)}
        added = [row for column, row in new.items() if column not in old.c]
        needed = [row for row in added if not row["nullable"] and row["default"] is None]
        if needed or not set(old.c.keys()) <= new.keys():
            found.add(name)
    return found
