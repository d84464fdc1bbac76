"""How an empty or older database gets today's tables: alembic's revisions, under a lock, in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

from bot.store.engine import Store

if TYPE_CHECKING:
    from alembic.config import Config

SCRIPTS = "bot.store:migrations"
_LOCK = 7_301_942_016
"""any number that nothing else in the database locks"""


class BrokenReferencesError(Exception):
    """A migration left rows that refer to rows which are not there; it was rolled back."""


async def migrate(store: Store) -> None:
    """Bring the tables to the newest revision. Safe to call at every start, by several processes at once."""
    async with store.begin(foreign_keys=False) as conn:
        if store.dialect == "postgresql":
            await conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        await conn.run_sync(upgrade)
        if store.dialect == "sqlite":
            broken = (await conn.exec_driver_sql("PRAGMA foreign_key_check")).all()
            if broken:
                raise BrokenReferencesError(
                    f"{len(broken)} rows refer to rows that are not there, first in {broken[0][0]}"
                )


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the revisions up to this one on a connection that is in a transaction already."""
    from alembic import command

    command.upgrade(configuration(connection), revision)


async def is_current(store: Store) -> bool:
    """Whether the tables are at the newest revision that this version ships."""
    from alembic.script import ScriptDirectory

    newest = ScriptDirectory.from_config(configuration(None)).get_current_head()
    async with store.read() as conn:
        return await conn.run_sync(_revision) == newest


def _revision(connection: Connection) -> str | None:
    from alembic.runtime.migration import MigrationContext

    return MigrationContext.configure(connection).get_current_revision()


def configuration(connection: Connection | None) -> Config:
    """Alembic's configuration without a file; `connection` is what env.py works on."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    config.attributes["connection"] = connection
    return config
