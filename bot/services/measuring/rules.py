"""By which rules is a landing measured? By the stored rule files, until a landing changes them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.pushes import Pushed
from bot.github.reads import read_file
from bot.landing.lines.attributes import Attributes
from bot.landing.repo_config.files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.metrics.measure import Measure
from bot.model.commit import Repository
from bot.model.ids import RepositoryId, UserId
from bot.services.context import Context
from bot.services.repository_settings import (
    SHARED_REPOSITORY,
    RepositorySettings,
    read_repository_settings,
    save_settings,
    stored_settings,
)
from bot.store import configurations, corrections, installations

RULE_FILES = frozenset((CONFIG_PATH, ATTRIBUTES_PATH))
_LARGE = 2_000
"""characters"""
TRUSTED_FOR = timedelta(days=1)
"""how long a shared file of a repository without an installation is trusted: no push reports its changes"""


class CurrentRules(Struct, frozen=True):
    """The settings that apply, and `.gitattributes`. `fresh` if they were just read and must be stored."""

    settings: RepositorySettings
    attributes: str
    fresh: bool = True
    people: frozenset[UserId] = frozenset()
    """accounts whose owners said in this installation that they are no machine"""

    async def measure(self) -> Measure:
        """The rules for `measure`. Patterns of a large file take seconds, so they are parsed in a thread."""
        large = len(self.attributes) > _LARGE
        found = (
            await asyncio.to_thread(_parse_attributes, self.attributes) if large else _parse_attributes(self.attributes)
        )
        rules = Measure.of(self.settings.config, found)
        return rules if not self.people else replace(rules, machines=replace(rules.machines, accounts=self.people))


@lru_cache(maxsize=16)
def _parse_attributes(text: str) -> Attributes:
    """Cached, because many landings share one file."""
    return Attributes.parse(text)


async def current_rules(context: Context, client: Client, repository: Repository, *, touched: bool) -> CurrentRules:
    """The rules at the head of the default branch, as for a clone: from the store unless `touched`."""
    number = RepositoryId(repository.id or 0)
    if not touched:
        kept = await context.store.read(_stored_rules, repository, number, now=context.clock())
        if kept is not None:
            return kept
    settings = await read_repository_settings(context, client, repository)
    attributes = await read_file(client, repository, ATTRIBUTES_PATH) or ""
    people = await context.store.read(corrections.people_who_said_so, number)
    return CurrentRules(settings, attributes, people=people)


def _stored_rules(
    connection: Connection, repository: Repository, number: RepositoryId, *, now: datetime
) -> CurrentRules | None:
    kept = configurations.read_attributes(connection, number)
    if kept is None or not _is_trusted(connection, repository, kept[1], now):
        return None
    people = corrections.people_who_said_so(connection, number)
    return CurrentRules(stored_settings(connection, number), kept[0], fresh=False, people=people)


def _is_trusted(connection: Connection, repository: Repository, read_at: datetime, now: datetime) -> bool:
    name = shared_name(repository)
    if repository.full_name.lower() == name.lower() or now - read_at < TRUSTED_FOR:
        return True
    stored = installations.repository_named(connection, name)
    return stored is not None and stored.installation_id is not None and stored.removed_at is None


def shared_name(repository: Repository) -> str:
    """The repository whose settings file applies to all of an account."""
    return f"{repository.full_name.partition('/')[0]}/{SHARED_REPOSITORY}"


def touches_rules(pushed: Pushed) -> bool:
    """Whether a push may have changed a rule file; also true if GitHub did not list all changed files."""
    return bool(RULE_FILES & pushed.paths) or not pushed.complete or pushed.behind > 0


def save_rules(connection: Connection, repository: Repository, rules: CurrentRules, *, now: datetime) -> None:
    """Store rules that were just read."""
    if rules.fresh:
        number = RepositoryId(repository.id or 0)
        save_settings(connection, number, rules.settings)
        configurations.keep_attributes(connection, number, rules.attributes, now=now)


def forget_shared_rules(connection: Connection, repository: Repository, paths: Collection[str]) -> None:
    """Forget the rules of all repositories of an account if a landing in its shared repository may change them."""
    if repository.full_name.lower() == shared_name(repository).lower() and CONFIG_PATH in paths:
        configurations.forget_rules_of_owner(connection, repository.full_name.partition("/")[0])
