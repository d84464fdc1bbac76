"""In which repository is a month's digest posted, and which repositories does it cover?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from sqlalchemy import Connection

from bot.model.commit import Repository
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.services.repository_settings import RepositorySettings, stored_settings
from bot.store import digest_readers, installations
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


def chosen_home(repository: Repository, names: Mapping[str, Repository], settings: RepositorySettings) -> Repository:
    """The repository that the settings choose for the digest; the repository itself if they choose none."""
    wanted = (settings.config.digest_repository or "").lower()
    return next((row for name, row in names.items() if name.lower() == wanted), repository)


def may_show(connection: Connection, repository: Repository, home: Repository) -> bool:
    """Whether everybody who reads `home` may read what its digest tells of the repository."""
    if not repository.private or repository.id == home.id:
        return True
    return home.private and digest_readers.may_all_read(connection, home.id or 0, repository.id or 0)


def problems_with_home(connection: Connection, repository: RepositoryId) -> tuple[str, ...]:
    """Why a digest is not posted in the repository that the settings choose; empty if it is, or nobody knows yet."""
    subject = installations.repository(connection, repository)
    wanted = stored_settings(connection, repository).config.digest_repository
    home = installations.repository_named(connection, wanted) if wanted else None
    if subject is None or home is None or home.installation_id != subject.installation_id:
        return ()
    one, chosen = subject.repository, home.repository
    if may_show(connection, one, chosen):
        return ()
    if not chosen.private:
        why = "it is public"
    elif repository in digest_readers.last_checks(connection, chosen.id or 0):
        why = "some of its readers may have no access here"
    else:
        return ()
    return (f"digest_repository: this repository is private, so its digest is posted here, not in {wanted}: {why}",)


def home_of(
    connection: Connection, repository: Repository, names: Mapping[str, Repository], settings: RepositorySettings
) -> Repository:
    """Where the digest is posted: the chosen repository, if its readers may read this one; else here."""
    chosen = chosen_home(repository, names, settings)
    return chosen if may_show(connection, repository, chosen) else repository


def posted_scope(
    connection: Connection, where: tuple[InstallationId, Month, Repository], also: Repository | None = None
) -> DigestScope:
    """The scope of a digest posted in a repository, plus `also`; empty if all of its repositories left."""
    _, month, home = where
    by_id = {one.id: one for one in repositories_by_name(connection, where[0]).values()}
    rows = digests_posted_in(connection, home.id or 0, month)
    covered = [by_id.get(repository_of(row.target)) for row in rows] + ([by_id.get(also.id)] if also else [])
    current = where[0], month, by_id.get(home.id, home)
    return _scope(connection, current, [one for one in covered if one])


def expected_scope(connection: Connection, where: tuple[InstallationId, Month], repository: Repository) -> DigestScope:
    """The scope of a digest not posted yet, from the settings of all repositories of the installation.

    If no repository has its digest there, the scope is the repository itself.
    """
    names = repositories_by_name(connection, where[0])
    home = names.get(repository.full_name, repository)
    covered = []
    for one in names.values():
        settings = stored_settings(connection, RepositoryId(one.id or 0))
        if home_of(connection, one, names, settings).id == home.id:
            covered.append(one)
    return _scope(connection, (*where, home), covered or [home])


def _scope(
    connection: Connection, where: tuple[InstallationId, Month, Repository], covered: Iterable[Repository]
) -> DigestScope:
    """The scope of a digest: those repositories of `covered` that all readers of its home may read, by name."""
    fit = {one.full_name: one for one in covered if may_show(connection, one, where[2])}
    return DigestScope(*where, tuple(fit[name] for name in sorted(fit)))
