"""Which configuration is in force in each repository: the last valid texts, current problems, and pauses."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Column, Connection, ForeignKey, Table, select, update

from bot.model.ids import RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber
from bot.store.inserts import insert_absent, upsert
from bot.store.installations import REPOSITORY

CONFIGURATION = Table(
    "configuration",
    METADATA,
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True, autoincrement=False),
    Column("own", CleanText, nullable=False, server_default=""),
    Column("shared", CleanText, nullable=False, server_default=""),
    Column("problems", Json, nullable=False),
    Column("digest", CleanText, nullable=False, server_default="issue"),
    Column("zone", CleanText),
    Column("paused_at", Instant),
)


class Configuration(Struct, frozen=True):
    """The texts in force: the repository's `own` and the organisation's `shared` one; empty if there is none."""

    own: str = ""
    shared: str = ""
    problems: tuple[str, ...] = ()
    """why a newer text is not in force, one line each"""
    digest: str = "issue"
    zone: str | None = None
    """of the digest's months; None for the operator's zone"""
    paused_at: datetime | None = None


def read(connection: Connection, repository: RepositoryId) -> Configuration:
    """The stored configuration; an empty one if none was stored."""
    row = connection.execute(select(CONFIGURATION).where(CONFIGURATION.c.repository_id == repository)).mappings()
    found = row.one_or_none()
    if found is None:
        return Configuration()
    values = {name: found[name] for name in Configuration.__struct_fields__}
    return Configuration(**values | {"problems": tuple(values["problems"])})


def keep(connection: Connection, repository: RepositoryId, configuration: Configuration) -> None:
    """Store the configuration as the one in force. A pause is stored separately and stays."""
    row = {name: getattr(configuration, name) for name in Configuration.__struct_fields__ if name != "paused_at"}
    upsert(connection, CONFIGURATION, [row | {"repository_id": repository, "problems": list(configuration.problems)}])


def pause(connection: Connection, repository: RepositoryId, since: datetime | None) -> None:
    """Stop posting there from `since` on, or resume (None)."""
    insert_absent(connection, CONFIGURATION, [{"repository_id": repository, "problems": []}])
    same = CONFIGURATION.c.repository_id == repository
    connection.execute(update(CONFIGURATION).where(same).values(paused_at=since))
