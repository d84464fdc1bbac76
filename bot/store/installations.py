"""Whose repositories are these? Accounts, installations and repositories as GitHub last reported them, keyed by its
ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Boolean, Column, Connection, ForeignKey, Index, Table, false, func, select, update

from bot.model.commit import GITHUB, Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber
from bot.store.dialect import among
from bot.store.inserts import upsert

Visibility = Literal["public", "private", "hidden"]
ACCOUNT = Table(
    "account",
    METADATA,
    Column("id", WholeNumber, primary_key=True, autoincrement=False),
    Column("login", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
)
INSTALLATION = Table(
    "installation",
    METADATA,
    Column("id", WholeNumber, primary_key=True, autoincrement=False),
    Column("app_id", CleanText, nullable=False),
    Column("account_id", WholeNumber, ForeignKey(ACCOUNT.c.id), nullable=False),
    Column("permissions", Json),
    Column("created_at", Instant, nullable=False),
    Column("suspended_at", Instant),
    Column("removed_at", Instant),
)
REPOSITORY = Table(
    "repository",
    METADATA,
    Column("id", WholeNumber, primary_key=True, autoincrement=False),
    Column("installation_id", WholeNumber, ForeignKey(INSTALLATION.c.id)),
    Column("full_name", CleanText, nullable=False),
    Column("private", Boolean(create_constraint=False), nullable=False),
    Column("fork", Boolean(create_constraint=False), nullable=False, server_default=false()),
    Column("parent", CleanText),
    Column("default_branch", CleanText, nullable=False, server_default="main"),
    Column("host", CleanText, nullable=False, server_default=GITHUB),
    Column("visibility", CleanText, nullable=False, server_default="hidden"),
    Column("seen_at", Instant, nullable=False),
    Column("removed_at", Instant),
    Index(None, "installation_id"),
)
Index("ix_repository_full_name_lower", func.lower(REPOSITORY.c.full_name))
Index(None, INSTALLATION.c.account_id)


class Account(Struct, frozen=True):
    """A user or an organisation; `kind` is GitHub's `type`."""

    id: int
    login: str
    kind: str = "Organization"


class StoredRepository(Struct, frozen=True):
    """A repository with what only the store knows about it."""

    repository: Repository
    installation_id: InstallationId | None
    visibility: Visibility
    removed_at: datetime | None
    seen_at: datetime
    """when the row was last written, other than by its removal"""


def save_installation(
    connection: Connection, installation_id: InstallationId, account: Account, *, app_id: str, now: datetime
) -> None:
    """Save an active installation, new or returned."""
    upsert(connection, ACCOUNT, [asdict(account)])
    row = {"id": installation_id, "app_id": app_id, "account_id": account.id, "created_at": now, "removed_at": None}
    upsert(connection, INSTALLATION, [row], keep=["created_at"])


def suspend(connection: Connection, installation_id: InstallationId, since: datetime | None) -> None:
    """Suspend the installation since then, or resume it (None)."""
    mine = INSTALLATION.c.id == installation_id
    connection.execute(update(INSTALLATION).where(mine).values(suspended_at=since))


def remove_installation(connection: Connection, installation_id: InstallationId, now: datetime) -> None:
    """Mark it as uninstalled and hide its repositories in the same transaction."""
    connection.execute(update(INSTALLATION).where(INSTALLATION.c.id == installation_id).values(removed_at=now))
    mine = REPOSITORY.c.installation_id == installation_id
    connection.execute(update(REPOSITORY).where(mine).values(removed_at=now, visibility="hidden"))


def login_of(connection: Connection, installation_id: InstallationId) -> str | None:
    """The last known login of the account it is installed on."""
    query = select(ACCOUNT.c.login).join(INSTALLATION, INSTALLATION.c.account_id == ACCOUNT.c.id)
    return connection.execute(query.where(INSTALLATION.c.id == installation_id)).scalar_one_or_none()


def is_active(connection: Connection, installation_id: InstallationId) -> bool:
    """Whether it is installed and not suspended."""
    query = select(INSTALLATION.c.suspended_at, INSTALLATION.c.removed_at).where(INSTALLATION.c.id == installation_id)
    row = connection.execute(query).one_or_none()
    return row is not None and row.suspended_at is None and row.removed_at is None


