"""Which settings apply in a repository? The last valid ones of its own file, then of its organisation's."""

from __future__ import annotations

from functools import cached_property
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.discussions import has_discussions
from bot.github.reads import read_file
from bot.landing.repo_config.options import CONFIG_PATH, Errors, RepoConfig, merge, read_config
from bot.model.commit import Repository
from bot.model.ids import RepositoryId
from bot.services.context import Context
from bot.store import configurations, digest_readers, installations
from bot.store.configurations import Configuration

SHARED_REPOSITORY = ".github"


class RepositorySettings(Struct, frozen=True, dict=True):
    """The settings of one repository, and the errors in the current files."""

    stored: Configuration

    @cached_property
    def config(self) -> RepoConfig:
        return merge(_parsed_or_default(self.stored.shared), _parsed_or_default(self.stored.own))

    @property
    def problems(self) -> tuple[str, ...]:
        return self.stored.problems

    @property
    def paused(self) -> bool:
        return self.stored.paused_at is not None

    @property
    def digest(self) -> str:
        """`issue`, `discussion` or `off`; also `off` if discussions are configured but disabled in the repository."""
        return self.stored.digest

    def zone(self, default: ZoneInfo) -> ZoneInfo:
        """The time zone of the digest's months: the operator's unless a file states one."""
        return ZoneInfo(self.stored.zone) if self.stored.zone else default


def _parsed_or_default(text: str) -> RepoConfig:
    found = read_config(text)
    return RepoConfig() if isinstance(found, Errors) else found


def stored_settings(connection: Connection, repository: RepositoryId) -> RepositorySettings:
    """The settings stored last."""
    return RepositorySettings(configurations.read(connection, repository))


async def read_repository_settings(context: Context, client: Client, repository: Repository) -> RepositorySettings:
    """The settings in the current files; for an invalid file, its last valid text. They are not stored yet."""
    return await read_settings_with_own_file(
        context, client, repository, own=await read_file(client, repository, CONFIG_PATH) or ""
    )


async def read_settings_with_own_file(
    context: Context, client: Client, repository: Repository, *, own: str
) -> RepositorySettings:
    """`read_repository_settings` for a caller that already has the text of the repository's own file."""
    before = await context.store.read(configurations.read, RepositoryId(repository.id or 0))
    shared_name = f"{repository.full_name.partition('/')[0]}/{SHARED_REPOSITORY}"
    shared, private = "", False
    if repository.full_name != shared_name:
        shared, private = await _read_shared(context, client, shared_name)
    kept_own, wrong = _valid_text(own, before.own, CONFIG_PATH)
    kept_shared, wrong_shared = _valid_text(shared, before.shared, f"{shared_name}: {CONFIG_PATH}")
    if wrong_shared and private:
        # The errors quote the file, and this repository may have readers who may not read that one.
        wrong_shared = (f"{shared_name}: {CONFIG_PATH} has errors; `almanac config lint` lists them",)
    found = RepositorySettings(replace(before, own=kept_own, shared=kept_shared, problems=(*wrong, *wrong_shared)))
    problem = await _discussions_problem(client, repository, found.config)
    stored = replace(
        found.stored,
        digest="off" if problem else found.config.digest,
        zone=await _digest_zone(context, repository, found.config),
        problems=(*found.problems, *([problem] if problem else [])),
    )
    return RepositorySettings(stored)


async def _read_shared(context: Context, client: Client, name: str) -> tuple[str, bool]:
    """The organisation's file, and whether it is private.

    A token for one repository can read public ones too; a private one needs its own token.
    """
    stored = await context.store.read(installations.repository_named, name)
    if stored is None or stored.installation_id is None or stored.removed_at is not None:
        return await read_file(client, Repository(name), CONFIG_PATH) or "", False
    known = context.reader(stored.installation_id, stored.repository.id or 0)
    return await read_file(known, stored.repository, CONFIG_PATH) or "", stored.repository.private


def _valid_text(now: str, before: str, path: str) -> tuple[str, tuple[str, ...]]:
    """The valid text, and the errors of the current one."""
    found = read_config(now)
    if isinstance(found, Errors):
        return before, tuple(f"{path}, {problem}" for problem in found.problems)
    return now, ()


async def _discussions_problem(client: Client, repository: Repository, config: RepoConfig) -> str:
    """The problem to report if the file asks for a discussion here and the repository has discussions disabled."""
    elsewhere = (config.digest_repository or repository.full_name).lower() != repository.full_name.lower()
    if config.digest != "discussion" or elsewhere or await has_discussions(client, repository):
        return ""
    return f"digest: discussions are disabled in {repository.full_name}, so no digest is posted"


async def _digest_zone(context: Context, repository: Repository, config: RepoConfig) -> str | None:
    """The time zone of the digest's months: that of the repository the digest is posted in, if it is another one."""
    own = config.timezone if "timezone" in config.stated else None
    wanted = config.digest_repository
    if wanted is None or wanted.lower() == repository.full_name.lower():
        return own

    subject_id = RepositoryId(repository.id or 0)

    def read(connection: Connection) -> str | None:
        subject = installations.repository(connection, subject_id)
        home = installations.repository_named(connection, wanted)
        if subject is None or home is None or home.removed_at or home.installation_id != subject.installation_id:
            return own
        open_home = home.repository.private and digest_readers.may_all_read(
            connection, home.repository.id or 0, subject_id
        )
        if repository.private and not open_home:
            return own
        return configurations.read(connection, RepositoryId(home.repository.id or 0)).zone

    return await context.store.read(read)


def save_settings(connection: Connection, repository: RepositoryId, found: RepositorySettings) -> None:
    configurations.keep(connection, repository, found.stored)
