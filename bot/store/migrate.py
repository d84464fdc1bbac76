"""How does an empty or older database get today's tables? Under a lock, in one transaction."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert, inspect, select

from bot.configuration.errors import UnusableInputError
from bot.store.dialect import is_postgresql, lock
from bot.store.engine import Store
from bot.store.schema import METADATA

if TYPE_CHECKING:
    from alembic.config import Config

SCRIPTS = "bot.store:migrations"
VERSIONS = Path(__file__).parent / "migrations" / "versions"
"""one file per revision"""
FIRST = "0100"
"""the oldest revision that can be upgraded: earlier ones belong to versions that were never released"""
NO_UPGRADE = (
    "its tables are those of an unreleased version; name a new database in ALMANAC_DATABASE_URL, "
    "or another folder in ALMANAC_DATA, and run: almanac backfill OWNER"
)
"""for a database with a revision below FIRST"""
_LOCK = 7_301_942_016
"""an arbitrary number that nothing else in the database locks"""
_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""alembic's own table"""


_FACT_GONE = """
    CREATE TRIGGER fact_gone AFTER DELETE ON fact BEGIN
        DELETE FROM fact_key WHERE fact_id = OLD.id;
        DELETE FROM fact_person WHERE fact_id = OLD.id;
        DELETE FROM line_hash WHERE fact_id = OLD.id;
        DELETE FROM line_mark WHERE repository_id = OLD.repository_id;
    END"""
"""deletes a fact's rows on SQLite; PostgreSQL has such a trigger since its first revision"""


class BrokenReferencesError(Exception):
    """A migration left rows that refer to missing rows; it was rolled back."""


async def migrate(store: Store) -> None:
    """Upgrade the tables to the newest revision. Safe to call at every start, by several processes at once."""
    await asyncio.to_thread(_migrate, store)


def _migrate(store: Store) -> None:
    with store.transaction(foreign_keys=False) as connection:
        lock(connection, _LOCK)
        if _to_newest(connection) and not is_postgresql(connection):
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            if broken:
                raise BrokenReferencesError(
                    f"{len(broken)} rows refer to rows that are not there, first in {broken[0][0]}"
                )


def _to_newest(connection: Connection) -> bool:
    """Upgrade if necessary; return whether it was. Alembic takes a quarter of the start time, so it is skipped if
    possible."""
    found = revision_of(connection)
    if found == newest():
        return False
    if found is not None and found < FIRST:
        raise UnusableInputError(f"the database cannot be upgraded: {NO_UPGRADE}")
    if found is not None and found > newest():
        raise UnusableInputError(
            f"the database has the tables of a newer version of this program ({found}, and this one knows {newest()}): "
            "install that version again, or go back to a back-up from before it"
        )
    if found is None and not is_postgresql(connection) and not inspect(connection).get_table_names():
        create(connection)
    else:
        upgrade(connection)
    return True


def create(connection: Connection) -> None:
    """Create today's tables in an empty SQLite at once; a test ensures that they equal the result of all revisions."""
    METADATA.create_all(connection)
    connection.exec_driver_sql(_FACT_GONE)
    _VERSION.create(connection)
    connection.execute(insert(_VERSION).values(version_num=newest()))


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the revisions up to this one on a connection with an open transaction."""
    from alembic import command

    command.upgrade(configuration(connection), revision)


async def is_current(store: Store) -> bool:
    """Whether the tables are at the newest revision of this version."""
    return await revision(store) == newest()


async def is_enough(store: Store) -> bool:
    """Whether the tables hold what this version needs. Those of a newer version do, because migrations only add."""
    return (await revision(store) or "") >= newest()


async def revision(store: Store) -> str | None:
    """The revision of the tables; None if there are none of ours."""
    return await store.read(revision_of)


def revision_of(connection: Connection) -> str | None:
    """The revision of the tables; None if there are none of ours."""
    if not inspect(connection).has_table(_VERSION.name):
        return None
    found: str | None = connection.execute(select(_VERSION.c.version_num)).scalar()
    return found


def newest() -> str:
    """The newest revision; its file is named after it: `r0100_first.py`."""
    return _newest_in(VERSIONS)


@functools.cache
def _newest_in(folder: Path) -> str:
    return max(found.name[1:5] for found in folder.glob("r*.py"))


def configuration(connection: Connection | None) -> Config:
    """Alembic's configuration without a file; `connection` is the one that env.py uses."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", str(VERSIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
