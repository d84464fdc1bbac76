"""In which repository is a month's digest posted, and which repositories does it cover?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from sqlalchemy import Connection

from bot.model.commit import Repository
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.services.repository_settings import RepositorySettings, stored_settings
from bot.store import installations
from bot.store.digests import digests_posted_in, repository_of


class DigestScope(Struct, frozen=True):
    """One digest: its month, the repository it is posted in, and the repositories it covers, by name."""

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
        """The permanent key of this digest's post."""
        return f"digest:{self.home_id}:{self.month}"


def repositories_by_name(connection: Connection, installation: InstallationId) -> dict[str, Repository]:
    """The repositories of an installation by full name."""
    return {row.repository.full_name: row.repository for row in installations.repositories_of(connection, installation)}


def home_of(repository: Repository, names: Mapping[str, Repository], settings: RepositorySettings) -> Repository:
    """Where the digest is posted: the chosen repository, unless it is public and this one is private."""
    wanted = (settings.config.digest_repository or "").lower()
    chosen = next((row for name, row in names.items() if name.lower() == wanted), repository)
    return repository if repository.private and not chosen.private else chosen


def scope_of(
    installation: InstallationId, month: Month, home: Repository, covered: Iterable[Repository] = ()
) -> DigestScope:
    """The scope of a digest in `home`: those of `covered` that its readers may see; if there are none, `home`."""
    fit = {one.full_name: one for one in covered if one is home or home.private or not one.private} or {"": home}
    return DigestScope(installation, month, home, tuple(fit[name] for name in sorted(fit)))


def posted_scope(
    connection: Connection, where: tuple[InstallationId, Month, Repository], also: Repository | None = None
) -> DigestScope:
    """The scope of a digest posted in a repository, plus `also`; empty if all of its repositories left."""
    installation, month, home = where
    by_id = {one.id: one for one in repositories_by_name(connection, installation).values()}
    rows = digests_posted_in(connection, home.id or 0, month)
    covered = [by_id.get(repository_of(row.target)) for row in rows] + ([by_id.get(also.id)] if also else [])
    home = by_id.get(home.id, home)
    visible = {one.full_name: one for one in covered if one and (home.private or not one.private)}
    return DigestScope(installation, month, home, tuple(visible[name] for name in sorted(visible)))


def expected_scope(connection: Connection, where: tuple[InstallationId, Month], repository: Repository) -> DigestScope:
    """The scope of a digest not posted yet, from the settings of all repositories of the installation."""
    installation, month = where
    names = repositories_by_name(connection, installation)
    home = names.get(repository.full_name, repository)
    covered = []
    for one in names.values():
        settings = stored_settings(connection, RepositoryId(one.id or 0))
        if home_of(one, names, settings) is home:
            covered.append(one)
    return scope_of(installation, month, home, covered)
