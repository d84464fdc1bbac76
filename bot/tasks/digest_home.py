"""In which repository is a month told, and which repositories are told there with it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from sqlalchemy import Connection

from bot.model import InstallationId, Month, Repository, RepositoryId
from bot.store import installations
from bot.store.closing import repository_of
from bot.store.digests import told_at
from bot.tasks.configuring import InForce, in_force


class Scope(Struct, frozen=True):
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


def repositories_here(connection: Connection, installation: InstallationId) -> dict[str, Repository]:
    """The repositories of an installation by full name."""
    return {row.repository.full_name: row.repository for row in installations.repositories_of(connection, installation)}


def home_of(here: Repository, names: Mapping[str, Repository], settings: InForce) -> Repository:
    """Where the digest stands: the chosen repository, unless more people may read there than here."""
    wanted = (settings.config.digest_repository or "").lower()
    chosen = next((row for name, row in names.items() if name.lower() == wanted), here)
    return here if here.private and not chosen.private else chosen


def scope_of(installation: InstallationId, month: Month, home: Repository, told: Iterable[Repository] = ()) -> Scope:
    """What readers of `home` may read of `told` (none: of itself)."""
    fit = {one.full_name: one for one in told if one is home or home.private or not one.private} or {"": home}
    return Scope(installation, month, home, tuple(fit[name] for name in sorted(fit)))


def standing(
    connection: Connection, where: tuple[InstallationId, Month, Repository], also: Repository | None = None
) -> Scope:
    """The digest that stands at a repository, with `also` among those that it tells of; of nothing where all left."""
    installation, month, home = where
    by_id = {one.id: one for one in repositories_here(connection, installation).values()}
    rows = told_at(connection, home.id or 0, month)
    told = [by_id.get(repository_of(row.target)) for row in rows] + ([by_id.get(also.id)] if also else [])
    home = by_id.get(home.id, home)
    shown = {one.full_name: one for one in told if one and (home.private or not one.private)}
    return Scope(installation, month, home, tuple(shown[name] for name in sorted(shown)))


def expected(connection: Connection, where: tuple[InstallationId, Month], here: Repository) -> Scope:
    """The digest that would stand at a repository, from the settings of all that would be told there."""
    installation, month = where
    names = repositories_here(connection, installation)
    home = names.get(here.full_name, here)
    told = []
    for one in names.values():
        settings = in_force(connection, RepositoryId(one.id or 0))
        if home_of(one, names, settings) is home:
            told.append(one)
    return scope_of(installation, month, home, told)
