"""Which rule files are in force in each repository? The last valid texts, current problems, and pauses."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Column, Connection, ForeignKey, Table, delete, func, select, update

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
RULES_READ = Table(
    "rules_read",
    METADATA,
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True, autoincrement=False),
    Column("attributes", CleanText, nullable=False),
    Column("read_at", Instant, nullable=False),
)
"""A row: all rule files have been read and are unchanged since. Whatever may have changed one of them deletes it."""


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


def repositories_stating(connection: Connection, key: str) -> list[RepositoryId]:
    """The repositories one of whose texts in force has this key, by id."""
    stated = CONFIGURATION.c.own.contains(key, autoescape=True) | CONFIGURATION.c.shared.contains(key, autoescape=True)
    query = select(CONFIGURATION.c.repository_id).where(stated).order_by(CONFIGURATION.c.repository_id)
    return [RepositoryId(row.repository_id) for row in connection.execute(query)]


def pause(connection: Connection, repository: RepositoryId, since: datetime | None) -> None:
    """Stop posting there from `since` on, or resume (None)."""
    insert_absent(connection, CONFIGURATION, [{"repository_id": repository, "problems": []}])
    same = CONFIGURATION.c.repository_id == repository
    connection.execute(update(CONFIGURATION).where(same).values(paused_at=since))


def read_attributes(connection: Connection, repository: RepositoryId) -> tuple[str, datetime] | None:
    """(the text of `.gitattributes`, when all files were read); None if they must be read."""
    mine = RULES_READ.c.repository_id == repository
    row = connection.execute(select(RULES_READ).where(mine)).one_or_none()
    return None if row is None else (row.attributes, row.read_at)


def keep_attributes(connection: Connection, repository: RepositoryId, attributes: str, *, now: datetime) -> None:
    upsert(connection, RULES_READ, [{"repository_id": repository, "attributes": attributes, "read_at": now}])


def forget_rules(connection: Connection, repository: RepositoryId) -> None:
    """One of the files may have changed: the next landing reads them all."""
    connection.execute(delete(RULES_READ).where(RULES_READ.c.repository_id == repository))


def forget_rules_of_owner(connection: Connection, owner: str) -> None:
    """The file shared by an account's repositories may have changed."""
    theirs = select(REPOSITORY.c.id).where(
        func.lower(REPOSITORY.c.full_name).startswith(f"{owner.lower()}/", autoescape=True)
    )
    connection.execute(delete(RULES_READ).where(RULES_READ.c.repository_id.in_(theirs)))
