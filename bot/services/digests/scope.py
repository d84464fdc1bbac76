"""In which repository is a month told, and which repositories are told there with it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from sqlalchemy import Connection

from bot.model.commit import Repository
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.services.repository_settings import RepositorySettings, stored_settings
from bot.store import installations
from bot.store.closing import repository_of
from bot.store.digests import posted_at


class DigestScope(Struct, frozen=True):
    """One digest: its month, where it stands, and the repositories that it tells of, by name."""

    installation: InstallationId
    month: Month
    home: Repository
    repositories: tuple[Repository, ...]

    @property
    def home_id(self) -> RepositoryId:
        return RepositoryId(self.home.id or 0)

    @property
    def ids(self) -> tuple[RepositoryId, ...]:
        return tuple(RepositoryId(one.id or 0) for one in self.repositories)

    @property
    def key(self) -> str:
        """What names the one post of this digest for ever."""
        return f"digest:{self.home_id}:{self.month}"


def repositories_by_name(connection: Connection, installation: InstallationId) -> dict[str, Repository]:
    """The repositories of an installation by full name."""
    return {row.repository.full_name: row.repository for row in installations.repositories_of(connection, installation)}


def home_of(repository: Repository, names: Mapping[str, Repository], settings: RepositorySettings) -> Repository:
    """Where the digest stands: the chosen repository, unless more people may read there than here."""
    wanted = (settings.config.digest_repository or "").lower()
    chosen = next((row for name, row in names.items() if name.lower() == wanted), repository)
    return repository if repository.private and not chosen.private else chosen


def scope_of(
    installation: InstallationId, month: Month, home: Repository, covered: Iterable[Repository] = ()
) -> DigestScope:
    """What readers of `home` may read of `told` (none: of itself)."""
    fit = {one.full_name: one for one in covered if one is home or home.private or not one.private} or {"": home}
    return DigestScope(installation, month, home, tuple(fit[name] for name in sorted(fit)))


def posted_scope(
    connection: Connection, where: tuple[InstallationId, Month, Repository], also: Repository | None = None
) -> DigestScope:
    """The digest that stands at a repository, with `also` among those that it tells of; of nothing where all left."""
    installation, month, home = where
    by_id = {one.id: one for one in repositories_by_name(connection, installation).values()}
    rows = posted_at(connection, home.id or 0, month)
    covered = [by_id.get(repository_of(row.target)) for row in rows] + ([by_id.get(also.id)] if also else [])
    home = by_id.get(home.id, home)
    visible = {one.full_name: one for one in covered if one and (home.private or not one.private)}
    return DigestScope(installation, month, home, tuple(visible[name] for name in sorted(visible)))


def expected_scope(connection: Connection, where: tuple[InstallationId, Month], repository: Repository) -> DigestScope:
    """The digest that would stand at a repository, from the settings of all that would be told there."""
    installation, month = where
    names = repositories_by_name(connection, installation)
    home = names.get(repository.full_name, repository)
    covered = []
    for one in names.values():
        settings = stored_settings(connection, RepositoryId(one.id or 0))
        if home_of(one, names, settings) is home:
            covered.append(one)
    return scope_of(installation, month, home, covered)