def is_suspended(connection: Connection, installation_id: InstallationId) -> bool:
    query = select(INSTALLATION.c.suspended_at).where(INSTALLATION.c.id == installation_id)
    return connection.execute(query).scalar_one_or_none() is not None


def active_installations(connection: Connection) -> set[InstallationId]:
    """All installations that are not removed or suspended."""
    works = INSTALLATION.c.suspended_at.is_(None) & INSTALLATION.c.removed_at.is_(None)
    return {InstallationId(row.id) for row in connection.execute(select(INSTALLATION.c.id).where(works))}


def created_at(connection: Connection, installation_id: InstallationId | None) -> datetime | None:
    """When an installation was first seen."""
    query = select(INSTALLATION.c.created_at).where(INSTALLATION.c.id == installation_id)
    return connection.execute(query).scalar_one_or_none()


def save_repositories(
    connection: Connection, installation_id: InstallationId, repositories: Sequence[Repository], now: datetime
) -> None:
    """Save repositories as GitHub reports them now. Visibility follows `private` at once; ids are required."""
    rows = [_row(repository) | {"installation_id": installation_id, "seen_at": now} for repository in repositories]
    upsert(connection, REPOSITORY, rows)


def _row(repository: Repository) -> dict[str, Any]:
    if repository.id is None:
        raise ValueError(f"{repository.full_name} has no id: a clone's repository is not stored")
    return asdict(repository) | {
        "visibility": "private" if repository.private else "public",
        "removed_at": None,
    }


def remove_repositories(connection: Connection, ids: Sequence[RepositoryId], now: datetime) -> None:
    """Hide repositories that we may no longer show, in the same transaction. Facts stay, so that nothing counts twice
    later."""
    for gone in among(REPOSITORY.c.id, ids):
        connection.execute(update(REPOSITORY).where(gone).values(removed_at=now, visibility="hidden"))


def server_of(connection: Connection, ids: Collection[RepositoryId]) -> str:
    """The server of these repositories: a database has the repositories of one."""
    return connection.execute(select(REPOSITORY.c.host).where(REPOSITORY.c.id.in_(ids)).limit(1)).scalar() or GITHUB


def reachable_repositories(connection: Connection, ids: Sequence[RepositoryId]) -> set[RepositoryId]:
    """The repositories that are not removed."""
    ours = [these & REPOSITORY.c.removed_at.is_(None) for these in among(REPOSITORY.c.id, ids)]
    return {RepositoryId(row.id) for these in ours for row in connection.execute(select(REPOSITORY.c.id).where(these))}


def repositories(connection: Connection, ids: Sequence[RepositoryId]) -> dict[RepositoryId, StoredRepository]:
    """The known repositories among these, by id."""
    rows = [row for these in among(REPOSITORY.c.id, ids) for row in connection.execute(select(REPOSITORY).where(these))]
    return {RepositoryId(row.id): _stored(row) for row in rows}


def repository(connection: Connection, repository_id: RepositoryId) -> StoredRepository | None:
    row = connection.execute(select(REPOSITORY).where(REPOSITORY.c.id == repository_id)).one_or_none()
    return None if row is None else _stored(row)


def repository_named(connection: Connection, full_name: str) -> StoredRepository | None:
    """By current name, in any case. Names are reused, so the repository seen last counts."""
    query = select(REPOSITORY).where(func.lower(REPOSITORY.c.full_name) == full_name.lower())
    row = connection.execute(query.order_by(REPOSITORY.c.seen_at.desc(), REPOSITORY.c.id.desc()).limit(1)).first()
    return None if row is None else _stored(row)


def repositories_of(connection: Connection, installation_id: InstallationId) -> list[StoredRepository]:
    """Its repositories that are not removed, by name."""
    mine = (REPOSITORY.c.installation_id == installation_id) & REPOSITORY.c.removed_at.is_(None)
    rows = connection.execute(select(REPOSITORY).where(mine).order_by(REPOSITORY.c.full_name, REPOSITORY.c.id))
    return [_stored(row) for row in rows]


def _stored(row: Any) -> StoredRepository:
    names = ("full_name", "id", "private", "fork", "parent", "default_branch", "host")
    visibility = Repository(*(getattr(row, name) for name in names))
    installation = None if row.installation_id is None else InstallationId(row.installation_id)
    return StoredRepository(visibility, installation, row.visibility, row.removed_at, row.seen_at)
